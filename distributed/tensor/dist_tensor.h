// DistTensor: a tensor over a mesh: global meta, how it lies on the mesh, and this rank's part.
//
// On a rank outside the mesh the local part is a placeholder: dims all 0, no bytes; everything else
// is as on the other ranks.
#pragma once

#include <string>

#include "distributed/placement/dist_attr.h"
#include "phi/core/dense_tensor.h"

namespace phi::distributed {

class DistTensor {
 public:
  DistTensor() = default;
  /// `local` is this rank's part of a tensor of meta `global`.
  DistTensor(const TensorMeta& global, const TensorDistAttr* attr, DenseTensor local)
      : global_(global), attr_(attr), local_(std::move(local)) {}

  /// The tensor as a rank outside the mesh sees it; `op` (may be null) is named when it is read.
  static DistTensor clipped(const TensorMeta& global, const TensorDistAttr* attr,
                            const Place& place, const char* op);
  /// This rank's part allocated and not initialised, or clipped if `rank` is not in the mesh.
  static DistTensor empty(const TensorMeta& global, const TensorDistAttr* attr, const Place& place,
                          int64_t rank, const char* op = nullptr);

  bool defined() const { return attr_ != nullptr; }
  /// Where this rank's part lies, or would.
  const Place& place() const { return local_.place(); }
  const TensorMeta& meta() const { return global_; }
  const Dims& dims() const { return global_.dims; }
  DataType dtype() const { return global_.dtype; }
  const TensorDistAttr* attr() const { return attr_; }
  const ProcessMesh& mesh() const { return attr_->mesh(); }
  const DenseTensor& local() const { return local_; }
  DenseTensor& local() { return local_; }
  /// This rank computed or received its part (an empty part counts).
  bool initialized() const { return local_.initialized(); }
  size_t nbytes_here() const { return local_.nbytes_here(); }

  /// "f32[64,32] [S0,R] on mesh(dp=2,tp=4)"
  std::string to_string() const;

 private:
  TensorMeta global_;
  const TensorDistAttr* attr_ = nullptr;
  DenseTensor local_;
};

}  // namespace phi::distributed
