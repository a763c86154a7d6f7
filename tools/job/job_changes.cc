// Lists the keys that may change when a training continues.
#include "tools/job/job_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "distributed/checkpoint/format/json.h"
#include "phi/common/errors.h"

namespace phi::job {
namespace {

enum class ChangeEffect : uint8_t { kFree, kReported, kRefused };

// The first row whose key is a prefix of a changed key determines what the change means.
struct KeyChange {
  std::string_view key;
  ChangeEffect change;
};
constexpr std::array kKeyChanges = {
    KeyChange{"model.dropout", ChangeEffect::kReported},
    KeyChange{"model.seed", ChangeEffect::kFree},  // initial values are no longer needed
    KeyChange{"model.", ChangeEffect::kRefused},
    KeyChange{"run.global_batch",
              ChangeEffect::kRefused},  // the position in the data is counted in batches
    KeyChange{"place", ChangeEffect::kReported},
    KeyChange{"run.dtype", ChangeEffect::kReported},
    KeyChange{"run.tf32", ChangeEffect::kReported},
    KeyChange{"run.reduction", ChangeEffect::kReported},
    KeyChange{"run.micro_batches", ChangeEffect::kReported},
    KeyChange{"data.", ChangeEffect::kReported},
    KeyChange{"optimizer.", ChangeEffect::kReported},
};

ChangeEffect change_of(std::string_view key) {
  const auto row = std::ranges::find_if(
      kKeyChanges, [&](const KeyChange& each) { return key.starts_with(each.key); });
  return row == kKeyChanges.end() ? ChangeEffect::kFree : row->change;
}

}  // namespace

std::vector<std::string> changes_since(const std::map<std::string, std::string>& metadata,
                                       const distributed::ConfigEntries& entries) {
  std::vector<std::string> reported;
  const auto saved = metadata.find(kJobKey);
  if (saved == metadata.end()) return reported;
  const distributed::checkpoint::JsonFile json("the job in the checkpoint", saved->second);
  const auto& root = json.object(json.root(), "the job");
  std::string refused;
  for (const distributed::ConfigEntry& entry : entries) {
    const auto before = root.find(entry.key);
    if (before == root.end() || change_of(entry.key) == ChangeEffect::kFree) continue;
    const std::string& value = json.string(*before, entry.key);
    if (value == entry.value) continue;
    const std::string line =
        fmt::format("{} was {} and is {}", entry.key, value.empty() ? "\"\"" : value,
                    entry.value.empty() ? "\"\"" : entry.value);
    if (change_of(entry.key) == ChangeEffect::kRefused) refused += "\n  " + line;
    reported.push_back(line);
  }
  PHI_CHECK(refused.empty(),
            errors::InvalidArgument(
                "the checkpoint cannot be resumed by this job:{}\n  Restore the old values, set "
                "another checkpoint.dir, or start from the weights only (weights: of the job).",
                refused));
  return reported;
}

}  // namespace phi::job
