// Reductions, and ops along an axis, as factors.
#include "distributed/spmd/rules/reduction.h"

#include <cmath>

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

struct ReducedFactors {
  FactorNames reduced;  // the factors of the given axes
  FactorNames output;
};

ReducedFactors split_axes(int ndim, std::span<const int64_t> axes, bool keepdim) {
  uint32_t given = axes.empty() ? ~0u : 0;
  for (int64_t axis : axes) {
    if (ndim == 0 && (axis == 0 || axis == -1)) continue;  // a 0-D tensor accepts these
    given |= 1u << normal_axis(axis, ndim);
  }
  ReducedFactors result;
  for (int d = 0; d < ndim; ++d) {
    const char name = dim_names(ndim)[d];
    if (!((given >> d) & 1u)) {
      result.output.push_back(name);
      continue;
    }
    result.reduced.push_back(name);
    if (keepdim) result.output.push_back('1');
  }
  return result;
}

// Reduces over all dims if `all`; reduced dims are whole.
SpmdRule whole_reduction(const TensorSpec& x, std::span<const int64_t> axis, bool keepdim,
                         bool all) {
  const ReducedFactors axes =
      split_axes(x.ndim(), all ? std::span<const int64_t>() : axis, keepdim);
  return Factors().input(x, dim_names(x.ndim())).output(axes.output).whole(axes.reduced);
}

SpmdRule reduction_gradient(const TensorSpec& x, const TensorSpec& out, const TensorSpec& out_grad,
                            std::span<const int64_t> axis, bool keepdim, bool all) {
  const ReducedFactors axes =
      split_axes(x.ndim(), all ? std::span<const int64_t>() : axis, keepdim);
  Factors rule;
  rule.input(x, dim_names(x.ndim())).input(out, axes.output).input(out_grad, axes.output);
  return rule.output_like(0);
}

struct TraceFactors {
  FactorNames axes;
  FactorNames others;
};

TraceFactors diagonal_of(const TensorSpec& x, int axis1, int axis2) {
  const int first = normal_axis(axis1, x.ndim(), "axis1");
  const int second = normal_axis(axis2, x.ndim(), "axis2");
  TraceFactors diagonal;
  for (int d = 0; d < x.ndim(); ++d) {
    (d == first || d == second ? diagonal.axes : diagonal.others).push_back(dim_names(x.ndim())[d]);
  }
  return diagonal;
}

FactorNames all_but(int axis, int ndim) {
  FactorNames names;
  for (int d = 0; d < ndim; ++d) {
    if (d != normal_axis(axis, ndim)) names.push_back(dim_names(ndim)[d]);
  }
  return names;
}

}  // namespace

SpmdRule ReductionInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                            ReduceKind kind) {
  const ReducedFactors axes = split_axes(x.ndim(), axis, keepdim);
  return Factors().input(x, dim_names(x.ndim())).output(axes.output).reduce(axes.reduced, kind);
}

SpmdRule ReductionSumInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim) {
  return ReductionInferSpmd(x, axis, keepdim, ReduceKind::kSum);
}

SpmdRule ReductionMeanInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim) {
  return ReductionInferSpmd(x, axis, keepdim, ReduceKind::kSum);
}

SpmdRule ReductionMaxInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim) {
  return ReductionInferSpmd(x, axis, keepdim, ReduceKind::kMax);
}

SpmdRule ReductionMinInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim) {
  return ReductionInferSpmd(x, axis, keepdim, ReduceKind::kMin);
}

SpmdRule ReductionAllInferSpmd(const TensorSpec& x, const std::vector<int64_t>& axis,
                               bool keepdim) {
  return ReductionInferSpmd(x, axis, keepdim, ReduceKind::kAll);
}

SpmdRule ReductionAnyInferSpmd(const TensorSpec& x, const std::vector<int64_t>& axis,
                               bool keepdim) {
  return ReductionInferSpmd(x, axis, keepdim, ReduceKind::kAny);
}

SpmdRule ReductionProdInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                                bool reduce_all) {
  return ReductionInferSpmd(x, reduce_all ? IntArray() : axis, keepdim, ReduceKind::kProd);
}

SpmdRule LogSumExpInferSpmd(const TensorSpec& x, const std::vector<int64_t>& axis, bool keepdim,
                            bool reduce_all) {
  return whole_reduction(x, axis, keepdim, reduce_all);
}

SpmdRule FrobeniusNormInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                                bool reduce_all) {
  return whole_reduction(x, axis, keepdim, reduce_all);
}

SpmdRule PNormInferSpmd(const TensorSpec& x, float porder, int axis, float, bool keepdim,
                        bool asvector) {
  const IntArray axes = asvector ? IntArray() : IntArray({axis});
  if (std::isinf(porder)) {
    return ReductionInferSpmd(x, axes, keepdim, porder > 0 ? ReduceKind::kMax : ReduceKind::kMin);
  }
  if (porder == 0 || porder == 1) return ReductionSumInferSpmd(x, axes, keepdim);
  return whole_reduction(x, axes, keepdim, asvector);
}

SpmdRule LogSumExpGradInferSpmd(const TensorSpec& x, const TensorSpec& out,
                                const TensorSpec& out_grad, const std::vector<int64_t>& axis,
                                bool keepdim, bool reduce_all) {
  return reduction_gradient(x, out, out_grad, axis, keepdim, reduce_all);
}

SpmdRule FrobeniusNormGradInferSpmd(const TensorSpec& x, const TensorSpec& out,
                                    const TensorSpec& out_grad, const IntArray& axis, bool keepdim,
                                    bool reduce_all) {
  return reduction_gradient(x, out, out_grad, axis, keepdim, reduce_all);
}

SpmdRule PNormGradInferSpmd(const TensorSpec& x, const TensorSpec& out, const TensorSpec& out_grad,
                            float, int axis, float, bool keepdim, bool asvector) {
  const int64_t one_axis[] = {axis};
  return reduction_gradient(x, out, out_grad, one_axis, keepdim, asvector);
}

SpmdRule ReduceAsInferSpmd(const TensorSpec& x, const TensorSpec& target) {
  const auto all = Factors::batch(x.ndim());
  Factors rule;
  rule.input(x, all, "").input(target, all, "").last_input_follows().output_like(1);
  return rule.pass_partial(PartialFlow::kOne, kLinearKinds);
}

SpmdRule SquaredL2NormInferSpmd(const TensorSpec& x) {
  return Factors().input(x, dim_names(x.ndim())).output("1");
}

SpmdRule ArgMaxInferSpmd(const TensorSpec& x, const Scalar& axis, bool keepdims, bool flatten) {
  const int64_t one_axis[] = {axis.to<int64_t>()};
  const bool all = flatten || x.ndim() == 0;
  const auto along = all ? std::span<const int64_t>() : std::span<const int64_t>(one_axis);
  const ReducedFactors axes = split_axes(x.ndim(), along, keepdims);
  return Factors().input(x, dim_names(x.ndim())).output(axes.output).whole(axes.reduced);
}

SpmdRule SoftmaxInferSpmd(const TensorSpec& x, int axis) {
  const auto names = dim_names(x.ndim());
  Factors rule;
  rule.input(x, names).output(names);
  if (x.ndim() > 0) rule.whole(names.substr(normal_axis(axis, x.ndim()), 1));
  return rule;
}

SpmdRule SoftmaxGradInferSpmd(const TensorSpec& out, const TensorSpec& out_grad, int axis) {
  const auto names = dim_names(out.ndim());
  Factors rule;
  rule.input(out, names).input(out_grad, names).output_like(0);
  if (out.ndim() > 0) rule.whole(names.substr(normal_axis(axis, out.ndim()), 1));
  return rule;
}

SpmdRule TraceInferSpmd(const TensorSpec& x, int axis1, int axis2) {
  const TraceFactors diagonal = diagonal_of(x, axis1, axis2);
  Factors rule;
  rule.input(x, dim_names(x.ndim())).output(diagonal.others).whole(diagonal.axes);
  return rule.pass_partial(PartialFlow::kOne, kLinearKinds);
}

SpmdRule TraceGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis1, int axis2) {
  const TraceFactors diagonal = diagonal_of(x, axis1, axis2);
  Factors rule;
  rule.input(x, dim_names(x.ndim())).input(out_grad, diagonal.others);
  return rule.output_like(0).whole(diagonal.axes);
}

SpmdRule NormInferSpmd(const TensorSpec& x, int axis, bool is_test) {
  FactorNames norms(dim_names(x.ndim()));
  Factors rule;
  rule.input(x, norms).output(norms);
  if (x.ndim() > 0) {
    const int along = normal_axis(axis, x.ndim());
    rule.whole(norms.view().substr(static_cast<size_t>(along), 1));
    norms[along] = '1';
  }
  return rule.output(is_test ? std::string_view("1") : norms.view());
}

SpmdRule NormGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis) {
  return SoftmaxGradInferSpmd(x, out_grad, axis);
}

SpmdRule RenormInferSpmd(const TensorSpec& x, int axis) {
  return Factors()
      .input(x, dim_names(x.ndim()))
      .output(dim_names(x.ndim()))
      .whole(all_but(axis, x.ndim()));
}

SpmdRule RenormGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis) {
  const auto names = dim_names(x.ndim());
  Factors rule;
  rule.input(x, names).input(out_grad, names).output_like(0);
  return rule.whole(all_but(axis, x.ndim()));
}

SpmdRule HistogramInferSpmd(const TensorSpec& input, const TensorSpec* weight, int64_t, int min,
                            int max, bool density) {
  const auto names = dim_names(input.ndim());
  Factors rule;
  rule.input(input, names);
  if (weight) {
    rule.input(*weight, names);
  } else {
    rule.absent_input();
  }
  if (min == max || density) rule.whole(names);
  return rule.output("1");
}

SpmdRule AccuracyInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                           const TensorSpec& label) {
  Factors rule;
  rule.input(x, "nk").input(indices, "nk").input(label, "n1").whole("k");
  return rule.output("").output("").output("");
}

}  // namespace phi::distributed
