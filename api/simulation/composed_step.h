// Composed steps: the time of a training step from the times of a few captured parts.
//
//   const auto layer = std::make_shared<Body>(Body{{forward}, {backward}});   // record_step's
//   BodyTimes times(machine);
//   ComposedStep step;
//   step.schedule = make_schedule(ScheduleKind::k1F1B, 1, 32);
//   step.parts = {{{layer, 24}}};
//   step.updates = {{}};
//   const double seconds = simulate(step, times);
//
// A planner asks for the times of thousands of layouts. Equal layers are recorded and simulated
// once for each mesh, number of rows and micro-batch; a step is then the schedule of their times,
// which simulate() plays with one rank for each stage.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "distributed/pipeline/schedules/schedule.h"
#include "distributed/simulator/machine.h"
#include "distributed/simulator/rank_program.h"

namespace phi::simulation {

/// The programs of ranks 0, 1, ... Ranks with empty ones do the same as others, at the same time,
/// and use their parts of shared links.
using RankPrograms = std::vector<distributed::simulator::RankProgram>;

/// A part of a model, such as a transformer layer, on the ranks of one stage.
struct Body {
  RankPrograms forward;   // of a micro-batch
  RankPrograms backward;  // of a micro-batch, recomputation included
  /// The part of `backward` that zero-bubble schedules defer: weight gradients. Empty: nothing.
  RankPrograms backward_weight{};
};

struct BodySeconds {
  double forward = 0;
  double backward = 0;
  double backward_weight = 0;  // of `backward`
};

/// Simulates each body once, as if each rank had a core of its own. `machine` must outlive this.
class BodyTimes {
 public:
  explicit BodyTimes(const distributed::simulator::MachineModel& machine) : machine_(machine) {}

  const distributed::simulator::MachineModel& machine() const { return machine_; }
  /// Errors: those of simulator::simulate.
  BodySeconds of(const std::shared_ptr<const Body>& body);
  double seconds_of(const RankPrograms& programs) const;

 private:
  const distributed::simulator::MachineModel& machine_;
  std::map<std::shared_ptr<const Body>, BodySeconds> known_;
};

struct RepeatedBody {
  std::shared_ptr<const Body> body;
  int64_t times = 1;
};

/// A step of stages whose ranks do the same. Rank r of stage i is rank i * ranks_per_stage + r of
/// the world, and exchanges activations with rank r of the next stage.
struct ComposedStep {
  distributed::pipeline::Schedule schedule;
  /// The bodies of each virtual stage, in the order of the model.
  std::vector<std::vector<RepeatedBody>> parts;
  int64_t ranks_per_stage = 1;
  /// Bytes of activations that a rank sends to the next stage for a micro-batch; gradients have the
  /// same size.
  int64_t bytes_between = 0;
  /// Programs that the ranks of a stage run after each receive, such as an all-gather. Optional.
  RankPrograms after_receive;
  /// Gradients that the first and the last stage add up, of an embedding that is also the head.
  int64_t tied_bytes = 0;
  /// The programs of each stage after its last micro-batch: gradient reductions and optimizer.
  /// Their groups are those of stage 0.
  std::vector<RankPrograms> updates;
};

/// The seconds of the step. Errors: InvalidArgument if a list has not one entry for each (virtual)
/// stage, and for two stages of several chunks; those of simulator::simulate.
double simulate(const ComposedStep& step, BodyTimes& times);

}  // namespace phi::simulation
