// Determines the module's mesh, and writes placements as shardings.
#include "api/stablehlo/meshes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace phi::stablehlo {

using distributed::ProcessMesh;
using distributed::TensorDistAttr;

namespace {

void add_meshes(const ir::Body& body, std::vector<ProcessMesh>* meshes) {
  for (const ir::Value& value : body.values) {
    if (!value.attr) continue;
    const ProcessMesh& mesh = value.attr->mesh();
    if (std::find(meshes->begin(), meshes->end(), mesh) == meshes->end()) meshes->push_back(mesh);
  }
}

// A mesh on which nothing is sharded or partial contributes no mesh dims.
std::set<const void*> splitting_meshes(const ir::Body& program, std::span<const ir::Body> bodies) {
  std::set<const void*> found;
  const auto add = [&](const ir::Body& body) {
    for (const ir::Value& value : body.values) {
      if (value.attr && !value.attr->is_replicated()) found.insert(value.attr->mesh().id());
    }
  };
  add(program);
  for (const ir::Body& body : bodies) add(body);
  return found;
}

int64_t count_ranks(const std::vector<ProcessMesh>& meshes) {
  std::set<int64_t> ranks;
  for (const ProcessMesh& mesh : meshes) {
    for (int64_t rank : mesh.ranks()) ranks.insert(rank);
  }
  return static_cast<int64_t>(ranks.size());
}

}  // namespace

Meshes::Meshes(const ir::Body& program, std::span<const ir::Body> bodies,
               const ProcessMesh& whole) {
  if (whole.defined()) {
    find_dims({whole});
    return;
  }
  std::vector<ProcessMesh> meshes;
  add_meshes(program, &meshes);
  for (const ir::Body& body : bodies) add_meshes(body, &meshes);
  if (meshes.empty()) return;
  const int64_t ranks = count_ranks(meshes);
  std::stable_sort(meshes.begin(), meshes.end(),
                   [](const auto& a, const auto& b) { return a.ndim() > b.ndim(); });
  std::vector<ProcessMesh> splitting = meshes;
  const auto splits = splitting_meshes(program, bodies);
  std::erase_if(splitting, [&](const ProcessMesh& mesh) { return !splits.contains(mesh.id()); });
  find_dims(splitting.empty() ? meshes : splitting);
  const int64_t named = num_devices();
  if (ranks > named && ranks % named == 0) dims_.insert(dims_.begin(), {"stage", ranks / named});
}

void Meshes::find_dims(const std::vector<ProcessMesh>& meshes) {
  for (const ProcessMesh& mesh : meshes) {
    for (int d = 0; d < mesh.ndim(); ++d) {
      const std::string& name = mesh.dim_names()[static_cast<size_t>(d)];
      if (!find(name)) dims_.push_back({name, mesh.dim_size(d)});
    }
  }
}

const Meshes::MeshDim* Meshes::find(const std::string& name) const {
  const auto found =
      std::find_if(dims_.begin(), dims_.end(), [&](const MeshDim& d) { return d.name == name; });
  return found == dims_.end() ? nullptr : &*found;
}

int64_t Meshes::num_devices() const {
  int64_t count = 1;
  for (const MeshDim& dim : dims_) count *= dim.size;
  return count;
}

std::string Meshes::text() const {
  if (dims_.empty()) return "";
  std::string out;
  for (const MeshDim& dim : dims_)
    out += fmt::format("{}\"{}\"={}", out.empty() ? "" : ", ", dim.name, dim.size);
  return "<[" + out + "]>";
}

std::vector<const Meshes::MeshDim*> Meshes::split_by(const TensorDistAttr& attr, int d) const {
  std::vector<const MeshDim*> found;
  for (int mesh_dim : attr.mesh_dims_of(d)) {
    const MeshDim* dim = find(attr.mesh().dim_names()[static_cast<size_t>(mesh_dim)]);
    if (dim && dim->size == attr.mesh().dim_size(mesh_dim)) found.push_back(dim);
  }
  return found;
}

std::string Meshes::sharding(const TensorDistAttr* attr, const Dims& dims) const {
  if (!attr || dims_.empty()) return "";
  std::string out;
  for (int d = 0; d < dims.ndim(); ++d) {
    std::string names;
    for (const MeshDim* dim : split_by(*attr, d))
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", dim->name);
    out += fmt::format("{}{{{}}}", d > 0 ? ", " : "", names);
  }
  return "[" + out + "]";
}

std::string Meshes::even_sharding(const TensorDistAttr* attr, const Dims& dims,
                                  std::string* left_out) const {
  if (!attr || dims_.empty()) return "";
  std::vector<distributed::Placement> placements(attr->placements().begin(),
                                                 attr->placements().end());
  for (int d = 0; d < dims.ndim(); ++d) {
    int64_t parts = 1;
    for (const MeshDim* dim : split_by(*attr, d)) parts *= dim->size;
    if (dims[d] % parts == 0) continue;
    for (int mesh_dim : attr->mesh_dims_of(d))
      placements[static_cast<size_t>(mesh_dim)] = distributed::Replicate();
    *left_out += fmt::format("{}tensor dim {} has {} shards of unequal extent",
                             left_out->empty() ? "" : "; ", d, parts);
  }
  return sharding(TensorDistAttr::get(attr->mesh(), placements), dims);
}

}  // namespace phi::stablehlo
