// The program of one call.
#include "tests/api/stablehlo/call_program.h"

#include <algorithm>
#include <random>
#include <string_view>

#include "api/call/named_call.h"
#include "distributed/placement/dist_attr.h"
#include "phi/api.h"

namespace phi::testing {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::TensorDistAttr;

namespace {

ProcessMesh whole_mesh() { return ProcessMesh({2, 2, 2}, {"dp", "pp", "tp"}); }

// Every mesh dim splits a tensor dim of x or none, evenly or not.
const TensorDistAttr* drawn_attr(const Tensor& x, std::mt19937& rng) {
  const ProcessMesh mesh = whole_mesh();
  std::vector<Placement> placements;
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    const auto choice = static_cast<int>(rng() % static_cast<uint32_t>(x.ndim() + 1));
    placements.push_back(choice < x.ndim() ? Shard(choice) : Replicate());
  }
  return TensorDistAttr::get(mesh, placements);
}

// 16-bit results agree to the last bit or two.
double tolerance_of_dtype(DataType dtype) {
  if (!is_floating(dtype)) return 0;
  return size_of(dtype) == 2 ? 0.01 : size_of(dtype) == 4 ? 1e-5 : 1e-12;
}

ir::ValueId add_value(CallProgram& program, const Tensor& x, std::mt19937& rng) {
  program.tolerance = std::max(program.tolerance, tolerance_of_dtype(real_part_of(x.dtype())));
  program.body.values.push_back({x.meta(), drawn_attr(x, rng)});
  return static_cast<ir::ValueId>(program.body.values.size()) - 1;
}

// XLA 0.10 fails on a gather whose table and index are split by one mesh dim: rows of tables at
// position ids.
bool fails_where_inputs_are_split(const CapturedCall& call) {
  if (!std::string_view(call.op->name).starts_with("fused_rotary_position_embedding")) return false;
  const auto is_given = [&](std::string_view name) {
    for (size_t a = 0; a < call.arguments.size(); ++a) {
      if (name == call.op->inputs[a]) return call.arguments[a][0].defined();
    }
    return false;
  };
  return is_given("sin") && is_given("position_ids");
}

}  // namespace

CallProgram program_of(const CapturedCall& call, const std::string& name) {
  std::mt19937 rng(static_cast<uint32_t>(std::hash<std::string>()(name)));
  CallProgram program;
  ir::Operation operation;
  operation.op = call.op;
  for (size_t i = 0; i < call.attributes.size(); ++i) {
    operation.attributes.push_back({call.op->attributes[i].name, call.attributes[i]});
  }
  std::vector<TensorList> arguments;
  for (const TensorList& argument : call.arguments) {
    operation.input_begin.push_back(static_cast<int>(operation.inputs.size()));
    TensorList& copies = arguments.emplace_back();
    for (const Tensor& x : argument) {
      operation.inputs.push_back(x.defined() ? add_value(program, x, rng) : ir::kAbsent);
      // An inplace operator writes to its arguments.
      copies.push_back(x.defined() ? assign(x) : Tensor());
      if (!x.defined()) continue;
      program.inputs.push_back(x);
      program.body.inputs.push_back(operation.inputs.back());
    }
  }
  operation.input_begin.push_back(static_cast<int>(operation.inputs.size()));
  operation.taken.assign(operation.inputs.size(), fails_where_inputs_are_split(call)
                                                      ? TensorDistAttr::replicated(whole_mesh())
                                                      : nullptr);
  for (const Tensor& x : call_op(*call.op, std::move(arguments), call.attributes)) {
    operation.outputs.push_back(x.defined() ? add_value(program, x, rng) : ir::kAbsent);
    operation.inplace.push_back(-1);
    if (!x.defined()) continue;
    program.expected.push_back(x);
    program.body.outputs.push_back(operation.outputs.back());
  }
  program.body.operations.push_back(std::move(operation));
  return program;
}

}  // namespace phi::testing
