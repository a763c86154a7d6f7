// The table of types and their conversions.
#include "api/data/token_type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "phi/common/errors.h"

namespace phi::data {
namespace {

static_assert(std::endian::native == std::endian::little, "ids are read as they lie in the file");

template <typename T>
void widen(const uint8_t* from, std::span<int64_t> ids) {
  for (int64_t& id : ids) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    id = static_cast<int64_t>(value);
    from += sizeof(T);
  }
}

struct Row {
  std::string_view name;
  int64_t size;
  void (*widen)(const uint8_t* from, std::span<int64_t> ids);
};

template <typename T>
constexpr Row row(std::string_view name) {
  return {name, sizeof(T), &widen<T>};
}

// Indexed by TokenType.
constexpr std::array kRows = {
    row<uint8_t>("uint8"),   row<int8_t>("int8"),   row<uint16_t>("uint16"), row<int16_t>("int16"),
    row<uint32_t>("uint32"), row<int32_t>("int32"), row<int64_t>("int64")};

const Row& row_of(TokenType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

int64_t size_of(TokenType type) { return row_of(type).size; }
std::string_view name_of(TokenType type) { return row_of(type).name; }

TokenType parse_token_type(std::string_view name) {
  const auto found =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.name == name; });
  if (found != kRows.end()) return static_cast<TokenType>(found - kRows.begin());
  std::string names;
  for (const Row& row : kRows) names += (names.empty() ? "" : ", ") + std::string(row.name);
  throw errors::InvalidArgument("'{}' is no dtype of token ids; take one of {}.", name, names);
}

std::vector<std::string> token_type_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

void to_ids(TokenType type, std::span<const uint8_t> bytes, std::span<int64_t> ids) {
  row_of(type).widen(bytes.data(), ids);
}

}  // namespace phi::data
