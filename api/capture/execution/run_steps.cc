// Runs steps within scopes that name them in errors and traces.
#include "api/capture/execution/run_steps.h"

#include "api/capture/execution/bind_buffers.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace/trace.h"

namespace phi {
namespace {

// Adds ops without a step to the traces: views, and ops of other ranks.
void show(const RankContext& rank, const ir::TracedOps& ops) {
  if (!rank.observers().any_traces()) [[likely]]
    return;
  rank.observers().each_trace([&](Trace& trace) {
    for (const TraceEvent* op : ops) {
      TraceEvent* const event = trace.add(op->kind, op->name);
      if (!event) continue;
      if (op->detail) event->detail = trace.text(op->detail);
      if (op->kind == TraceKind::kOp) event->duration_ns = 0;
    }
  });
}

// The trace span of a step, preceded by the ops before it that have no step. Each op that the rank
// counts has one event; steps that are not ops have events of another kind.
class TracedStep {
 public:
  TracedStep(RankContext& rank, const ir::RecordedStep& step, bool again)
      : span_(shown_before(rank, step, again),
              step.op && !again ? TraceKind::kOp : TraceKind::kStepOfProgram, step.name) {
    if (!span_.is_open() || !step.op || !step.op->detail) [[likely]]
      return;
    span_.fill(
        [&](Trace& trace, TraceEvent& event) { event.detail = trace.text(step.op->detail); });
  }

 private:
  static RankContext& shown_before(RankContext& rank, const ir::RecordedStep& step, bool again) {
    if (!again) show(rank, step.before);
    return rank;
  }

  TraceScope span_;
};

}  // namespace

void run_steps(ProgramState& program, const ProgramArena& arena,
               const std::function<void(const RunLaunch&)>& run_all) {
  RankContext& rank = RankContext::current();
  int32_t current = 0;
  const char* name = "";
  const auto run = [&](int32_t launch) {
    const memory::SwapLaunch& planned = arena.plan().launches[static_cast<size_t>(launch)];
    ir::RecordedStep& step = program.steps[static_cast<size_t>(planned.step)];
    current = launch;
    name = step.name;
    const OpScope scope(name);
    const TracedStep traced(rank, step, planned.recompute);
    step.step->run();
  };
  try {
    run_all(run);
    show(rank, program.trailing_ops);
  } catch (Error& error) {
    error.note(fmt::format("step {} ({}) of a captured program", current, name));
    throw;
  }
  const ir::Recording& recording = *program.recording;
  rank.counters().ops_launched += recording.counted().ops_launched;
  rank.counters().ops_clipped += recording.counted().ops_clipped;
  rank.generator().skip(recording.draws());
}

void run_in_order(ProgramState& program, const ProgramArena& arena, const RunLaunch& run) {
  memory::SwapEngine* const engine = arena.engine().get();  // null in a dry run
  const auto launches = static_cast<int32_t>(arena.plan().launches.size());
  for (int32_t launch = 0; launch < launches; ++launch) {
    if (arena.binds_each_launch()) {
      const int32_t step = arena.plan().launches[static_cast<size_t>(launch)].step;
      bind_launch(program, arena, program.steps[static_cast<size_t>(step)], launch);
    }
    if (engine) engine->before_launch(launch);
    run(launch);
    if (engine) engine->after_launch(launch);
  }
}

}  // namespace phi
