// ResolvedLayout: what the rows of a layout say of each parameter and module of a model.
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
  /// Errors: NotFound, with the nearest names, for a row that meets nothing.
  ResolvedLayout(const Module& model, const Layout& layout);

  /// Nothing where no row meets it.
  Along of_parameter(const std::string& name) const;
  /// Null where no row meets it; with the placements of batches along other mesh dims.
  const Along* of_module(Layout::Kind kind, const std::string& path) const;

 private:
  using Met = std::unordered_map<std::string, Along>;
  struct Names {
    std::vector<std::string> all;
    std::unordered_set<std::string> index;
  };
  void meet(const Layout::Row& row, const Names& names);
  const Along* find(Layout::Kind kind, const std::string& name) const;

  std::map<Layout::Kind, Met> met_;
};

}  // namespace phi::nn
