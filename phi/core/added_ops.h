// Operators beyond those that this library was generated with: what a library of operators brings
// (api/library/op_library.h) joins ops::all().
#pragma once

#include <span>
#include <string_view>

#include "phi/core/op_def.h"

namespace phi {

/// Those of this library, in YAML order. Defined by generated code.
std::span<const OpDef* const> built_in_ops();

/// They must live as long as the process. Errors: AlreadyExists for names that are taken, or that
/// `added` has twice; nothing is added then.
void add_ops(std::span<const OpDef* const> added);

/// A name that another project has for an operator or for one of its arguments (api_gen --compat).
struct OtherName {
  const char* op;        // the name here
  const char* argument;  // the name here of a tensor or an attribute; "": the operator itself
  const char* other;
};
/// Defined by generated code.
std::span<const OtherName> built_in_other_names();
/// They must live as long as the process.
void add_other_names(std::span<const OtherName> names);

/// The name here of what others call so; empty if nobody does.
std::string_view op_by_other_name(std::string_view other);
std::string_view argument_by_other_name(std::string_view op, std::string_view other);

}  // namespace phi
