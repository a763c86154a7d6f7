// Lookups as factors.
#include "distributed/spmd/rules/lookup.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

struct GatherFactors {
  FactorNames x;
  std::string_view index;
  FactorNames out;
};

GatherFactors gathered(const TensorSpec& x, const TensorSpec& index, const Scalar& axis) {
  const int along = normal_axis(axis.to<int64_t>(), x.ndim());
  const bool is_column = index.ndim() == 2 && index.shape[1] == 1;
  PHI_CHECK(
      index.ndim() <= 1 || is_column,
      errors::InvalidArgument("index is {}, expected one dim or none.", index.shape.to_string()));
  const std::string_view of_index = std::string_view("n1").substr(0, size_t(index.ndim()));
  GatherFactors names{FactorNames(dim_names(x.ndim())), of_index, {}};
  names.x[along] = '_';
  for (int d = 0; d < x.ndim(); ++d) {
    if (d != along) {
      names.out.push_back(names.x[d]);
    } else if (index.ndim() > 0) {
      names.out.push_back('n');
    }
  }
  return names;
}

}  // namespace

SpmdRule EmbeddingInferSpmd(const TensorSpec& x, const TensorSpec& weight, int64_t, bool) {
  const FactorNames names(dim_names(x.ndim()));
  FactorNames out = names;
  out.push_back('w');
  return Factors().input(x, names).input(weight, "vw").output(out);
}

SpmdRule EmbeddingGradInferSpmd(const TensorSpec& x, const TensorSpec& weight,
                                const TensorSpec& out_grad) {
  const FactorNames names(dim_names(x.ndim()));
  FactorNames out = names;
  out.push_back('w');
  return Factors().input(x, names).input(weight, "vw").input(out_grad, out).output_like(1);
}

SpmdRule CEmbeddingInferSpmd(const TensorSpec& weight, const TensorSpec& x, int64_t, int64_t) {
  const FactorNames names(dim_names(x.ndim()));
  FactorNames out = names;
  out.push_back('w');
  return Factors().input(weight, "vw").input(x, names).output(out);
}

SpmdRule CEmbeddingGradInferSpmd(const TensorSpec& weight, const TensorSpec& x,
                                 const TensorSpec& out_grad, int64_t) {
  const FactorNames names(dim_names(x.ndim()));
  FactorNames out = names;
  out.push_back('w');
  Factors rule;
  return rule.input(weight, "vw").input(x, names).input(out_grad, out).output_like(0);
}

SpmdRule GatherInferSpmd(const TensorSpec& x, const TensorSpec& index, const Scalar& axis) {
  const GatherFactors names = gathered(x, index, axis);
  Factors rule;
  rule.input(x, names.x).input(index, names.index).output(names.out);
  return pass_partial_of_first(rule, index);
}

SpmdRule GatherGradInferSpmd(const TensorSpec& x, const TensorSpec& index,
                             const TensorSpec& out_grad, const Scalar& axis) {
  const GatherFactors names = gathered(x, index, axis);
  Factors rule;
  rule.input(x, names.x).input(index, names.index).input(out_grad, names.out);
  return rule.output_like(0);
}

SpmdRule OneHotInferSpmd(const TensorSpec& x, const Scalar&) {
  FactorNames out(dim_names(x.ndim()));
  out.push_back('1');
  return Factors().input(x, dim_names(x.ndim())).output(out);
}

}  // namespace phi::distributed
