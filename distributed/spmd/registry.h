// The rules by name, callable without knowing their C++ types.
//
//   const RuleEntry& rule = find_rule("matmul");
//   SpmdResult r = rule.forward.call({{x}, {y}}, {AttrValue(false), AttrValue(true)}).forward();
//
// For tools and tests. Generated code calls the typed functions of rules.h. Names are those of the
// recorded cases, which are op names where there is such an op. One table (registry.cc), no
// static initialisers: what is not in the table does not exist.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/common/dtype.h"

namespace phi::distributed {

enum class TensorKind : uint8_t { kOne, kOptional, kList };
enum class AttrKind : uint8_t { kBool, kInt, kFloat, kString, kInts, kDataType };

/// "bool", "int", ...
std::string_view name_of(AttrKind kind);

using AttrValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, DataType>;

/// The default that an attribute not given takes: false, 0, "", [].
AttrValue zero_of(AttrKind kind);

/// A rule function with its types erased.
struct RuleFunction {
  using Tensors = std::span<const std::vector<TensorSpec>>;  // one entry per argument
  using Attrs = std::span<const AttrValue>;

  SpmdRule (*call)(Tensors tensors, Attrs attrs) = nullptr;
  std::span<const TensorKind> tensor_kinds;  // from the function's type
  std::span<const AttrKind> attr_kinds;
  std::string_view tensors;  // "x, y"
  std::string_view attrs;    // "trans_x, trans_y"; names past attr_kinds are known and ignored
};

struct RuleEntry {
  std::string_view name;
  RuleFunction forward;
  RuleFunction grad;  // call is null: none
};

/// All rules, sorted by name.
std::span<const RuleEntry> all_rules();
/// Errors: NotFound with the nearest names.
const RuleEntry& find_rule(std::string_view name);
/// "a, b" -> {"a", "b"}.
std::vector<std::string> split_names(std::string_view names);

}  // namespace phi::distributed
