// Fills a trace per rank with simulated times.
#include "api/simulation/step_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "phi/core/trace/trace_json.h"

namespace phi::simulation {
namespace {

using distributed::simulator::CallWait;
using distributed::simulator::Computation;
using distributed::simulator::EventSpan;
using distributed::simulator::GroupCall;
using distributed::simulator::PeerTraffic;
using distributed::simulator::SimulatedStep;
using distributed::simulator::WorldPrograms;

int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

class RankTrace {
 public:
  RankTrace(const WorldPrograms& world, const SimulatedStep& step, size_t rank)
      : world_(world), program_(world.rank(rank)), rank_(static_cast<int64_t>(rank)) {
    add(TraceKind::kStep, "step 1", {0, step.seconds});
    const auto& events = world.events(program_.events);
    const std::vector<EventSpan>& spans = step.timeline[step.class_of[rank]];
    for (size_t i = 0; i < events.size(); ++i) {
      std::visit([&](const auto& event) { write(event, spans[i]); }, events[i]);
    }
  }
  const Trace& trace() const { return trace_; }

 private:
  TraceEvent* add(TraceKind kind, std::string_view name, const EventSpan& span) {
    TraceEvent* event = trace_.add(kind, trace_.text(name));
    if (!event) return nullptr;
    event->work.step = 1;
    event->start_ns = nanoseconds(span.start);
    event->duration_ns = nanoseconds(span.end) - event->start_ns;
    return event;
  }

  void write(const Computation& computation, const EventSpan& span) {
    add(TraceKind::kOp, computation.op, span);
  }
  void write(const GroupCall& call, const EventSpan& span) {
    calls_.push_back(&call);
    describe(add(call.is_started ? TraceKind::kInFlight : TraceKind::kCall, call.op, span), call);
  }
  void write(const CallWait& wait, const EventSpan& span) {
    const GroupCall& call = *calls_[wait.call];
    if (TraceEvent* event = add(TraceKind::kCall, "wait", span)) event->detail = group_of(call);
  }

  const char* group_of(const GroupCall& call) {
    const std::vector<int64_t>& ranks = world_.group(program_.groups[call.group]);
    return trace_.text(fmt::format("{}", call.group), [&] {
      constexpr size_t kMost = 16;
      const auto shown = std::span(ranks).first(std::min(kMost, ranks.size()));
      return fmt::format("{{{}{}}}", fmt::join(shown, ","), ranks.size() > kMost ? ",.." : "");
    });
  }
  void describe(TraceEvent* event, const GroupCall& call) {
    if (!event) return;
    event->detail = group_of(call);
    event->bytes_sent = event->bytes_received = 0;
    const std::vector<int64_t>& ranks = world_.group(program_.groups[call.group]);
    const auto own = static_cast<size_t>(std::ranges::find(ranks, rank_) - ranks.begin());
    for_each_peer(call, own, [&](const PeerTraffic& peer) {
      event->bytes_sent += peer.bytes_sent;
      event->bytes_received += peer.bytes_received;
    });
  }

  const WorldPrograms& world_;
  const WorldPrograms::Rank& program_;
  const int64_t rank_;
  Trace trace_;
  std::vector<const GroupCall*> calls_;
};

}  // namespace

StepTrace trace_of(const WorldPrograms& world, const SimulatedStep& step) {
  std::vector<size_t> rows = step.representatives;
  if (world.num_ranks() <= kMostTracedRanks) {
    rows.clear();
    for (size_t rank = 0; rank < world.num_ranks(); ++rank) rows.push_back(rank);
  }
  StepTrace out;
  out.ranks = rows.size();
  out.json = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  size_t dropped = 0;
  for (const size_t rank : rows) {
    const auto alike = std::ranges::count(step.class_of, step.class_of[rank]);
    const TraceProcess process{static_cast<int64_t>(rank),
                               fmt::format("rank {} · simulated, one of {} alike", rank, alike)};
    const RankTrace own(world, step, rank);
    append_process(process, &out.json);
    append_events(own.trace(), process, &out.json);
    out.events += own.trace().size();
    dropped += own.trace().dropped();
  }
  end_events(&out.json);
  out.json +=
      fmt::format("],\"otherData\":{{\"events\":{},\"dropped_events\":{},\"simulated\":true}}}}\n",
                  out.events, dropped);
  return out;
}

}  // namespace phi::simulation
