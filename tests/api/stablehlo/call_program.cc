// The program of one call.
#include <random>

#include "distributed/placement/dist_attr.h"
#include "phi/api.h"
#include "tests/api/stablehlo/call_cases.h"

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

ir::ValueId add_value(ir::Body& body, const Tensor& x, std::mt19937& rng) {
  body.values.push_back({x.meta(), drawn_attr(x, rng)});
  return static_cast<ir::ValueId>(body.values.size()) - 1;
}

}  // namespace

CallProgram program_of(const CallCase& c) {
  std::mt19937 rng(static_cast<uint32_t>(std::hash<std::string>()(c.name)));
  CallProgram program;
  ir::Body& body = program.body;
  ir::Operation call;
  call.op = &ops::find(c.op);
  call.attributes = c.attributes;
  for (const auto& argument : c.inputs) {
    call.input_begin.push_back(static_cast<int>(call.inputs.size()));
    for (const OptionalTensor& x : argument) {
      call.inputs.push_back(x ? add_value(body, *x, rng) : ir::kAbsent);
      if (!x) continue;
      // A copy: an inplace operator writes to what it is given.
      program.inputs.push_back(assign(*x));
      body.inputs.push_back(call.inputs.back());
    }
  }
  call.input_begin.push_back(static_cast<int>(call.inputs.size()));
  call.taken.assign(call.inputs.size(),
                    c.takes_whole ? TensorDistAttr::replicated(whole_mesh()) : nullptr);
  for (const Tensor& x : c.run()) {
    call.outputs.push_back(x.defined() ? add_value(body, x, rng) : ir::kAbsent);
    call.inplace.push_back(-1);
    if (!x.defined()) continue;
    program.expected.push_back(x);
    body.outputs.push_back(call.outputs.back());
  }
  body.operations.push_back(std::move(call));
  return program;
}

}  // namespace phi::testing
