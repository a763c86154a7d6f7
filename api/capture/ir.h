// The parts of a captured program, as data: values, operations, loops. Names, shapes and placements
// are global: they are the same on every rank of the job.
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
/// An optional tensor that is absent.
inline constexpr ValueId kAbsent = -1;

struct Value {
  TensorMeta meta;                                    // global
  const distributed::TensorDistAttr* attr = nullptr;  // null: a plain tensor, whole on every rank
  int64_t count =
      1;  // more: a sequence of so many values of this kind, one for each trip of a scan
  friend bool operator==(const Value&, const Value&) = default;
};

/// What an operator was given besides tensors. Numbers are equal if their bits are: 0.0 is not
/// -0.0.
struct Attribute {
  const char* name;
  AttributeValue value;
  friend bool operator==(const Attribute& a, const Attribute& b);
};

enum class Kind : uint8_t {
  kCall,      // an operator
  kMove,      // shard_tensor, reshard: the input under the output's placements and mesh
  kScan,      // a loop over equal bodies
  kSequence,  // the inputs as one sequence
  kElement,   // element `index` of a sequence
};

struct Operation {
  Kind kind = Kind::kCall;

  // kCall: `op` with inputs and outputs by slot (an absent optional tensor has a slot, each element
  // of a list one). Argument i of op->inputs has the slots from input_begin[i] up to
  // input_begin[i+1]. `taken[slot]`: the placements that the kernel takes the input in; null: as it
  // is. Inplace operators define new values: inplace[output] is the input slot that the output
  // overwrites, or -1.
  const OpDef* op = nullptr;
  std::vector<ValueId> inputs;
  std::vector<int> input_begin;
  std::vector<ValueId> outputs;
  std::vector<Attribute> attributes;
  std::vector<const distributed::TensorDistAttr*> taken;
  std::vector<int> inplace;
  bool clipped = false;  // this rank is outside the operator's mesh

  // kScan: body number `body` is run `trips` times, from the last trip to the first if `reversed`.
  // Its inputs are, in this order: `num_carried` values that go from one trip to the next;
  // `num_invariant` values that are the same in every trip; values of one trip each, for which
  // `inputs` here has sequences of `trips` elements. Outputs: the carried values after the last
  // trip, then sequences of what each trip gives.
  int body = -1;
  int64_t trips = 1;
  bool reversed = false;
  int num_carried = 0;
  int num_invariant = 0;

  int64_t index = 0;  // kElement

  friend bool operator==(const Operation&, const Operation&) = default;
};

/// A straight list of operations with its own values: the program itself, or what a scan repeats.
struct Body {
  std::vector<Value> values;
  std::vector<ValueId> inputs;
  std::vector<Operation> operations;  // in order
  std::vector<ValueId> outputs;

  friend bool operator==(const Body&, const Body&) = default;
};

}  // namespace phi::ir
