// ResolvedLayout: the placements that a layout specifies for each parameter and module of a model.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/nn/layout/layout.h"

namespace phi::nn {

class ResolvedLayout {
 public:
  /// Errors: NotFound, with the nearest names, for a row that matches nothing.
  ResolvedLayout(const Module& model, const Layout& layout);

  /// Empty if no row matches.
  AxisPlacements of_parameter(const std::string& name) const;
  /// Null if no row matches. Includes the placements of batches along the mesh dims that no row
  /// names.
  const AxisPlacements* of_module(Layout::Kind kind, const std::string& path) const;

 private:
  using PlacementsByName = std::unordered_map<std::string, AxisPlacements>;
  struct NameSet {
    std::vector<std::string> all;
    std::unordered_set<std::string> index;
  };
  void match(const Layout::PlacementRow& row, const NameSet& names);
  const AxisPlacements* find(Layout::Kind kind, const std::string& name) const;

  std::map<Layout::Kind, PlacementsByName> matched_;
};

}  // namespace phi::nn
