// Exchanges errors between ranks.
#include "distributed/checkpoint/collective_error.h"

#include <string>
#include <string_view>
#include <vector>

namespace phi::distributed::checkpoint {
namespace {

// Error's constructor prepends the op; removing it here avoids a second copy on the receiver.
std::string_view without_op(std::string_view text) {
  const char* op = OpScope::current();
  const std::string front = op ? fmt::format("[{}] ", op) : "";
  if (text.starts_with(front)) text.remove_prefix(front.size());
  return text;
}

struct RankError {
  int64_t text_bytes = 0;  // 0: no error
  int64_t code = 0;
};

}  // namespace

std::optional<Error> first_error(World& world, const std::optional<Error>& own) {
  std::string text = own ? std::string(without_op(own->what())) : "";
  const RankError told{static_cast<int64_t>(text.size()),
                       own ? static_cast<int64_t>(own->code()) : 0};
  std::vector<RankError> all(static_cast<size_t>(world.size()));
  world.everyone().all_gather(&told, all.data(), sizeof(RankError) / 8, DataType::INT64);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].text_bytes == 0) continue;
    text.resize(static_cast<size_t>(all[rank].text_bytes));
    world.everyone().broadcast(text.data(), all[rank].text_bytes, DataType::UINT8,
                               static_cast<int64_t>(rank));
    if (all.size() > 1) text = fmt::format("rank {}: {}", rank, text);
    return Error(static_cast<ErrorCode>(all[rank].code), text);
  }
  return std::nullopt;
}

}  // namespace phi::distributed::checkpoint
