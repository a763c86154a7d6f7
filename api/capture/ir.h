// The intermediate representation of a captured program: values, operations and loops. Names,
// shapes and placements are global: they are the same on every rank of the job.
//
//   | %7: f32[8,256,384] [S0,R] on mesh(dp=2,tp=2) = matmul(%5, %6) {transpose_y=false}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "phi/core/attribute_value.h"
#include "phi/core/meta.h"
#include "phi/core/op_def.h"

namespace phi::ir {

/// A value of the program: an index into Body::values. Every value is defined once.
using ValueId = int32_t;
/// The id of an absent optional tensor.
inline constexpr ValueId kAbsent = -1;

struct Value {
  TensorMeta meta;                                    // global
  const distributed::TensorDistAttr* attr = nullptr;  // null: a plain tensor, whole on every rank
  int64_t count =
      1;  // if greater than 1: a sequence of `count` such values, one for each trip of a scan
  friend bool operator==(const Value&, const Value&) = default;
};

/// An attribute of an operator call. Numbers are compared by their bits, so 0.0 and -0.0 differ.
struct Attribute {
  const char* name;
  AttributeValue value;
  friend bool operator==(const Attribute& a, const Attribute& b);
};

enum class OperationKind : uint8_t {
  kCall,      // an operator
  kMove,      // shard_tensor, reshard: the input with the output's mesh and placements
  kScan,      // a loop over equal bodies
  kSequence,  // the inputs as one sequence
  kElement,   // element `index` of a sequence
};

struct Operation {
  OperationKind kind = OperationKind::kCall;

  // kCall: a call of `op`, with inputs and outputs by slot. An absent optional tensor has one slot,
  // a list one per element. Argument i of op->inputs has the slots from input_begin[i] up to
  // input_begin[i+1]. `taken[slot]`: the placements in which the kernel receives the input; null:
  // those that it has. Inplace operators define new values: inplace[output] is the input slot that
  // the output overwrites, or -1.
  const OpDef* op = nullptr;
  std::vector<ValueId> inputs;
  std::vector<int> input_begin;
  std::vector<ValueId> outputs;
  std::vector<Attribute> attributes;
  std::vector<const distributed::TensorDistAttr*> taken;
  std::vector<int> inplace;
  bool clipped = false;  // this rank is outside the operator's mesh

  // kScan: runs body number `body` `trips` times, from the last trip to the first if `reversed`.
  // The body's inputs are, in this order: `num_carried` values that are passed from trip to trip;
  // `num_invariant` values that are the same in every trip; per-trip values, for which `inputs`
  // has sequences of `trips` elements. Outputs: the carried values after the last trip, then
  // sequences of the per-trip results.
  int body = -1;
  int64_t trips = 1;
  bool reversed = false;
  int num_carried = 0;
  int num_invariant = 0;

  int64_t index = 0;  // kElement

  friend bool operator==(const Operation&, const Operation&) = default;
};

/// A list of operations without control flow, and its values: the program, or the body of a scan.
struct Body {
  std::vector<Value> values;
  std::vector<ValueId> inputs;
  std::vector<Operation> operations;  // in order
  std::vector<ValueId> outputs;

  friend bool operator==(const Body&, const Body&) = default;
};

}  // namespace phi::ir
