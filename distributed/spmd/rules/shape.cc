// Ops that move elements, as factors.
#include "distributed/spmd/rules/shape.h"

#include <algorithm>

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

Factors split_along(const TensorSpec& x, int64_t axis, int64_t parts) {
  PHI_CHECK(parts > 0, errors::InvalidArgument("x is split into {} parts.", parts));
  const auto names = dim_names(x.ndim());
  Factors rule;
  rule.input(x, names).whole(names.substr(normal_axis(axis, x.ndim()), 1));
  for (int64_t i = 0; i < parts; ++i) rule.output(names);
  return rule.pass_any_partial();
}

struct ExpandFactors {
  FactorNames from;
  FactorNames to;
};

// The factors of `to`, and of `from` aligned to its right, with '_' where a dim grows from size 1.
ExpandFactors expansion(const Dims& from, const IntArray& to) {
  const int added = to.size() - from.ndim();
  PHI_CHECK(added >= 0, errors::InvalidArgument("the shape {} has fewer dims than x {}.",
                                                to.to_string(), from.to_string()));
  ExpandFactors names;
  for (int i = 0; i < added; ++i) names.to.push_back('_');
  for (int d = 0; d < from.ndim(); ++d) {
    const int64_t size = to[added + d];
    const bool grows = from[d] == 1 && size != 1 && size != -1;
    names.from.push_back(grows ? '_' : dim_names(to.size())[added + d]);
    names.to.push_back(names.from[d]);
  }
  return names;
}

struct SliceFactors {
  FactorNames input;
  FactorNames out;
};

// Names with '_' for sliced axes; `out` lacks those of decrease_axis.
SliceFactors sliced(const TensorSpec& input, const std::vector<int64_t>& axes,
                    const std::vector<int64_t>& decrease_axis) {
  SliceFactors names{FactorNames(dim_names(input.ndim())), {}};
  for (int64_t axis : axes) names.input[normal_axis(axis, input.ndim(), "an entry of axes")] = '_';
  uint32_t dropped = 0;
  for (int64_t axis : decrease_axis) {
    dropped |= 1u << normal_axis(axis, input.ndim(), "an entry of decrease_axis");
  }
  for (int d = 0; d < input.ndim(); ++d) {
    if ((dropped >> d) & 1u) {
      names.input[d] = '_';
    } else {
      names.out.push_back(names.input[d]);
    }
  }
  return names;
}

FactorNames rolled(const TensorSpec& x, const IntArray& shifts, const std::vector<int64_t>& axis) {
  const size_t expected = axis.empty() ? 1 : axis.size();
  PHI_CHECK(static_cast<size_t>(shifts.size()) == expected,
            errors::InvalidArgument("{} shifts and {} axes are given; give one shift per axis, or "
                                    "one shift and no axis.",
                                    shifts.size(), axis.size()));
  FactorNames names(dim_names(x.ndim()));
  for (int d = 0; d < x.ndim() && axis.empty(); ++d) names[d] = '_';
  for (int64_t a : axis) names[normal_axis(a, x.ndim())] = '_';
  return names;
}

FactorNames pad_names(const TensorSpec& x, const std::vector<int>& paddings) {
  PHI_CHECK(static_cast<int>(paddings.size()) == 2 * x.ndim(),
            errors::InvalidArgument("{} paddings are given for {}; give two per dim.",
                                    paddings.size(), x.shape.to_string()));
  FactorNames names(dim_names(x.ndim()));
  for (int d = 0; d < x.ndim(); ++d) {
    const auto at = static_cast<size_t>(2 * d);
    if (paddings[at] != 0 || paddings[at + 1] != 0) names[d] = '_';
  }
  return names;
}

void check_steps(const std::vector<int>& axes, const IntArray& starts, const IntArray& ends,
                 const IntArray& strides) {
  const int count = static_cast<int>(axes.size());
  PHI_CHECK(
      starts.size() == count && ends.size() == count && strides.size() == count,
      errors::InvalidArgument(
          "{} axes, {} starts, {} ends and {} strides are given; pass the same number of each.",
          count, starts.size(), ends.size(), strides.size()));
}

}  // namespace

SpmdRule TransposeInferSpmd(const TensorSpec& x, const std::vector<int>& perm) {
  PHI_CHECK(static_cast<int>(perm.size()) == x.ndim(),
            errors::InvalidArgument("perm has {} entries, x is {}; give one per dim.", perm.size(),
                                    x.shape.to_string()));
  const auto names = dim_names(x.ndim());
  FactorNames out;
  for (int p : perm) out.push_back(names[normal_axis(p, x.ndim(), "an entry of perm")]);
  return Factors().input(x, names).output(out).pass_partial(PartialFlow::kEvery, kAllKinds);
}

SpmdRule SqueezeInferSpmd(const TensorSpec& x, const IntArray& axis) {
  uint32_t given = axis.empty() ? ~0u : 0;
  for (int64_t a : axis.values()) given |= 1u << normal_axis(a, std::max(x.ndim(), 1));
  FactorNames in, out;
  for (int d = 0; d < x.ndim(); ++d) {
    const bool goes = x.shape[d] == 1 && ((given >> d) & 1u);
    in.push_back(goes ? '1' : dim_names(x.ndim())[d]);
    if (!goes) out.push_back(in[d]);
  }
  Factors rule;
  return rule.input(x, in).output(out).unit_dims_whole().pass_any_partial();
}

SpmdRule UnsqueezeInferSpmd(const TensorSpec& x, const IntArray& axis) {
  std::vector<char> out(dim_names(x.ndim()).begin(), dim_names(x.ndim()).end());
  for (int64_t a : axis.values()) {
    const int at = normal_axis(a, static_cast<int>(out.size()) + 1);
    out.insert(out.begin() + at, '1');
  }
  Factors rule;
  rule.input(x, dim_names(x.ndim())).output(std::string_view(out.data(), out.size()));
  return rule.unit_dims_whole().pass_any_partial();
}

SpmdRule SplitInferSpmd(const TensorSpec& x, const IntArray& sections, const Scalar& axis) {
  return split_along(x, axis.to<int64_t>(), sections.size());
}

SpmdRule SplitWithNumInferSpmd(const TensorSpec& x, int num, const Scalar& axis) {
  const int64_t size = x.shape[normal_axis(axis.to<int64_t>(), x.ndim())];
  PHI_CHECK(size <= 0 || num <= size,  // an empty or unknown extent accepts any number of parts
            errors::InvalidArgument("x {} is split into {} parts along axis {}.",
                                    x.shape.to_string(), num, axis.to<int64_t>()));
  return split_along(x, axis.to<int64_t>(), num);
}

SpmdRule UnbindInferSpmd(const TensorSpec& x, int axis) {
  const int along = normal_axis(axis, x.ndim());
  const FactorNames names = names_without(x.ndim(), along);
  FactorNames out;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d != along) out.push_back(names.view()[static_cast<size_t>(d)]);
  }
  Factors rule;
  rule.input(x, names);
  for (int64_t i = 0; i < x.shape[along]; ++i) rule.output(out);
  return rule.pass_any_partial();
}

SpmdRule PadInferSpmd(const TensorSpec& x, const std::vector<int>& paddings,
                      const Scalar& pad_value) {
  const FactorNames names = pad_names(x, paddings);
  Factors rule;
  rule.input(x, names).output(names);
  // Padding with zeros is linear.
  if (pad_value.to<double>() == 0) rule.pass_partial(PartialFlow::kEvery, kLinearKinds);
  return rule;
}

SpmdRule PadGradInferSpmd(const TensorSpec& out_grad, const std::vector<int>& paddings,
                          const Scalar& pad_value) {
  return PadInferSpmd(out_grad, paddings, pad_value);
}

SpmdRule RollInferSpmd(const TensorSpec& x, const IntArray& shifts,
                       const std::vector<int64_t>& axis) {
  const FactorNames names = rolled(x, shifts, axis);
  Factors rule;
  return rule.input(x, names).output(names).pass_any_partial();
}

SpmdRule RollGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, const IntArray& shifts,
                           const std::vector<int64_t>& axis) {
  const FactorNames names = rolled(x, shifts, axis);
  return Factors().input(x, names).input(out_grad, names).output_like(0);
}

SpmdRule StridedSliceInferSpmd(const TensorSpec& x, const std::vector<int>& axes,
                               const IntArray& starts, const IntArray& ends,
                               const IntArray& strides) {
  check_steps(axes, starts, ends, strides);
  const SliceFactors names = sliced(x, std::vector<int64_t>(axes.begin(), axes.end()), {});
  Factors rule;
  return rule.input(x, names.input).output(names.out).pass_any_partial();
}

SpmdRule StridedSliceGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                                   const std::vector<int>& axes, const IntArray& starts,
                                   const IntArray& ends, const IntArray& strides) {
  check_steps(axes, starts, ends, strides);
  return SliceGradInferSpmd(x, out_grad, std::vector<int64_t>(axes.begin(), axes.end()), {});
}

SpmdRule SliceInferSpmd(const TensorSpec& input, const std::vector<int64_t>& axes,
                        const IntArray& starts, const IntArray& ends, const std::vector<int64_t>&,
                        const std::vector<int64_t>& decrease_axis) {
  PHI_CHECK(axes.size() == size_t(starts.size()) && axes.size() == size_t(ends.size()),
            errors::InvalidArgument(
                "{} axes, {} starts and {} ends are given; pass the same number of each.",
                axes.size(), starts.size(), ends.size()));
  const SliceFactors names = sliced(input, axes, decrease_axis);
  Factors rule;
  return rule.input(input, names.input).output(names.out).pass_any_partial();
}

SpmdRule SliceGradInferSpmd(const TensorSpec& input, const TensorSpec& out_grad,
                            const std::vector<int64_t>& axes,
                            const std::vector<int64_t>& decrease_axis) {
  const SliceFactors names = sliced(input, axes, decrease_axis);
  return Factors().input(input, names.input).input(out_grad, names.out).output_like(0);
}

SpmdRule SliceScatterInferSpmd(const TensorSpec& x, const TensorSpec& value,
                               const std::vector<int64_t>& axes,
                               const std::vector<int64_t>& decrease_axis) {
  const SliceFactors names = sliced(x, axes, decrease_axis);
  const auto all = dim_names(x.ndim());
  return Factors().input(x, all).input(value, names.out).output(all);
}

SpmdRule ExpandInferSpmd(const TensorSpec& x, const IntArray& shape) {
  const ExpandFactors names = expansion(x.shape, shape);
  Factors rule;
  return rule.input(x, names.from).output(names.to).pass_any_partial();
}

SpmdRule ExpandAsInferSpmd(const TensorSpec& x, const TensorSpec& y) {
  const ExpandFactors names = expansion(x.shape, y.shape);
  Factors rule;
  rule.input(x, names.from).last_input_follows();
  return rule.input(y, dim_names(y.ndim())).output(dim_names(y.ndim()));
}

SpmdRule ExpandToInferSpmd(const TensorSpec& x, const TensorSpec* y,
                           const std::vector<int64_t>& target_shape) {
  if (y != nullptr) return ExpandAsInferSpmd(x, *y);
  const ExpandFactors names = expansion(x.shape, target_shape);
  Factors rule;
  return rule.input(x, names.from).absent_input().output(names.to).pass_any_partial();
}

SpmdRule TileInferSpmd(const TensorSpec& x, const IntArray& repeat_times) {
  const int ndim = std::max(x.ndim(), repeat_times.size());
  FactorNames in, out;
  for (int d = 0; d < ndim; ++d) {
    const int own = d - (ndim - x.ndim());
    const int times = d - (ndim - repeat_times.size());
    const bool repeated = times >= 0 && repeat_times[times] != 1;
    const char name = own >= 0 && repeated ? '_' : dim_names(ndim)[d];
    if (own >= 0) in.push_back(name);
    out.push_back(name);
  }
  Factors rule;
  return rule.input(x, in).output(out).pass_any_partial();
}

SpmdRule CumsumInferSpmd(const TensorSpec& x, const Scalar& axis, bool flatten, bool, bool) {
  FactorNames names(dim_names(x.ndim()));
  for (int d = 0; d < x.ndim(); ++d) {
    if (flatten || d == normal_axis(axis.to<int64_t>(), x.ndim())) names[d] = '_';
  }
  return Factors().input(x, names).output(flatten ? std::string_view("_") : names.view());
}

SpmdRule TrilInferSpmd(const TensorSpec& x, int) {
  PHI_CHECK(x.ndim() >= 2,
            errors::InvalidArgument("x is {}; 2 dims or more are needed.", x.shape.to_string()));
  const auto names = dim_names(x.ndim());
  return Factors().input(x, names).output(names).whole(names.substr(names.size() - 2));
}

SpmdRule NonZeroInferSpmd(const TensorSpec& condition) {
  const auto names = dim_names(condition.ndim());
  return Factors()
      .input(condition, std::string_view("111111111").substr(0, names.size()))
      .output("11");
}

SpmdRule UniqueInferSpmd(const TensorSpec& x, bool return_index, bool return_inverse,
                         bool return_counts, const std::vector<int>& axis, DataType) {
  const auto names = dim_names(x.ndim());
  Factors rule;
  rule.input(x, names).output(axis.empty() ? "w" : names);
  for (bool wanted : {return_index, return_inverse, return_counts}) {
    if (wanted) {
      rule.output("1");
    } else {
      rule.absent_output();
    }
  }
  return rule.whole(names);
}

}  // namespace phi::distributed
