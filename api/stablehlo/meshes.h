// Meshes: the one Shardy mesh that a module has, and how the program's placements read on it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/capture/ir.h"

namespace phi::stablehlo {

/// The module's mesh is the job's whole mesh. Stages of a pipeline lie on sub-meshes of it: their
/// mesh dims are found by name, and along the others their values are written as replicated.
class Meshes {
 public:
  /// `whole` undefined: the mesh dims that the program's values lie on, in the order of the mesh
  /// with the most of them; ranks beyond their product make a mesh dim "stage" in front.
  Meshes(const ir::Body& program, std::span<const ir::Body> bodies,
         const distributed::ProcessMesh& whole);

  /// Devices that the module is for; 1 where nothing is distributed.
  int64_t num_devices() const;
  /// "<["dp"=2, "tp"=4]>", or empty where nothing is distributed.
  std::string text() const;

  /// "[{"dp"}, {}]": one list of mesh dims for each tensor dim. Empty for a plain tensor. Partial
  /// values are written as what they add up to, so that a mesh dim of partial sums appears nowhere.
  /// Mesh dims that the whole mesh has not, or in another size, are left out.
  std::string sharding(const distributed::TensorDistAttr* attr, const Dims& dims) const;
  /// The same for an input or output of the module, whose shards must be equal: a tensor dim that
  /// its mesh dims do not divide is whole. `*left_out` says so.
  std::string even_sharding(const distributed::TensorDistAttr* attr, const Dims& dims,
                            std::string* left_out) const;

 private:
  struct MeshDim {
    std::string name;
    int64_t size;
  };
  void find_dims(const std::vector<distributed::ProcessMesh>& meshes);
  const MeshDim* find(const std::string& name) const;
  // The mesh dims that split tensor dim `d`.
  std::vector<const MeshDim*> split_by(const distributed::TensorDistAttr& attr, int d) const;

  std::vector<MeshDim> dims_;
};

}  // namespace phi::stablehlo
