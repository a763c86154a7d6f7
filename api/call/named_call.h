// Calls of operators by a name and arguments that are known only at run time; for tools, tests and
// bindings of other languages.
//
//   const TensorList out = call_op("matmul", {{x}, {y}}, {{"transpose_y", true}});
//
// The generator writes a NamedCall for each generated function.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/call/call_args.h"
#include "phi/core/op_def.h"

namespace phi {

struct NamedCall {
  const char* name;
  TensorList (*call)(CallArgs& args);
};

/// The functions of this library's operators. Defined by generated code.
std::span<const NamedCall> built_in_calls();

/// Registers the functions of a library of operators. `added` and its names must outlive the
/// process. Errors: AlreadyExists if a name is registered already; nothing is added in that case.
void add_calls(std::span<const NamedCall> added);

/// Whether there is a function of this name: an operator's, or one that is composed of operators.
bool has_call(std::string_view name);

/// Runs the function of this name: a name of the YAML, a gradient, or an inplace variant of an
/// operator of a loaded library.
///
/// Returns  all outputs, hidden ones included, with lists flattened; undefined if absent. For an
///          inplace operator, the arguments that it wrote to.
/// Errors   NotFound with the nearest names; InvalidArgument for arguments and attributes that the
///          operator does not accept; errors of the operator.
TensorList call_function(std::string_view name, std::vector<TensorList> arguments,
                         std::span<const AttributeValue> attributes);
/// Same as call_function for an operator with a kernel. Attributes are passed by name; the others
/// have their defaults.
TensorList call_op(std::string_view name, std::vector<TensorList> arguments,
                   const std::vector<std::pair<std::string, AttributeValue>>& attributes = {});
inline TensorList call_op(const OpDef& op, std::vector<TensorList> arguments,
                          std::span<const AttributeValue> attributes) {
  return call_function(op.name, std::move(arguments), attributes);
}

}  // namespace phi
