// Name patterns: '*' matches any letters (also none), '?' one letter, others match themselves.
//
//   matches("layer*.qkv.weight", "layer12.qkv.weight");
#pragma once

#include <string_view>

namespace phi::nn {

bool matches(std::string_view pattern, std::string_view name);

}  // namespace phi::nn
