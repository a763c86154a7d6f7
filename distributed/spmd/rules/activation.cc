// Activations as factors: every dim of x is a batch factor, except for reduced channels.
#include "distributed/spmd/rules/activation.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

struct PReluNames {
  FactorNames x;
  FactorNames alpha;
};

// A weight that is not laid out like dims of x must be whole, and so must the dims of x that it is
// for.
PReluNames prelu_names(const TensorSpec& x, const TensorSpec& alpha, const std::string& data_format,
                       const std::string& mode) {
  PReluNames names{FactorNames(dim_names(x.ndim())), {}};
  for (int d = 0; d < alpha.ndim(); ++d) names.alpha.push_back('1');
  if (mode == "element" && alpha.ndim() == x.ndim()) {
    for (int d = 1; d < x.ndim(); ++d) names.alpha[d] = names.x[d];
  } else if (mode == "channel" && x.ndim() > 1) {
    const int channels = data_format == "NCHW" ? 1 : x.ndim() - 1;
    if (alpha.ndim() == 1) {
      names.alpha[0] = names.x[channels];
    } else {
      names.x[channels] = '1';
    }
  }
  return names;
}

FactorNames maxout_names(const TensorSpec& x, int axis) {
  FactorNames names(dim_names(x.ndim()));
  names[normal_axis(axis, x.ndim())] = '1';
  return names;
}

}  // namespace

SpmdRule PReluInferSpmd(const TensorSpec& x, const TensorSpec& alpha,
                        const std::string& data_format, const std::string& mode) {
  const auto [xs, alphas] = prelu_names(x, alpha, data_format, mode);
  return Factors().input(x, xs).input(alpha, alphas).last_input_follows().output(xs);
}

SpmdRule PReluGradInferSpmd(const TensorSpec& x, const TensorSpec& alpha,
                            const TensorSpec& out_grad, const std::string& data_format,
                            const std::string& mode) {
  const auto [xs, alphas] = prelu_names(x, alpha, data_format, mode);
  Factors rule;
  rule.input(x, xs).input(alpha, alphas).last_input_follows().input(out_grad, xs);
  return rule.output(xs).output(alphas);
}

SpmdRule MaxOutInferSpmd(const TensorSpec& x, int axis) {
  const FactorNames names = maxout_names(x, axis);
  return Factors().input(x, names).output(names);
}

SpmdRule MaxOutGradInferSpmd(const TensorSpec& x, const TensorSpec& out, const TensorSpec& out_grad,
                             int axis) {
  const FactorNames names = maxout_names(x, axis);
  return Factors().input(x, names).input(out, names).input(out_grad, names).output(names);
}

}  // namespace phi::distributed
