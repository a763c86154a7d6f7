// Registers the operators of loaded operator libraries (api/library/op_library.h), so that
// ops::all() and ops::find return them, and the names that other projects use for operators.
#pragma once

#include <span>
#include <string_view>

#include "phi/core/op_def.h"

namespace phi {

/// The operators of this library, in YAML order. Defined by generated code.
std::span<const OpDef* const> built_in_ops();

/// Registers operators, which must live as long as the process. Errors: AlreadyExists if a name is
/// registered already or occurs twice in `added`; nothing is added then.
void add_ops(std::span<const OpDef* const> added);

/// Another project's name for an operator or for one of its arguments (api_gen --compat).
struct CompatName {
  const char* op;        // our name of the operator
  const char* argument;  // our name of a tensor or an attribute; "": the operator itself is meant
  const char* other;     // the other project's name
};
/// The names for the operators of this library. Defined by generated code.
std::span<const CompatName> built_in_compat_names();
/// Registers names, which must live as long as the process.
void add_compat_names(std::span<const CompatName> names);

/// Our name for another project's name; empty if it is unknown.
std::string_view op_by_compat_name(std::string_view other);
std::string_view argument_by_compat_name(std::string_view op, std::string_view other);

}  // namespace phi
