// The table of the reference's rule names.
#include "tools/spmd/reference.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "phi/common/nearest_name.h"
#include "tools/spmd/reference/form.h"

namespace phi::spmd_tool {
namespace {

// The forms and rows of all subjects.
const Subject& subjects() {
  static const auto& all = *[] {
    auto* joined = new Subject;
    for (Subject& subject :
         std::vector{elementwise_subject(), reduction_subject(), shape_subject(), product_subject(),
                     indexing_subject(), network_subject(), image_subject()}) {
      std::move(subject.forms.begin(), subject.forms.end(), std::back_inserter(joined->forms));
      std::move(subject.rows.begin(), subject.rows.end(), std::back_inserter(joined->rows));
    }
    return joined;
  }();
  return all;
}

// Finds a form or an operator.
const OpRule* rule_named(std::string_view name) {
  const auto& forms = subjects().forms;
  const auto it = std::find_if(forms.begin(), forms.end(),
                               [&](const OpRule& form) { return form.name() == name; });
  return it != forms.end() ? &*it : &rules::find(name);
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
    for (const Row& row : subjects().rows) {
      for (const std::string& name : words(row.names)) {
        const std::string_view rule = *row.rule != '\0' ? std::string_view(row.rule) : name;
        const OpRule* grad = row.grad != nullptr ? rule_named(row.grad) : nullptr;
        list->push_back({name, rule_named(rule), grad, row.renamed, row.policies});
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
