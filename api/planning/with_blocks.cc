// Rows and reasons name tensors by the paths of blocks.
#include "api/planning/with_blocks.h"

#include <utility>

#include "phi/common/errors.h"

namespace phi::planning {
namespace {

class BlockNames {
 public:
  BlockNames(const std::vector<std::string>& three, const std::vector<std::string>& all)
      : three_(three), all_(all) {
    PHI_CHECK(three.size() == 3 && all.size() >= 2,
              errors::InvalidArgument("placements of {} blocks are given for a model of {}; three "
                                      "are needed, for a model of two or more.",
                                      three.size(), all.size()));
  }

  /// The names for which one of the three stands, or the name itself.
  std::vector<std::string> of(const std::string& name) const {
    for (size_t i = 0; i < three_.size(); ++i) {
      const std::string& block = three_[i];
      if (name != block && !name.starts_with(block + ".")) continue;
      const std::string rest = name.substr(block.size());
      std::vector<std::string> out;
      for (size_t b = first_of(i); b < first_of(i + 1); ++b) out.push_back(all_[b] + rest);
      return out;
    }
    return {name};
  }

 private:
  // The first of all blocks for which block i of the three stands.
  size_t first_of(size_t i) const { return i < 2 ? i : all_.size() - (3 - i); }

  const std::vector<std::string>& three_;
  const std::vector<std::string>& all_;
};

}  // namespace

PlacedLayers with_blocks(const PlacedLayers& placed, const std::vector<std::string>& three,
                         const std::vector<std::string>& all) {
  const BlockNames names(three, all);
  PlacedLayers out{nn::Layout().batches(placed.layout.batches()), placed.seconds, {}};
  for (const nn::Layout::PlacementRow& row : placed.layout.rows()) {
    for (std::string& name : names.of(row.pattern))
      out.layout.add({row.kind, std::move(name), row.axis_placements});
  }
  for (const Reason& reason : placed.reasons) {
    for (std::string& name : names.of(reason.name)) {
      out.reasons.push_back(reason);
      out.reasons.back().name = std::move(name);
    }
  }
  return out;
}

}  // namespace phi::planning
