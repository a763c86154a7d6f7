// Storage of events and texts, and the names of event kinds.
#include "phi/core/trace/trace.h"

namespace phi {

std::string_view name_of(TraceKind kind) {
  switch (kind) {
    case TraceKind::kStep:
      return "step";
    case TraceKind::kAction:
      return "action";
    case TraceKind::kClippedAction:
      return "clipped_action";
    case TraceKind::kOp:
      return "op";
    case TraceKind::kStepOfProgram:
      return "program";
    case TraceKind::kClipped:
      return "clipped";
    case TraceKind::kReshard:
      return "reshard";
    case TraceKind::kCall:
      return "comm";
    case TraceKind::kInFlight:
      return "in_flight";
    case TraceKind::kSend:
    case TraceKind::kReceive:
      return "message";  // viewers join two ends with the same name, category and id
  }
  return "unknown";
}

TraceEvent* Trace::add(TraceKind kind, const char* name) {
  if (size_ == limit_) {
    ++dropped_;
    return nullptr;
  }
  if (size_ == chunks_.size() * kChunk) chunks_.emplace_back(new TraceEvent[kChunk]);
  TraceEvent& event = chunks_[size_ / kChunk][size_ % kChunk];
  ++size_;
  event.kind = kind;
  event.work = RankContext::current().work();
  event.name = name;
  event.start_ns = now_ns();
  return &event;
}

void TraceScope::open(const Observers& observers, TraceKind kind, const char* name) {
  std::unique_ptr<OpenEvent>* last = &open_;
  observers.each_trace([&](Trace& trace) {
    TraceEvent* const event = trace.add(kind, name);
    if (!event) return;
    last->reset(new OpenEvent{trace, *event, nullptr});
    last = &(*last)->next;
  });
}

void TraceScope::close() const {
  const int64_t now = Trace::now_ns();
  fill([&](Trace&, TraceEvent& event) { event.duration_ns = now - event.start_ns; });
}

const char* Trace::keep(std::string_view key, std::string text) {
  return texts_.emplace(key, std::move(text)).first->second.c_str();
}

}  // namespace phi
