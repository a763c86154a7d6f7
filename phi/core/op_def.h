// OpDef: what the program knows of an operator at run time; the generator writes one per YAML
// entry.
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

/// How an op's rule and shape function are asked; floors above know how (api/rules).
struct RuleFunctions;

struct OpDef {
  const char* name;  // "matmul"
  const RuleFunctions& rule;
  std::span<const char* const> inputs;  // names of the tensor arguments
  std::span<const char* const> outputs;
  std::span<const AttributeDef> attributes;
  std::span<const int> taken;  // by the kernel: which of `inputs` each of its tensor arguments is
  uint32_t meta_only;  // bit i: of tensor argument i only the meta is used, its bytes never move
  const Kernel& kernel;
  /// Floating-point operations of a launch, estimated from the local shapes of `inputs` and, behind
  /// them, `outputs`; [0] for a tensor that is not there. Null: its time is that of its bytes.
  double (*flops)(std::span<const Dims> shapes);

  /// Of tensor argument number `position` of the kernel only the meta is used.
  bool is_unread(size_t position) const { return (meta_only >> taken[position]) & 1u; }
};

namespace ops {
/// All ops: those of this library in YAML order, then those that were added (added_ops.h). The list
/// stays as it is when others are.
std::span<const OpDef* const> all();
/// Errors: NotFound with the nearest names.
const OpDef& find(std::string_view name);
}  // namespace ops

}  // namespace phi
