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

enum class Change : uint8_t { kFree, kTold, kRefused };

// The first row whose key is a prefix of a changed key determines what the change means.
struct Row {
  std::string_view key;
  Change change;
};
constexpr std::array kRows = {
    Row{"model.dropout", Change::kTold},
    Row{"model.seed", Change::kFree},  // initial values are no longer needed
    Row{"model.", Change::kRefused},
    Row{"run.global_batch", Change::kRefused},  // the position in the data is counted in batches
    Row{"place", Change::kTold},
    Row{"run.dtype", Change::kTold},
    Row{"run.tf32", Change::kTold},
    Row{"run.reduction", Change::kTold},
    Row{"run.micro_batches", Change::kTold},
    Row{"data.", Change::kTold},
    Row{"optimizer.", Change::kTold},
};

Change change_of(std::string_view key) {
  const auto row =
      std::ranges::find_if(kRows, [&](const Row& each) { return key.starts_with(each.key); });
  return row == kRows.end() ? Change::kFree : row->change;
}

}  // namespace

std::vector<std::string> changes_since(const std::map<std::string, std::string>& metadata,
                                       const distributed::Facts& facts) {
  std::vector<std::string> told;
  const auto saved = metadata.find(kJobKey);
  if (saved == metadata.end()) return told;
  const distributed::checkpoint::JsonFile json("the job in the checkpoint", saved->second);
  const auto& root = json.object(json.root(), "the job");
  std::string refused;
  for (const distributed::Fact& fact : facts) {
    const auto before = root.find(fact.key);
    if (before == root.end() || change_of(fact.key) == Change::kFree) continue;
    const std::string& value = json.string(*before, fact.key);
    if (value == fact.value) continue;
    const std::string line =
        fmt::format("{} was {} and is {}", fact.key, value.empty() ? "\"\"" : value,
                    fact.value.empty() ? "\"\"" : fact.value);
    if (change_of(fact.key) == Change::kRefused) refused += "\n  " + line;
    told.push_back(line);
  }
  PHI_CHECK(refused.empty(), errors::InvalidArgument(
                                 "a training cannot go on as this job:{}\n  Give those their old "
                                 "values, another checkpoint.dir, or begin with the weights "
                                 "alone (weights: of the job).",
                                 refused));
  return told;
}

}  // namespace phi::job
