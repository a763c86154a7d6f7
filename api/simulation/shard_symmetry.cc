// Checks the attribute of every tensor of every call.
#include "api/simulation/shard_symmetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "api/call/call_events.h"
#include "api/call/decision.h"
#include "api/tensor/tensor.h"
#include "distributed/reshard/reshard_events.h"
#include "phi/common/split_mix.h"

namespace phi::simulation {
namespace {

using distributed::ProcessMesh;
using distributed::TensorDistAttr;

std::optional<int> find_dim(const ProcessMesh& mesh, const std::string& name) {
  const auto found = std::ranges::find(mesh.dim_names(), name);
  if (found == mesh.dim_names().end()) return std::nullopt;
  return static_cast<int>(found - mesh.dim_names().begin());
}

}  // namespace

ShardSymmetry::ShardSymmetry(const ProcessMesh& mesh)
    : mesh_(mesh), asymmetries_(static_cast<size_t>(mesh.ndim())) {}

size_t ShardSymmetry::SeenHash::operator()(const Seen& seen) const {
  uint64_t hash = std::bit_cast<uint64_t>(seen.attr);
  for (const int64_t extent : seen.shape) hash = split_mix(hash ^ static_cast<uint64_t>(extent));
  return hash;
}

void ShardSymmetry::on_call_begin(const CallBegin& call) {
  inputs_.push_back(&call.inputs);
  for (const Tensor* tensor : call.inputs.tensors) {
    if (tensor->defined() && tensor->is_dist())
      check(tensor->dist_attr(), tensor->shape(), call.op.name);
  }
}

void ShardSymmetry::on_decision(const CallDecision& event) {
  const Decision& decision = event.decision;
  const std::vector<const Tensor*>& tensors = inputs_.back()->tensors;
  for (size_t i = 0; i < std::min(tensors.size(), decision.num_inputs()); ++i) {
    if (tensors[i]->defined() && decision.input(i).attr)
      check(decision.input(i).attr, tensors[i]->shape(), event.op.name);
  }
  for (size_t i = 0; i < decision.num_outputs(); ++i) {
    const Decision::Output& output = decision.output(i);
    if (output.present) check(output.attr, output.global.dims, event.op.name);
  }
}

void ShardSymmetry::on_call_end(const CallEnd&) noexcept { inputs_.pop_back(); }

void ShardSymmetry::on_reshard_begin(const distributed::ReshardBegin& reshard) {
  const distributed::ReshardPlan& plan = reshard.plan;
  check(plan.src, plan.shape, "reshard");
  check(plan.dst, plan.shape, "reshard");
  for (const distributed::ReshardStep& step : plan.steps) {
    for (const TensorDistAttr* attr : {step.from(), step.to()}) {
      if (attr) check(attr, plan.shape, "reshard");
    }
  }
}

void ShardSymmetry::check(const TensorDistAttr* attr, const Dims& shape, const char* op) {
  if (!seen_.insert({attr, shape}).second) return;
  check_mesh(attr->mesh(), op);
  check_shards(*attr, shape, op);
}

void ShardSymmetry::check_mesh(const ProcessMesh& mesh, const char* op) {
  if (mesh.size() == mesh_.size()) return;  // has all ranks
  for (size_t m = 0; m < asymmetries_.size(); ++m) {
    const std::string& name = mesh_.dim_names()[m];
    const std::optional<int> own = mesh.is_regular() ? find_dim(mesh, name) : std::nullopt;
    const int job = static_cast<int>(m);
    if (own && mesh.dim_size(*own) == mesh_.dim_size(job) && mesh.stride(*own) == mesh_.stride(job))
      continue;
    set(m, fmt::format("the mesh of an operator, '{}', has not all of {}", op, name));
  }
}

void ShardSymmetry::check_shards(const TensorDistAttr& attr, const Dims& shape, const char* op) {
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    const std::vector<int> over = attr.mesh_dims_of(d);
    int64_t shards = 1;
    for (const int mesh_dim : over) shards *= attr.mesh().dim_size(mesh_dim);
    const int64_t extent = shape[static_cast<size_t>(d)];
    if (extent % shards == 0) continue;
    for (const int mesh_dim : over) {
      const auto& name = attr.mesh().dim_names()[static_cast<size_t>(mesh_dim)];
      const std::optional<int> job = find_dim(mesh_, name);
      for (size_t m = 0; m < asymmetries_.size(); ++m) {
        if (job && static_cast<size_t>(*job) != m) continue;
        set(m, fmt::format(
                   "dim {} of a tensor of '{}', {} elements, is not divisible by its {} shards", d,
                   op, extent, shards));
      }
    }
  }
}

void ShardSymmetry::set(size_t mesh_dim, const std::string& reason) {
  if (mesh_.dim_size(static_cast<int>(mesh_dim)) > 1 && asymmetries_[mesh_dim].empty())
    asymmetries_[mesh_dim] = reason;
}

}  // namespace phi::simulation
