// DistTensor: global metadata, a sharding, and this rank's part of the tensor.
//
// On a rank outside the mesh the local part is a placeholder: all its dims are 0 and it has no
// bytes. Everything else is the same as on the other ranks.
#pragma once

#include <string>

#include "distributed/placement/dist_attr.h"
#include "phi/core/dense_tensor.h"

namespace phi::distributed {

class DistTensor {
 public:
  DistTensor() = default;
  /// `local` is this rank's part of a tensor with metadata `global`.
  DistTensor(const TensorMeta& global, const TensorDistAttr* attr, DenseTensor local)
      : global_(global), attr_(attr), local_(std::move(local)) {}

  /// Returns the tensor for a rank outside the mesh. `op` (may be null) is the operator that the
  /// error of a read names.
  static DistTensor clipped(const TensorMeta& global, const TensorDistAttr* attr,
                            const Place& place, const char* op);
  /// Returns a tensor with this rank's part allocated but uninitialised; clipped if `rank` is not
  /// in the mesh.
  static DistTensor empty(const TensorMeta& global, const TensorDistAttr* attr, const Place& place,
                          int64_t rank, const char* op = nullptr);

  bool defined() const { return attr_ != nullptr; }
  /// The place of this rank's part, also if it has no bytes.
  const Place& place() const { return local_.place(); }
  const TensorMeta& meta() const { return global_; }
  const Dims& dims() const { return global_.dims; }
  DataType dtype() const { return global_.dtype; }
  const TensorDistAttr* attr() const { return attr_; }
  const ProcessMesh& mesh() const { return attr_->mesh(); }
  const DenseTensor& local() const { return local_; }
  DenseTensor& local() { return local_; }
  /// Whether this rank computed or received its part; true for an empty part.
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
