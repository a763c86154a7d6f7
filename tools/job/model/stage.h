// Stage: one pipeline stage's part of a job's mesh, and how tensors are laid out on it.
#pragma once

#include <vector>

#include "api/tensor/tensor.h"
#include "distributed/api.h"

namespace phi::job {

class Stage {
 public:
  explicit Stage(const distributed::ProcessMesh& mesh) : mesh_(mesh) {}

  const distributed::ProcessMesh& mesh() const { return mesh_; }
  const distributed::TensorDistAttr* attr(distributed::Placement along_dp,
                                          distributed::Placement along_tp) const;
  /// Lays `x` out on this stage, whether plain, deferred, or distributed (also elsewhere).
  Tensor place(const Tensor& x, distributed::Placement along_dp,
               distributed::Placement along_tp) const;

 private:
  distributed::ProcessMesh mesh_;
};

/// The stages of a mesh in order: its slices along pp, or the mesh itself.
std::vector<Stage> stages_of(const distributed::ProcessMesh& mesh);

}  // namespace phi::job
