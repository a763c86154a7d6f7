// The calls that the tables of op_cases.h make, forwards and backwards, taken down one by one with
// their plain inputs: each can then be made again by itself, whoever called it.
#pragma once

#include <string>
#include <vector>

#include "phi/core/attribute_value.h"
#include "phi/core/op_def.h"
#include "tests/api/op_cases.h"

namespace phi::testing {

struct CapturedCall {
  const OpDef* op = nullptr;
  /// As they were before the call, in bytes of their own: a list per argument, with an undefined
  /// tensor where an optional one is absent. Zeros where only the meta is used.
  std::vector<TensorList> arguments;
  std::vector<AttributeValue> attributes;
  std::string origin;    // the case that made it first
  bool is_rare = false;  // of a table of rare extents and numbers
};

/// Each once: of calls of one op with the same shapes, dtypes and attributes the first, but all of
/// those on rare numbers. In the order of the tables.
std::vector<CapturedCall> captured_calls(const std::vector<OpTable>& tables);

/// "f32[5,6], f32[6,3], transpose_x=true".
std::string to_string(const CapturedCall& call);

}  // namespace phi::testing
