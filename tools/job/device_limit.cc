// Parses --device_limit.
#include "tools/job/device_limit.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/command_line.h"

DEFINE_string(device_limit, "",
              "bytes of tensors that a rank may hold on its device, or a list of one number per "
              "rank; an allocation beyond it is an error");

namespace phi::job {
namespace {

int64_t bytes_of_limit(std::string_view text) {
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error == std::errc() && end == text.data() + text.size() && bytes > 0) return bytes;
  throw cli::UsageError(fmt::format("--device_limit={}: '{}' is not a number of bytes above 0.",
                                    FLAGS_device_limit, text));
}

}  // namespace

std::optional<int64_t> device_limit_of(int64_t rank, int64_t world_size) {
  if (FLAGS_device_limit.empty()) return std::nullopt;
  std::vector<int64_t> limits;
  std::string_view rest = FLAGS_device_limit;
  while (true) {
    const size_t comma = rest.find(',');
    limits.push_back(bytes_of_limit(rest.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const auto given = static_cast<int64_t>(limits.size());
  if (given == 1) return limits[0];
  if (given != world_size) {
    throw cli::UsageError(fmt::format(
        "--device_limit has {} numbers, but the job has {} rank{}; pass one number, or one per "
        "rank.",
        given, world_size, world_size == 1 ? "" : "s"));
  }
  return limits[static_cast<size_t>(rank)];
}

}  // namespace phi::job
