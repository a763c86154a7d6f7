// Generates the page of placement rules: every rule of the library, described by running it.
//
// Each rule has an example. Each dim of each tensor in turn is split, and each tensor in turn is
// partial. The required and inferred placements give the rule's notation and limits.
#pragma once

#include <string>
#include <vector>

#include "api/rules/op_rule.h"

namespace phi::spmd_tool {

struct Example {
  const char* rule;                 // the rule function
  std::vector<std::string> inputs;  // "8x4"; for a list, several separated by blanks; "": absent
  std::vector<std::string> attrs = {};
  const char* about = "";  // remarks that the notation does not show
};

/// One example per rule function, in the order of the document.
const std::vector<Example>& examples();
/// Rules that no operator of this library uses yet.
const std::vector<OpRule>& unused_rules();

/// The page, in Markdown.
std::string document();

}  // namespace phi::spmd_tool
