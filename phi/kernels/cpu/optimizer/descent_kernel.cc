// Steps along the gradient on the CPU: sgd, momentum, and averages of gradients or of weights.
// Dtypes and masters: step_loop.h.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/updates.h"
#include "phi/kernels/cpu/optimizer/step_loop.h"
#include "phi/kernels/functors/optimizer.h"

namespace phi {
namespace {

/// What a step with momentum takes beside the arrays.
struct MomentumSettings {
  float mu;
  bool use_nesterov;
  float decay;
  float rescale_grad;
};

template <typename T>
void momentum_step(const Trained& x, const State& velocity, const DenseTensor& learning_rate,
                   const MomentumSettings& set) {
  using C = compute_t<T>;
  const MomentumStep<C> step{number_at<C>(learning_rate), set.mu, set.decay, set.use_nesterov};
  take_step<T>(x, {velocity}, ScaledStep<C, MomentumStep<C>>{step, set.rescale_grad});
}

float decay_of(const std::string& method, float coefficient) {
  return method == "l2_decay" ? coefficient : 0.0f;
}

/// sums[i] += x[i], which is how single weights are averaged; the sum so far moves on where it has
/// as many terms as a float can tell apart.
constexpr int64_t kMostInOneSum = 16384;

template <typename C, typename T>
void add_to(const T* x, C* sums, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) sums[i] += static_cast<C>(x[i]);
}

}  // namespace

/// param -= learning_rate * grad.
template <typename T, typename Context>
void SgdKernel(const Context&, const DenseTensor& param, const DenseTensor& learning_rate,
               const DenseTensor& grad, const DenseTensor* master_param, DenseTensor* param_out,
               DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>({param, grad, master_param, param_out, master_param_out}, {},
               SgdStep<C>{number_at<C>(learning_rate), C(0)});
}

/// g = rescale_grad * grad, plus regularization_coeff * param with the method l2_decay;
/// velocity = mu * velocity + g; param -= learning_rate * (use_nesterov ? g + mu * velocity :
/// velocity).
template <typename T, typename Context>
void MomentumKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                    const DenseTensor& velocity, const DenseTensor& learning_rate,
                    const DenseTensor* master_param, float mu, bool use_nesterov,
                    const std::string& regularization_method, float regularization_coeff,
                    float rescale_grad, DenseTensor* param_out, DenseTensor* velocity_out,
                    DenseTensor* master_param_out) {
  momentum_step<T>(
      {param, grad, master_param, param_out, master_param_out}, {velocity, velocity_out},
      learning_rate,
      {mu, use_nesterov, decay_of(regularization_method, regularization_coeff), rescale_grad});
}

/// The same for each param of a list; one learning rate may serve all.
template <typename T, typename Context>
void MergedMomentumKernel(const Context&, std::span<const DenseTensor* const> param,
                          std::span<const DenseTensor* const> grad,
                          std::span<const DenseTensor* const> velocity,
                          std::span<const DenseTensor* const> learning_rate,
                          std::span<const DenseTensor* const> master_param, float mu,
                          bool use_nesterov, const std::vector<std::string>& regularization_method,
                          const std::vector<float>& regularization_coeff, float rescale_grad,
                          std::span<DenseTensor* const> param_out,
                          std::span<DenseTensor* const> velocity_out,
                          std::span<DenseTensor* const> master_param_out) {
  for (size_t i = 0; i < param.size(); ++i) {
    const bool has_master = !master_param.empty();
    const Trained x{*param[i], *grad[i], has_master ? master_param[i] : nullptr, param_out[i],
                    has_master ? master_param_out[i] : nullptr};
    const float decay = regularization_method.empty()
                            ? 0.0f
                            : decay_of(regularization_method[i], regularization_coeff[i]);
    momentum_step<T>(x, {*velocity[i], velocity_out[i]},
                     *learning_rate[learning_rate.size() == 1 ? 0 : i],
                     {mu, use_nesterov, decay, rescale_grad});
  }
}

/// d is the sum of the last n gradients, y the one that leaves it: d = d - y + grad, y = grad,
/// param -= learning_rate / n * d.
template <typename T, typename Context>
void AsgdKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                const DenseTensor& learning_rate, const DenseTensor& d, const DenseTensor& y,
                const DenseTensor& n, const DenseTensor* master_param, DenseTensor* param_out,
                DenseTensor* d_out, DenseTensor* y_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>({param, grad, master_param, param_out, master_param_out},
               {State{d, d_out}, State{y, y_out}},
               AsgdStep<C>{number_at<C>(learning_rate) / number_at<C>(n)});
}

/// Each element has a step of its own, learning_rate, between the two numbers of
/// learning_rate_range: it grows by etas[1] where the gradient keeps its sign, and shrinks by
/// etas[0] where that changes, when the element waits a turn.
template <typename T, typename Context>
void RpropKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                 const DenseTensor& prev, const DenseTensor& learning_rate,
                 const DenseTensor* master_param, const DenseTensor& learning_rate_range,
                 const DenseTensor& etas, DenseTensor* param_out, DenseTensor* prev_out,
                 DenseTensor* learning_rate_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  take_step<T>(
      {param, grad, master_param, param_out, master_param_out},
      {State{prev, prev_out}, State{learning_rate, learning_rate_out}},
      RpropStep<C>{number_at<C>(learning_rate_range, 0), number_at<C>(learning_rate_range, 1),
                   number_at<C>(etas, 0), number_at<C>(etas, 1)});
}

/// The average of weights over the last steps: sum 1 takes param, and moves to sum 2 now and then.
/// When there are as many terms as the window wants, min(max_average_window, average_window *
/// updates) but at least min_average_window, both move to sum 3 and the count begins anew.
template <typename T, typename Context>
void AverageAccumulatesKernel(const Context&, const DenseTensor& param, const DenseTensor& in_sum_1,
                              const DenseTensor& in_sum_2, const DenseTensor& in_sum_3,
                              const DenseTensor& in_num_accumulates,
                              const DenseTensor& in_old_num_accumulates,
                              const DenseTensor& in_num_updates, float average_window,
                              int64_t max_average_window, int64_t min_average_window,
                              DenseTensor* out_sum_1, DenseTensor* out_sum_2,
                              DenseTensor* out_sum_3, DenseTensor* out_num_accumulates,
                              DenseTensor* out_old_num_accumulates, DenseTensor* out_num_updates) {
  using C = compute_t<T>;
  const int64_t n = param.numel();
  int64_t terms = number_at<int64_t>(in_num_accumulates) + 1;
  int64_t old_terms = number_at<int64_t>(in_old_num_accumulates);
  const int64_t updates = number_at<int64_t>(in_num_updates) + 1;
  keep(in_sum_1, out_sum_1);
  keep(in_sum_2, out_sum_2);
  keep(in_sum_3, out_sum_3);
  C* sum1 = out_sum_1->mutable_data<C>();
  C* sum2 = out_sum_2->mutable_data<C>();
  C* sum3 = out_sum_3->mutable_data<C>();
  add_to(param.data<T>(), sum1, n);
  if (updates % kMostInOneSum == 0) {
    add_to(sum1, sum2, n);
    std::fill_n(sum1, n, C(0));
  }
  const auto window = truncated<int64_t>(static_cast<float>(updates) * average_window);
  if (terms >= min_average_window && terms >= std::min(max_average_window, window)) {
    std::copy_n(sum1, n, sum3);
    add_to(sum2, sum3, n);
    std::fill_n(sum1, n, C(0));
    std::fill_n(sum2, n, C(0));
    old_terms = terms;
    terms = 0;
  }
  set_number(out_num_accumulates, terms);
  set_number(out_old_num_accumulates, old_terms);
  set_number(out_num_updates, updates);
}

PHI_REGISTER_KERNEL(sgd, CPU, SgdKernel, Floats);
PHI_REGISTER_KERNEL(momentum, CPU, MomentumKernel, Floats);
PHI_REGISTER_KERNEL(merged_momentum, CPU, MergedMomentumKernel, Floats);
PHI_REGISTER_KERNEL(asgd, CPU, AsgdKernel, Floats);
PHI_REGISTER_KERNEL(rprop, CPU, RpropKernel, Floats);
PHI_REGISTER_KERNEL(average_accumulates, CPU, AverageAccumulatesKernel, Floats);

}  // namespace phi
