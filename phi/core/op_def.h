// OpDef: run-time description of an operator. The generator writes one per YAML entry.
#pragma once

#include <span>
#include <string_view>

#include "phi/common/dims.h"
#include "phi/core/attribute.h"
#include "phi/core/kernel_registry.h"

namespace phi {

struct AttributeDef {
  const char* name;
  AttributeKind kind;
  bool decides;  // shapes or placements depend on it
};

class LaunchArgs;
/// An op's type-erased rule and shape function. Defined in api/rules, which includes this folder.
struct RuleFunctions;

struct OpDef {
  const char* name;  // "matmul"
  const RuleFunctions& rule;
  std::span<const char* const> inputs;  // names of the tensor arguments
  std::span<const char* const> outputs;
  std::span<const AttributeDef> attributes;
  std::span<const int> taken;  // index in `inputs` of each tensor argument of the kernel
  uint32_t meta_only;  // bit i: only the metadata of tensor argument i is used; no bytes move
  const Kernel& kernel;
  /// Estimated floating-point operations of a launch; tensors are numbered by `inputs`, followed by
  /// `outputs`. Null: the launch is bound by memory, and its time follows from its bytes.
  double (*flops)(const LaunchArgs& args);

  /// Whether the kernel uses only the metadata of its tensor argument number `position`.
  bool is_unread(size_t position) const { return (meta_only >> taken[position]) & 1u; }
};

namespace ops {
/// All ops: those of this library in YAML order, then added ones (op_registry.h). Ops that are
/// added later do not change a returned list.
std::span<const OpDef* const> all();
/// Errors: NotFound with the nearest names.
const OpDef& find(std::string_view name);
}  // namespace ops

}  // namespace phi
