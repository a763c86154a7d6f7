// Calls of operators whose names, and arguments, are known at run time only: for tools, tests,
// other languages.
//
//   const TensorList out = call_op("matmul", {{x}, {y}}, {{"transpose_y", true}});
//
// Each generated function has a NamedCall beside it.
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

/// Of the operators of this library. Defined by generated code.
std::span<const NamedCall> built_in_calls();

/// More functions, for as long as the process lives: what a library of operators brings. Errors:
/// AlreadyExists for names that are taken; nothing is added then.
void add_calls(std::span<const NamedCall> added);

/// There is a function of this name: an operator's, or one made of operators.
bool has_call(std::string_view name);

/// Runs the function of this name, as the YAML has it, a gradient's, or, of a library of operators,
/// an inplace variant's. The results: all outputs, hidden ones too, lists one element after the
/// other, undefined where absent; an inplace operator's are the arguments that it wrote. Errors:
/// NotFound with the nearest names; InvalidArgument for arguments and attributes that the operator
/// does not take; the operator's own.
TensorList call_function(std::string_view name, std::vector<TensorList> arguments,
                         std::span<const AttributeValue> attributes);
/// The same of an operator with a kernel, whose attributes have names and defaults.
TensorList call_op(std::string_view name, std::vector<TensorList> arguments,
                   const std::vector<std::pair<std::string, AttributeValue>>& attributes = {});
inline TensorList call_op(const OpDef& op, std::vector<TensorList> arguments,
                          std::span<const AttributeValue> attributes) {
  return call_function(op.name, std::move(arguments), attributes);
}

}  // namespace phi
