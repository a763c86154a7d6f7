// Optimizer: updates distributed parameters from their gradients. Its states have the placements of
// the parameters or are split further over data-parallel ranks (ZeRO).
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
// In stage 3 an operator that needs an unsharded parameter gathers it and frees the copy
// afterwards, as operators do with any input. The caller constructs the parameters in A'.
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

/// Bytes of the model states on this rank; in a dry run, those of a real run.
struct StateBytes {
  int64_t parameters = 0;
  int64_t gradients = 0;
  int64_t states = 0;  // moments and float32 master weights
};

/// A parameter and its group's settings.
struct OptimizedParameter {
  Tensor value;
  // By weight_decay. nullopt: decays if it has more than one tensor dim.
  std::optional<bool> decays = std::nullopt;
  double rate = 1.0;  // factor on the learning rate
};

class Optimizer {
 public:
  /// `parameters` must be leaves; their requires_grad is set. Half-precision parameters get float32
  /// master weights.
  /// Errors: InvalidArgument for a stage other than 0 to 3, a plain tensor with stages 1 to 3, or a
  /// tensor that is the result of an operation.
  Optimizer(const OptimizerConfig& config, std::vector<OptimizedParameter> parameters,
            const ZeroStage& zero);
  Optimizer(const OptimizerConfig& config, const std::vector<Tensor>& parameters,
            const ZeroStage& zero);

  struct Outcome {
    double grad_norm = 0.0;  // 2-norm of all gradients, before clipping; 0 if not computed
    bool applied = true;     // false: a gradient was not finite and nothing was changed
  };
  /// The numbers of a step as plain tensors of one element, so that a captured step can be run with
  /// others.
  struct StepScalars {
    Tensor learning_rate;       // float32; float64 if a parameter is
    Tensor step;                // int64, counted from 1
    Tensor inverse_loss_scale;  // dtype of learning_rate; undefined: 1
  };
  /// Applies one update: multiplies accumulated gradients by the inverse loss scale, updates the
  /// parameters, and drops the gradients. Returns the gradients' norm before clipping (float64,
  /// plain); undefined if neither the configuration nor `with_norm` needs it. If the norm is not
  /// finite, no parameter or state changes.
  Tensor apply(const StepScalars& step_scalars, bool with_norm);
  /// The numbers of the next update.
  StepScalars step_scalars(double learning_rate, double loss_scale = 1.0) const;
  /// Reads the norm that apply() returned. Counts the update if it was applied.
  Outcome outcome_of(const Tensor& grad_norm);
  /// Applies one update from the accumulated gradients, divided by `loss_scale`, and drops the
  /// gradients. If their norm is computed (for clipping, or with `check_finite`) and not finite,
  /// the update is skipped.
  ///
  /// Ranks   Every rank of the job calls it.
  Outcome step(double learning_rate, double loss_scale = 1.0, bool check_finite = false);

  /// A state of the parameter with this index: "moment1", "moment2" or "master".
  struct State {
    size_t parameter;
    const char* name;
    Tensor value;
  };
  std::vector<State> states() const;
  /// Number of updates applied.
  int64_t updates() const { return updates_; }
  /// Restores saved states. `value` returns the value of each of states(), plain, deferred or
  /// distributed; it is resharded to the state's placements.
  /// Errors: InvalidArgument for another shape or dtype.
  void restore(int64_t updates, const std::function<Tensor(const State&)>& value);

  StateBytes bytes_here() const;

 private:
  struct OptimizerSlot {
    Tensor parameter;
    const distributed::TensorDistAttr* attr = nullptr;  // of states and reduced gradients
    bool decays = true;
    double rate = 1.0;
    Tensor gradient;  // reduced; set during step()
    Tensor moment1;   // for momentum: the velocity
    Tensor moment2;
    std::optional<Tensor> master;
  };
  OptimizerSlot make_slot(const OptimizedParameter& optimized) const;
  // The dtype of learning rates and clip factors: float64 if a parameter is.
  DataType scalar_dtype() const;
  void collect_gradients();
  Tensor grad_norm() const;
  void update(OptimizerSlot& slot, const StepScalars& step_scalars,
              std::optional<Tensor> grad_scale);

  OptimizerConfig config_;
  ZeroStage zero_;
  std::vector<OptimizerSlot> slots_;
  int64_t updates_ = 0;
};

}  // namespace phi::training
