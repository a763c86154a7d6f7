// Reads and writes of slices as factors.
#include "distributed/spmd/rules/slices.h"

#include <algorithm>

#include "distributed/spmd/rules/factor_names.h"
#include "distributed/spmd/rules/indexing.h"

namespace phi::distributed {
namespace {

FactorNames without(const FactorNames& names, int axis) {
  FactorNames rest;
  for (int d = 0; d < names.size(); ++d) {
    if (d != axis) rest.push_back(names.view()[static_cast<size_t>(d)]);
  }
  return rest;
}

// The dim of x for each dim of the slice's shape; -1 for a new dim.
std::vector<int> slice_dims(int ndim, const std::vector<int64_t>& decrease_axes,
                            const std::vector<int64_t>& none_axes) {
  uint32_t dropped = 0;
  for (int64_t axis : decrease_axes) {
    dropped |= 1u << normal_axis(axis, ndim, "an entry of decrease_axes");
  }
  std::vector<int> dims;
  auto none = none_axes.begin();
  for (int d = 0; d < ndim; ++d) {
    for (; none != none_axes.end() && *none <= d; ++none) dims.push_back(-1);
    if (((dropped >> d) & 1u) == 0) dims.push_back(d);
  }
  dims.insert(dims.end(), static_cast<size_t>(none_axes.end() - none), -1);
  return dims;
}

// Names for values: the factor of a dim of x that it covers entirely, '_' for others.
FactorNames values_names(const Dims& x, const Dims& values, const std::vector<int64_t>& axes,
                         const std::vector<int64_t>& decrease_axes,
                         const std::vector<int64_t>& none_axes) {
  FactorNames of_x(dim_names(x.ndim()));
  for (int64_t axis : axes) of_x[normal_axis(axis, x.ndim(), "an entry of axes")] = '_';
  const std::vector<int> slice = slice_dims(x.ndim(), decrease_axes, none_axes);
  FactorNames names;
  for (int d = 0; d < values.ndim(); ++d) {
    const int own = d + static_cast<int>(slice.size()) - values.ndim();
    const int from = own < 0 ? -1 : slice[static_cast<size_t>(own)];
    names.push_back(from >= 0 && values[d] == x[from] ? of_x[from] : '_');
  }
  return names;
}

}  // namespace

SpmdRule IndexSelectStridedInferSpmd(const TensorSpec& x, int axis) {
  const FactorNames names = names_without(x.ndim(), axis);
  Factors rule;
  rule.input(x, names).output(without(names, normal_axis(axis, x.ndim())));
  return rule.pass_partial(PartialFlow::kEvery, kAllKinds);
}

SpmdRule IndexSelectStridedGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                                         int axis) {
  const FactorNames names = names_without(x.ndim(), axis);
  Factors rule;
  rule.input(x, names).input(out_grad, without(names, normal_axis(axis, x.ndim())));
  return rule.output_like(0);
}

SpmdRule IndexSampleInferSpmd(const TensorSpec& x, const TensorSpec& index) {
  return TakeAlongAxisInferSpmd(x, index, 1);
}

SpmdRule IndexAddInferSpmd(const TensorSpec& x, const TensorSpec& index,
                           const TensorSpec& add_value, int axis) {
  const FactorNames names = names_without(x.ndim(), axis);
  return Factors()
      .input(x, names)
      .input(index, whole_dim_names(index.ndim()))
      .input(add_value, names)
      .output(names);
}

SpmdRule IndexAddGradInferSpmd(const TensorSpec& index, const TensorSpec& add_value,
                               const TensorSpec& out_grad, int axis) {
  const FactorNames names = names_without(out_grad.ndim(), axis);
  Factors rule;
  rule.input(index, whole_dim_names(index.ndim())).input(add_value, names).input(out_grad, names);
  return rule.output_like(2).output_like(1);
}

SpmdRule SetValueWithTensorInferSpmd(const TensorSpec& x, const TensorSpec& values,
                                     const std::vector<int64_t>& axes,
                                     const std::vector<int64_t>& decrease_axes,
                                     const std::vector<int64_t>& none_axes) {
  const auto all = dim_names(x.ndim());
  return Factors()
      .input(x, all)
      .input(values, values_names(x.shape, values.shape, axes, decrease_axes, none_axes))
      .output(all);
}

SpmdRule SetValueWithTensorGradInferSpmd(const TensorSpec& values, const TensorSpec& out_grad,
                                         const std::vector<int64_t>& axes,
                                         const std::vector<int64_t>& decrease_axes,
                                         const std::vector<int64_t>& none_axes) {
  const auto all = dim_names(out_grad.ndim());
  Factors rule;
  rule.input(values, values_names(out_grad.shape, values.shape, axes, decrease_axes, none_axes));
  return rule.input(out_grad, all).output_like(1).output_like(0);
}

}  // namespace phi::distributed
