// Optimizer: updates distributed parameters from their gradients, with states that lie like the
// parameters or are split further over data-parallel ranks (ZeRO).
//
//   const OptimizerConfig config{.kind = OptimizerKind::kAdamW, .grad_clip = 1.0};
//   Optimizer optimizer(config, parameters, ZeroStage{2});
//   loss.backward();
//   optimizer.step(rate.at(step));
//
// ZeRO (Rajbhandari et al. 2019) is placements plus reshard. With A the placements of a parameter,
// and A' = shard_further(A, "dp"):
//   | stage   parameter  gradient                      states
//   | 0       A          as A, reduced at the step     A
//   | 1       A          as A until the step, then A'  A'
//   | 2       A          A' as soon as it is computed  A'
//   | 3       A'         A' as soon as it is computed  A'
// In stage 3 an operator that needs a parameter whole gathers it for itself and lets it go again:
// that is what operators do with inputs anyway. The caller makes the parameters in A'.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "api/tensor/tensor.h"
#include "api/training/optimizer_config.h"

namespace phi::training {

struct ZeroStage {
  int stage = 0;                     // 0 (replicated) to 3
  std::string_view mesh_dim = "dp";  // over which states, gradients and parameters are split
};

/// The placements that a parameter is made in: A' for stage 3, else A itself.
const distributed::TensorDistAttr* parameter_attr(const distributed::TensorDistAttr* attr,
                                                  const Dims& shape, const ZeroStage& zero);

/// Bytes that this rank holds of each part of the model states; in a dry run: would hold.
struct StateBytes {
  int64_t parameters = 0;
  int64_t gradients = 0;
  int64_t states = 0;  // moments and float32 master weights
};

/// What is optimised, and how it differs from others.
struct OptimizedParameter {
  Tensor value;
  std::optional<bool> decays =
      std::nullopt;   // by weight_decay; by default if it is a matrix or more
  double rate = 1.0;  // of the learning rate
};

class Optimizer {
 public:
  /// Parameters are leaves; they get requires_grad. 16-bit ones get float32 master weights.
  /// Errors: InvalidArgument for a stage other than 0 to 3, a plain tensor with stages 1 to 3, or a
  /// tensor that an operation made.
  Optimizer(const OptimizerConfig& config, std::vector<OptimizedParameter> parameters,
            const ZeroStage& zero);
  Optimizer(const OptimizerConfig& config, const std::vector<Tensor>& parameters,
            const ZeroStage& zero);

  struct Outcome {
    double grad_norm = 0.0;  // 2-norm of all gradients, before clipping; 0 if none was asked for
    bool applied = true;     // false: a gradient was not finite, nothing was changed
  };
  /// The numbers of one step as plain tensors of one element, so that a captured step takes others.
  struct Numbers {
    Tensor learning_rate;       // float32; float64 if a parameter is
    Tensor step;                // int64, from 1
    Tensor inverse_loss_scale;  // of the same dtype; undefined: 1
  };
  /// The operators of one update: gradients that have accumulated times the inverse loss scale,
  /// then they are gone. Gives their norm before clipping (float64, plain), undefined where the
  /// configuration needs none and `with_norm` is not set. Where it is not finite nothing is
  /// changed.
  Tensor apply(const Numbers& numbers, bool with_norm);
  /// The numbers of the update after the last one that was applied.
  Numbers numbers(double learning_rate, double loss_scale = 1.0) const;
  /// What apply() gave, read. Counts the update.
  Outcome outcome_of(const Tensor& grad_norm);
  /// One update from the gradients that have accumulated, divided by `loss_scale`; then they are
  /// gone. Where their norm is computed (for clipping, or with `check_finite`) and not finite, the
  /// update is left out.
  /// Ranks   every rank of the job calls it.
  Outcome step(double learning_rate, double loss_scale = 1.0, bool check_finite = false);

  /// What is kept of the parameter of this number: "moment1", "moment2" or "master".
  struct State {
    size_t parameter;
    const char* name;
    Tensor value;
  };
  std::vector<State> states() const;
  /// Updates that were applied so far.
  int64_t updates() const { return updates_; }
  /// Goes on where another left off: `value` gives what each of states() is to be, plain, deferred
  /// or distributed, which is laid out as the state is.
  /// Errors: InvalidArgument for another shape or dtype.
  void restore(int64_t updates, const std::function<Tensor(const State&)>& value);

  StateBytes bytes_here() const;

 private:
  struct Slot {
    Tensor parameter;
    const distributed::TensorDistAttr* attr = nullptr;  // of states and reduced gradients
    bool decays = true;
    double rate = 1.0;
    Tensor gradient;  // reduced, during step()
    Tensor moment1;   // momentum: the velocity
    Tensor moment2;
    std::optional<Tensor> master;
  };
  Slot make_slot(const OptimizedParameter& optimized) const;
  // The dtype of learning rates and clip factors: float64 if a parameter is.
  DataType number_dtype() const;
  void collect_gradients();
  Tensor grad_norm() const;
  void update(Slot& slot, const Numbers& numbers, std::optional<Tensor> grad_scale);

  OptimizerConfig config_;
  ZeroStage zero_;
  std::vector<Slot> slots_;
  int64_t updates_ = 0;
};

}  // namespace phi::training
