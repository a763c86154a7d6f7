// Runs a pipeline schedule on a model that is written once.
//
// Every rank walks through one order of all stages' actions (pipeline::program_order). An action of
// another stage is a run of clipped operators: it costs no kernel and no byte, and gives the rank
// the meta of what it will receive. What travels between stages is posted where it is ready and
// waited for where it is used, so a rank waits only for data that its next action needs, and since
// all ranks post in the same order no schedule can deadlock.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "api/tensor/tensor.h"
#include "distributed/pipeline/schedules/program_order.h"
#include "distributed/pipeline/schedules/schedule.h"

namespace phi::training {

class PipelineModel {
 public:
  virtual ~PipelineModel() = default;

  /// Chunks in the order of the model. Chunk c belongs to stage c mod (number of stages).
  virtual int num_chunks() const = 0;
  /// What chunk `chunk` makes of its input. The first is given an undefined tensor, the last gives
  /// the mean loss of the micro-batch (0-D).
  virtual Tensor forward(int chunk, const Tensor& input, int64_t micro_batch) = 0;
  /// How chunk `chunk` wants what the chunk before it gives.
  virtual const distributed::TensorDistAttr* input_attr(int chunk, const Tensor& x) const = 0;
};

/// A schedule with the order in which every rank walks through it: found once, for all steps.
class PipelineProgram {
 public:
  /// Errors: those of pipeline::program_order.
  PipelineProgram(distributed::pipeline::Schedule schedule)
      : schedule_(std::move(schedule)), order_(program_order(schedule_)) {}

  const distributed::pipeline::Schedule& schedule() const { return schedule_; }
  const std::vector<distributed::pipeline::Step>& order() const { return order_; }

 private:
  distributed::pipeline::Schedule schedule_;
  std::vector<distributed::pipeline::Step> order_;
};

/// One step forward and backward: the gradients of all parameters accumulate, those of
/// loss_scale * the mean over micro-batches of the loss.
///
/// `loss_scale`  plain, float32, one element; undefined: 1
/// Returns  that mean (not scaled), 0-D on the last stage's mesh, where it may be partial.
/// Ranks    every rank of all stages calls it.
/// Errors   InvalidArgument if schedule and model disagree on the number of chunks.
Tensor run_schedule(PipelineModel& model, const PipelineProgram& program,
                    const Tensor& loss_scale = Tensor());

/// The same forward only, without tracking: micro-batches one after the other.
Tensor run_forward(PipelineModel& model, int64_t micro_batches);

}  // namespace phi::training
