// Sorts and scans along an axis as factors: splits of the axis are ignored.
#include "distributed/spmd/rules/sort.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

Factors along(const TensorSpec& x, int axis) {
  const FactorNames names = names_without(x.ndim(), axis);
  return Factors().input(x, names).output(names).output(names);
}

// The gradient has the shape of input `like`.
Factors sort_gradient(std::initializer_list<const TensorSpec*> tensors, int like, int axis) {
  Factors rule;
  for (const TensorSpec* tensor : tensors) rule.input(*tensor, names_without(tensor->ndim(), axis));
  return rule.output_like(like);
}

// A tensor reduced over `axes` (all if empty). Reduced dims are '_' in x, and '1' in out if they
// are kept.
struct SortFactors {
  FactorNames x;
  FactorNames out;
};

SortFactors reduced(int ndim, std::span<const int64_t> axes, bool keepdim) {
  SortFactors names;
  for (int d = 0; d < ndim; ++d) {
    bool gone = axes.empty();
    for (int64_t axis : axes) gone |= normal_axis(axis, ndim) == d;
    names.x.push_back(gone ? '_' : dim_names(ndim)[d]);
    if (!gone) names.out.push_back(dim_names(ndim)[d]);
    if (gone && keepdim) names.out.push_back('1');
  }
  return names;
}

Factors chosen(const TensorSpec& x, int axis, bool keepdim) {
  const int64_t axes[] = {axis};
  const SortFactors names = reduced(x.ndim(), axes, keepdim);
  return Factors().input(x, names.x).output(names.out).output(names.out);
}

FactorNames medians_names(const FactorNames& out, const std::string& mode) {
  FactorNames names = out;
  if (mode == "avg") names.push_back('1');
  return names;
}

}  // namespace

SpmdRule TopkInferSpmd(const TensorSpec& x, const Scalar&, int axis, bool, bool) {
  return along(x, axis);
}
SpmdRule ArgSortInferSpmd(const TensorSpec& x, int axis, bool, bool) { return along(x, axis); }
SpmdRule CummaxInferSpmd(const TensorSpec& x, int axis, DataType) { return along(x, axis); }
SpmdRule CumminInferSpmd(const TensorSpec& x, int axis, DataType) { return along(x, axis); }

SpmdRule TopkGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                           const TensorSpec& out_grad, const Scalar&, int axis, bool, bool) {
  return sort_gradient({&x, &indices, &out_grad}, 0, axis);
}
SpmdRule ArgSortGradInferSpmd(const TensorSpec& indices, const TensorSpec& x,
                              const TensorSpec& out_grad, int axis, bool, bool) {
  return sort_gradient({&indices, &x, &out_grad}, 1, axis);
}
SpmdRule CummaxGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, DataType) {
  return sort_gradient({&x, &indices, &out_grad}, 0, axis);
}
SpmdRule CumminGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, DataType) {
  return sort_gradient({&x, &indices, &out_grad}, 0, axis);
}

SpmdRule KthvalueInferSpmd(const TensorSpec& x, int, int axis, bool keepdim) {
  return chosen(x, axis, keepdim);
}
SpmdRule ModeInferSpmd(const TensorSpec& x, int axis, bool keepdim) {
  return chosen(x, axis, keepdim);
}

SpmdRule ChosenGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, bool keepdim) {
  const int64_t axes[] = {axis};
  const SortFactors names = reduced(x.ndim(), axes, keepdim);
  Factors rule;
  rule.input(x, names.x).input(indices, names.out).input(out_grad, names.out);
  return rule.output_like(0);
}

SpmdRule NanmedianInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                            const std::string& mode) {
  const SortFactors names = reduced(x.ndim(), axis, keepdim);
  return Factors().input(x, names.x).output(names.out).output(medians_names(names.out, mode));
}

SpmdRule NanmedianGradInferSpmd(const TensorSpec& x, const TensorSpec& medians,
                                const TensorSpec& out_grad, const IntArray& axis, bool keepdim,
                                const std::string& mode) {
  const SortFactors names = reduced(x.ndim(), axis, keepdim);
  Factors rule;
  rule.input(x, names.x).input(medians, medians_names(names.out, mode));
  return rule.input(out_grad, names.out).output_like(0);
}

SpmdRule SearchsortedInferSpmd(const TensorSpec& sorted_sequence, const TensorSpec& values) {
  FactorNames sequence(dim_names(sorted_sequence.ndim()));
  sequence[sorted_sequence.ndim() - 1] = '_';
  FactorNames names(dim_names(values.ndim()));
  return Factors().input(sorted_sequence, sequence).input(values, names).output(names);
}

SpmdRule CumprodInferSpmd(const TensorSpec& x, int dim) {
  const FactorNames names = names_without(x.ndim(), dim);
  return Factors().input(x, names).output(names);
}

SpmdRule CumprodGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int dim) {
  return sort_gradient({&x, &out_grad}, 0, dim);
}

SpmdRule LogcumsumexpGradInferSpmd(const TensorSpec& x, const TensorSpec& out,
                                   const TensorSpec& out_grad, int axis, bool flatten) {
  const FactorNames names =
      flatten ? reduced(x.ndim(), {}, false).x : names_without(x.ndim(), axis);
  const std::string_view line = flatten ? std::string_view("_") : names.view();
  Factors rule;
  rule.input(x, names).input(out, line).input(out_grad, line).output_like(0);
  return rule;
}

}  // namespace phi::distributed
