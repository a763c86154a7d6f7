// Matches rows with the names of a model: exact names by lookup, patterns by search.
#include "api/nn/layout/resolved_layout.h"

#include <algorithm>

#include "api/nn/pattern.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::nn {
namespace {

bool is_pattern(const std::string& text) { return text.find_first_of("*?") != std::string::npos; }

}  // namespace

ResolvedLayout::ResolvedLayout(const Module& model, const Layout& layout) {
  NameSet parameters;
  for (const auto& [name, value] : model.named_parameters()) parameters.all.push_back(name);
  NameSet modules;
  for (const Module* module : model.modules()) modules.all.push_back(module->path());
  for (NameSet* names : {&parameters, &modules}) {
    names->index = {names->all.begin(), names->all.end()};
  }
  for (const Layout::PlacementRow& row : layout.rows()) {
    match(row, row.kind == Layout::Kind::kParameters ? parameters : modules);
  }
  for (auto& [kind, matched] : matched_) {
    if (kind == Layout::Kind::kParameters) continue;
    for (auto& [path, axis_placements] : matched) {
      AxisPlacements whole = layout.batches();
      merge_placements(axis_placements, &whole);
      axis_placements = std::move(whole);
    }
  }
}

// Supplied layouts have a row for each of thousands of names; those are found by lookup.
void ResolvedLayout::match(const Layout::PlacementRow& row, const NameSet& names) {
  PlacementsByName& matched = matched_[row.kind];
  bool found = names.index.contains(row.pattern);
  if (found) merge_placements(row.axis_placements, &matched[row.pattern]);
  if (is_pattern(row.pattern)) {
    for (const std::string& name : names.all) {
      if (!matches(row.pattern, name)) continue;
      found = true;
      merge_placements(row.axis_placements, &matched[name]);
    }
  }
  PHI_CHECK(found, errors::NotFound("the layout's {} '{}' match no name in the model; nearest: {}.",
                                    name_of(row.kind), row.pattern,
                                    nearest_three(row.pattern, names.all)));
}

AxisPlacements ResolvedLayout::of_parameter(const std::string& name) const {
  const AxisPlacements* found = find(Layout::Kind::kParameters, name);
  return found ? *found : AxisPlacements{};
}

const AxisPlacements* ResolvedLayout::of_module(Layout::Kind kind, const std::string& path) const {
  return find(kind, path);
}

const AxisPlacements* ResolvedLayout::find(Layout::Kind kind, const std::string& name) const {
  const auto matched = matched_.find(kind);
  if (matched == matched_.end()) return nullptr;
  const auto found = matched->second.find(name);
  return found == matched->second.end() ? nullptr : &found->second;
}

}  // namespace phi::nn
