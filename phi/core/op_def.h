// OpDef: what the program knows of an operator at run time; the generator writes one per YAML
// entry.
#pragma once

#include <span>
#include <string_view>

#include "phi/core/kernel_registry.h"

namespace phi {

struct OpDef {
  int id;                               // dense, in YAML order
  const char* name;                     // "matmul"
  const char* rule;                     // "MatmulInferSpmd"; empty: inputs and outputs replicated
  std::span<const char* const> inputs;  // names of the tensor arguments
  std::span<const char* const> outputs;
  uint32_t meta_only;  // bit i: of tensor argument i only the meta is used, its bytes never move
  const char* source;  // "yaml/ops.yaml:12"
  const Kernel& kernel;
};

namespace ops {
/// All ops, in YAML order. Defined by generated code.
std::span<const OpDef* const> all();
/// Errors: NotFound with the nearest names.
const OpDef& find(std::string_view name);
}  // namespace ops

}  // namespace phi
