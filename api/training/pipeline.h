// Runs a pipeline schedule on a model. The model is written once, for all stages.
//
// Every rank walks through the same order of all stages' actions (pipeline::program_order). An
// action of another stage consists of clipped operators: it runs no kernel, allocates nothing, and
// gives the rank the metadata of what it will receive. Transfers between stages are posted where
// their data is ready and waited for where it is used, so a rank waits only for data that its next
// action needs. Since all ranks post in the same order, no schedule can deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "api/tensor/tensor.h"
#include "distributed/pipeline/schedules/program_order.h"
#include "distributed/pipeline/schedules/release_points.h"
#include "distributed/pipeline/schedules/schedule.h"

namespace phi::training {

class PipelineModel {
 public:
  virtual ~PipelineModel() = default;

  /// Chunks in the order of the model. Chunk c belongs to stage c mod (number of stages).
  virtual int num_chunks() const = 0;
  /// The output of chunk `chunk`. The input of the first chunk is an undefined tensor; the output
  /// of the last is the mean loss of the micro-batch (0-D).
  virtual Tensor forward(int chunk, const Tensor& input, int64_t micro_batch) = 0;
  /// The placements in which chunk `chunk` accepts `x`, the output of the previous chunk.
  virtual const distributed::TensorDistAttr* input_attr(int chunk, const Tensor& x) const = 0;
};

/// A schedule and its program order, computed once for all steps.
class PipelineProgram {
 public:
  /// Errors: those of pipeline::program_order.
  PipelineProgram(distributed::pipeline::Schedule schedule)
      : schedule_(std::move(schedule)),
        order_(program_order(schedule_)),
        released_(release_points(schedule_, order_)) {}

  /// The program of a schedule. The thread keeps the last one, since ranks of a dry run follow one
  /// another. Errors: those of pipeline::make_schedule.
  static std::shared_ptr<const PipelineProgram> of(distributed::pipeline::ScheduleKind kind,
                                                   int stages, int micro_batches, int chunks);

  const distributed::pipeline::Schedule& schedule() const { return schedule_; }
  const std::vector<distributed::pipeline::ScheduleStep>& order() const { return order_; }
  /// The transfers whose messages are released after each step (pipeline::release_points).
  const std::vector<std::vector<size_t>>& released() const { return released_; }

 private:
  distributed::pipeline::Schedule schedule_;
  std::vector<distributed::pipeline::ScheduleStep> order_;
  std::vector<std::vector<size_t>> released_;
};

/// Runs one step forward and backward. Gradients of loss_scale * (mean loss over micro-batches)
/// accumulate in all parameters.
///
/// `repeats_idle`: an action in which this rank launches and sends nothing runs for one micro-batch
/// only; for the others its result is repeated. Everything that the rank does stays as it is, but
/// the number of clipped operators. For dry runs of many stages.
///
/// Shapes   `loss_scale`: plain, float32, one element; undefined: 1.
/// Returns  The mean loss, not scaled, 0-D on the last stage's mesh; it may be partial.
/// Ranks    Every rank of all stages calls it.
/// Errors   InvalidArgument if schedule and model have different numbers of chunks.
Tensor run_schedule(PipelineModel& model, const PipelineProgram& program,
                    const Tensor& loss_scale = Tensor(), bool repeats_idle = false);

/// Runs the forward pass alone, without tracking gradients, one micro-batch after the other.
Tensor run_forward(PipelineModel& model, int64_t micro_batches);

}  // namespace phi::training
