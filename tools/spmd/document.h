// docs/spmd_rules.md: every rule of the library, found out by asking it.
//
// Each rule has an example. One dim of one tensor after the other is split, and one tensor after
// the other is partial: what the rule then asks for and answers is its notation and its limits.
#pragma once

#include <string>
#include <vector>

#include "api/rules/op_rule.h"

namespace phi::spmd_tool {

struct Example {
  const char* rule;                 // the function
  std::vector<std::string> inputs;  // "8x4"; a list: several, separated by blanks; "": not given
  std::vector<std::string> attrs = {};
  const char* about = "";  // what the notation does not say
};

/// One for each rule function, in the order of the document.
const std::vector<Example>& examples();
/// Rules that no operator of ours has yet.
const std::vector<OpRule>& waiting_rules();

/// The page, in Markdown.
std::string document();

}  // namespace phi::spmd_tool
