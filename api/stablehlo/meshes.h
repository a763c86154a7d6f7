// Meshes: the Shardy mesh of a module, and the program's placements as shardings on it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/capture/ir.h"

namespace phi::stablehlo {

/// The module's mesh is the mesh of the whole job. Pipeline stages are on sub-meshes of it: their
/// mesh dims are matched by name, and their values are replicated along the others.
class Meshes {
 public:
  /// If `whole` is undefined, the mesh has the mesh dims of the program's values, in the order of
  /// the mesh with most of them, preceded by a mesh dim "stage" if the program uses more ranks than
  /// their product.
  Meshes(const ir::Body& program, std::span<const ir::Body> bodies,
         const distributed::ProcessMesh& whole);

  /// Number of devices of the module; 1 if nothing is distributed.
  int64_t num_devices() const;
  /// "<["dp"=2, "tp"=4]>"; empty if nothing is distributed.
  std::string text() const;

  /// "[{"dp"}, {}]": one list of mesh dims per tensor dim. Empty for a plain tensor. A partial
  /// value is written as its sum, so its partial mesh dims do not appear. Mesh dims that the whole
  /// mesh lacks, or has with another size, are omitted.
  std::string sharding(const distributed::TensorDistAttr* attr, const Dims& dims) const;
  /// Like sharding, for an input or output of the module, whose shards must have equal sizes. A
  /// tensor dim that its mesh dims do not divide is not sharded; `*left_out` then describes it.
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
