// Matches rows with the names of a model: exact names by lookup, patterns by search.
#include "api/nn/layout/resolved.h"

#include <algorithm>

#include "api/nn/pattern.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::nn {
namespace {

bool is_pattern(const std::string& text) { return text.find_first_of("*?") != std::string::npos; }

}  // namespace

ResolvedLayout::ResolvedLayout(const Module& model, const Layout& layout) {
  Names parameters;
  for (const auto& [name, value] : model.named_parameters()) parameters.all.push_back(name);
  Names modules;
  for (const Module* module : model.modules()) modules.all.push_back(module->path());
  for (Names* names : {&parameters, &modules}) {
    names->index = {names->all.begin(), names->all.end()};
  }
  for (const Layout::Row& row : layout.rows()) {
    meet(row, row.kind == Layout::Kind::kParameters ? parameters : modules);
  }
  for (auto& [kind, met] : met_) {
    if (kind == Layout::Kind::kParameters) continue;
    for (auto& [path, along] : met) {
      Along whole = layout.batches();
      put(along, &whole);
      along = std::move(whole);
    }
  }
}

// Supplied layouts have a row for each of thousands of names; those are found by lookup.
void ResolvedLayout::meet(const Layout::Row& row, const Names& names) {
  Met& met = met_[row.kind];
  bool found = names.index.contains(row.pattern);
  if (found) put(row.along, &met[row.pattern]);
  if (is_pattern(row.pattern)) {
    for (const std::string& name : names.all) {
      if (!matches(row.pattern, name)) continue;
      found = true;
      put(row.along, &met[name]);
    }
  }
  PHI_CHECK(found, errors::NotFound("the layout's {} '{}' meet nothing of the model; nearest: {}.",
                                    name_of(row.kind), row.pattern,
                                    nearest_three(row.pattern, names.all)));
}

Along ResolvedLayout::of_parameter(const std::string& name) const {
  const Along* found = find(Layout::Kind::kParameters, name);
  return found ? *found : Along{};
}

const Along* ResolvedLayout::of_module(Layout::Kind kind, const std::string& path) const {
  return find(kind, path);
}

const Along* ResolvedLayout::find(Layout::Kind kind, const std::string& name) const {
  const auto met = met_.find(kind);
  if (met == met_.end()) return nullptr;
  const auto found = met->second.find(name);
  return found == met->second.end() ? nullptr : &found->second;
}

}  // namespace phi::nn
