// Checks the attribute of every tensor of every call.
#include "api/simulation/shard_symmetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "api/call/call_events.h"
#include "api/call/decision.h"
#include "api/tensor/tensor.h"
#include "distributed/placement/split.h"
#include "distributed/reshard/reshard_events.h"
#include "phi/common/split_mix.h"

namespace phi::simulation {
namespace {

using distributed::ProcessMesh;
using distributed::TensorDistAttr;

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
    if (job_dim_of(mesh, name)) continue;
    set(m, fmt::format("the mesh of an operator, '{}', has not all of {}", op, name));
  }
}

// The first mesh dim splits the extent, the second splits each part, and so on.
void ShardSymmetry::check_shards(const TensorDistAttr& attr, const Dims& shape, const char* op) {
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    std::set<int64_t> sizes{shape[static_cast<size_t>(d)]};
    for (const int mesh_dim : attr.mesh_dims_of(d)) {
      const int64_t shards = attr.mesh().dim_size(mesh_dim);
      std::set<int64_t> parts;
      for (const int64_t size : sizes) {
        check_split(attr.mesh(), mesh_dim, size, op);
        for (const int64_t i : {int64_t{0}, shards - 1})
          parts.insert(distributed::split_range(size, shards, i).size);
      }
      sizes = std::move(parts);
    }
  }
}

void ShardSymmetry::check_split(const ProcessMesh& mesh, int mesh_dim, int64_t extent,
                                const char* op) {
  const int64_t larger = extent % mesh.dim_size(mesh_dim);
  if (larger == 0) return;
  const std::string& name = mesh.dim_names()[static_cast<size_t>(mesh_dim)];
  if (const std::optional<size_t> job = job_dim_of(mesh, name)) {
    size_changes_.emplace(*job, static_cast<int32_t>(larger));
    return;
  }
  for (size_t m = 0; m < asymmetries_.size(); ++m)
    set(m, fmt::format("{} elements of a tensor of '{}' are not divisible by {}={}, which is no "
                       "mesh dim of the job",
                       extent, op, name, mesh.dim_size(mesh_dim)));
}

// The mesh dim of the job that has this name and the same coordinates.
std::optional<size_t> ShardSymmetry::job_dim_of(const ProcessMesh& mesh,
                                                const std::string& name) const {
  if (!mesh.is_regular()) return std::nullopt;
  const auto find = [&](const ProcessMesh& in) {
    return std::ranges::find(in.dim_names(), name) - in.dim_names().begin();
  };
  const auto own = static_cast<int>(find(mesh)), job = static_cast<int>(find(mesh_));
  if (own == mesh.ndim() || job == mesh_.ndim()) return std::nullopt;
  if (mesh.dim_size(own) != mesh_.dim_size(job) || mesh.stride(own) != mesh_.stride(job))
    return std::nullopt;
  return static_cast<size_t>(job);
}

void ShardSymmetry::set(size_t mesh_dim, const std::string& reason) {
  if (mesh_.dim_size(static_cast<int>(mesh_dim)) > 1 && asymmetries_[mesh_dim].empty())
    asymmetries_[mesh_dim] = reason;
}

}  // namespace phi::simulation
