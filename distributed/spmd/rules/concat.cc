// Concat and stack: inputs are aligned (align.h), which factors alone cannot express.
#include "distributed/spmd/rules/concat.h"

#include <vector>

#include "distributed/spmd/align.h"
#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

// `from` without dim `axis`; insert_dim adds an unsplit dim at `axis`.
Sharding drop_dim(const Sharding& from, int axis) {
  Sharding to = from;
  for (int d = axis; d + 1 < kMaxNdim; ++d) to.dims[d] = from.dims[d + 1];
  to.dims[kMaxNdim - 1] = MeshDims();
  return to;
}

Sharding insert_dim(const Sharding& from, int axis) {
  Sharding to = from;
  for (int d = kMaxNdim - 1; d > axis; --d) to.dims[d] = from.dims[d - 1];
  to.dims[axis] = MeshDims();
  return to;
}

class ConcatRule : public SpmdRule::CustomRule {
 public:
  ConcatRule(std::span<const TensorSpec> x, int axis, bool new_dim)
      : x_(x.begin(), x.end()), axis_(axis), new_dim_(new_dim) {}

  SpmdResult forward() const override {
    const Sharding common = align(x_, new_dim_ ? 0 : 1u << axis_);
    const ProcessMesh& mesh = x_[0].attr->mesh();
    return all(common.attr(mesh), (new_dim_ ? insert_dim(common, axis_) : common).attr(mesh));
  }

  SpmdResult backward(std::span<const TensorSpec> outputs) const override {
    PHI_CHECK(outputs.size() == 1,
              errors::InvalidArgument("{} outputs are given, the rule has 1.", outputs.size()));
    Sharding input = Sharding::of(outputs[0]);
    input.partial_mask = 0;
    input.dims[axis_] = MeshDims();
    if (new_dim_) input = drop_dim(input, axis_);
    return all(input.attr(outputs[0].attr->mesh()), outputs[0].attr);
  }

 private:
  SpmdResult all(const TensorDistAttr* input, const TensorDistAttr* output) const {
    SpmdResult result;
    for (size_t i = 0; i < x_.size(); ++i) result.inputs.push_back(input);
    result.outputs.push_back(output);
    return result;
  }

  std::vector<TensorSpec> x_;
  int axis_;
  bool new_dim_;
};

SpmdRule join(std::span<const TensorSpec> x, const Scalar& axis, bool new_dim) {
  PHI_CHECK(!x.empty(), errors::InvalidArgument("x is an empty list."));
  const int ndim = x[0].ndim() + (new_dim ? 1 : 0);
  for (const TensorSpec& part : x) {
    PHI_CHECK(
        part.ndim() == x[0].ndim(),
        errors::InvalidArgument("x contains {} and {}; use tensors with the same number of dims.",
                                x[0].shape.to_string(), part.shape.to_string()));
  }
  const int at = normal_axis(axis.to<int64_t>(), ndim);
  return SpmdRule(std::make_shared<const ConcatRule>(x, at, new_dim));
}

}  // namespace

SpmdRule ConcatInferSpmd(std::span<const TensorSpec> x, const Scalar& axis) {
  return join(x, axis, false);
}

SpmdRule StackInferSpmd(std::span<const TensorSpec> x, const Scalar& axis) {
  return join(x, axis, true);
}

}  // namespace phi::distributed
