// Matmuls with 8-bit weights as factors.
#include "distributed/spmd/rules/quantized.h"

#include "distributed/spmd/factors.h"

namespace phi::distributed {
namespace {

// Names of the scales: [n], or [groups, n].
std::string_view names_of_scale(const TensorSpec& scale) { return scale.ndim() == 1 ? "n" : "_n"; }

bool has_groups(const TensorSpec& scale) { return scale.ndim() == 2; }

}  // namespace

SpmdRule WeightQuantizeInferSpmd(const TensorSpec& x, int group_size) {
  return Factors().input(x, "_n").output("n_").output(group_size > 0 ? "_n" : "n");
}

SpmdRule WeightDequantizeInferSpmd(const TensorSpec& x, const TensorSpec& scale) {
  return Factors().input(x, "n_").input(scale, names_of_scale(scale)).output("_n");
}

SpmdRule WeightOnlyLinearInferSpmd(const TensorSpec& x, const TensorSpec& weight,
                                   const TensorSpec* bias, const TensorSpec& weight_scale) {
  const auto batch = Factors::batch(x.ndim() - 1);
  const bool k_is_whole = bias || has_groups(weight_scale);
  Factors rule;
  rule.input(x, batch, "k").input(weight, "nk");
  if (bias) {
    rule.input(*bias, "n");
  } else {
    rule.absent_input();
  }
  rule.input(weight_scale, names_of_scale(weight_scale)).output(batch, "n");
  return k_is_whole ? rule.whole("k") : rule.yields("k");
}

SpmdRule WeightOnlyLinearGradInferSpmd(const TensorSpec& x, const TensorSpec& weight,
                                       const TensorSpec& weight_scale, const TensorSpec& out_grad) {
  const auto batch = Factors::batch(x.ndim() - 1);
  Factors rule;
  rule.input(x, batch, "k").input(weight, "nk");
  rule.input(weight_scale, names_of_scale(weight_scale)).input(out_grad, batch, "n");
  rule.output_like(0);
  return has_groups(weight_scale) ? rule.whole("k") : rule.yields("n");
}

}  // namespace phi::distributed
