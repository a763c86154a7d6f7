// The table of the reference's rule names.
#include "tools/spmd/reference.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "phi/common/nearest_name.h"
#include "tools/spmd/reference/rule_variant.h"

namespace phi::spmd_tool {
namespace {

// The forms and rows of all subjects.
const ReferenceRules& reference_rules() {
  static const auto& all = *[] {
    auto* joined = new ReferenceRules;
    for (ReferenceRules& rules_of_file :
         std::vector{elementwise_reference_rules(), reduction_reference_rules(),
                     shape_reference_rules(), matmul_reference_rules(), indexing_reference_rules(),
                     network_reference_rules(), image_reference_rules()}) {
      std::move(rules_of_file.variants.begin(), rules_of_file.variants.end(),
                std::back_inserter(joined->variants));
      std::move(rules_of_file.entries.begin(), rules_of_file.entries.end(),
                std::back_inserter(joined->entries));
    }
    return joined;
  }();
  return all;
}

// Finds a form or an operator.
const OpRule* rule_named(std::string_view name) {
  const auto& variants = reference_rules().variants;
  const auto it = std::find_if(variants.begin(), variants.end(),
                               [&](const OpRule& variant) { return variant.name() == name; });
  return it != variants.end() ? &*it : &rules::find(name);
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

const std::vector<Reference>& table() {
  static const auto& references = *[] {
    auto* list = new std::vector<Reference>;
    for (const ReferenceEntry& entry : reference_rules().entries) {
      for (const std::string& name : words(entry.names)) {
        const std::string_view rule = *entry.rule != '\0' ? std::string_view(entry.rule) : name;
        const OpRule* grad = entry.grad != nullptr ? rule_named(entry.grad) : nullptr;
        list->push_back({name, rule_named(rule), grad, entry.renamed, entry.policies});
      }
    }
    for (const OpRule& rule : rules::all()) {
      const bool listed = std::any_of(list->begin(), list->end(), [&](const Reference& reference) {
        return reference.name == rule.name();
      });
      if (!listed) list->push_back({std::string(rule.name()), &rule, nullptr, {}, {}});
    }
    return list;
  }();
  return references;
}

}  // namespace

const OpRule::Attribute* Reference::attribute(const std::string& recorded,
                                              Direction direction) const {
  std::vector<std::string> names;
  std::string ours = recorded;
  for (const Renamed& entry : renamed) {
    names.push_back(entry.recorded);
    if (entry.recorded != recorded) continue;
    if (entry.ours.empty()) return nullptr;
    ours = entry.ours;
  }
  for (const OpRule::Attribute& attribute : of(direction).attributes()) {
    if (attribute.name == ours) return &attribute;
    names.emplace_back(attribute.name);
  }
  throw errors::InvalidArgument("the rule has no attribute '{}'; it has: {}.", recorded,
                                fmt::join(names, ", "));
}

const Reference& find_reference(std::string_view name) {
  std::vector<std::string> names;
  for (const Reference& reference : table()) {
    if (reference.name == name) return reference;
    names.push_back(reference.name);
  }
  throw errors::NotFound("there is no recorded rule '{}'{}", name,
                         names.empty() ? "." : did_you_mean(name, names));
}

}  // namespace phi::spmd_tool
