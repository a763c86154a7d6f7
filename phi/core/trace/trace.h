// Trace: an observer that keeps the timeline of one rank as a list of events. It receives spans,
// and no other events. Traces of all ranks form a picture of the job (trace_json.h).
//
//   Trace trace;
//   {
//     const ObserverScope scope(trace);            // of the calling rank
//     const TraceScope span(RankContext::current(), TraceKind::kOp, "matmul");
//   }
//   append_events(trace, {.rank = 0}, &json);      // phi/core/trace/trace_json.h
//
// Events have a fixed size and are allocated in chunks; equal texts are stored once. Events beyond
// the limit are only counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "phi/core/observer.h"
#include "phi/core/rank_context.h"

namespace phi {

enum class TraceKind : uint8_t {
  kStep,           // a step of the job; also the work before and after the steps
  kAction,         // forward, backward, optimizer of a schedule; recomputation within it
  kClippedAction,  // an action of other ranks
  kOp,             // a kernel, or a view
  kStepOfProgram,  // other steps of a captured program: copies, moves, repeated kernels
  kClipped,        // an op of other ranks; has no duration
  kReshard,        // a reshard and its steps
  kCall,           // a call of a group, or the wait for a started one
  kInFlight,       // messages of a started call, from start to arrival; overlaps other events
  kSend,           // the tail of an arrow: a point in time within a call
  kReceive,        // the head of an arrow
};
/// "step", "action", "op", ...
std::string_view name_of(TraceKind kind);

struct TraceEvent {
  static constexpr int64_t kUnfinished = -1;

  TraceKind kind = TraceKind::kOp;
  RankWork work;
  const char* name = "";
  const char* detail = nullptr;  // op: shapes; reshard: source and destination; call: group
  const char* caller = nullptr;  // the op that communicates
  int64_t start_ns = 0;          // Trace::now_ns at the start
  int64_t duration_ns = kUnfinished;
  uint64_t id = 0;          // identifies an arrow: equal at both ends, otherwise unique
  uint64_t sequence = 0;    // number of the call in its group; 0: not a call
  int64_t peer = -1;        // the other rank; -1: none
  int64_t bytes_sent = -1;  // -1: does not apply
  int64_t bytes_received = -1;
};

class Trace : public Observer {
 public:
  static constexpr size_t kDefaultLimit = size_t{1} << 19;  // 48 MiB

  explicit Trace(size_t limit = kDefaultLimit) : limit_(limit) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  Trace* trace() final { return this; }

  /// Adds an event that starts at the time of the call, with the work of the calling rank. Its
  /// address is stable. Returns null at the limit, and counts the event as dropped.
  TraceEvent* add(TraceKind kind, const char* name);

  size_t size() const { return size_; }
  size_t dropped() const { return dropped_; }
  /// Events in the order of their starts, except kInFlight events, which are added at their ends.
  const TraceEvent& operator[](size_t i) const { return chunks_[i / kChunk][i % kChunk]; }

  /// Returns a text that lives as long as the trace: the same for equal keys. Calls `make()` at the
  /// first use of a key.
  template <typename Make>
  const char* text(std::string_view key, Make&& make) {
    const auto known = texts_.find(key);
    return known != texts_.end() ? known->second.c_str() : keep(key, make());
  }
  const char* text(std::string_view text) {
    return this->text(text, [text] { return std::string(text); });
  }

  static int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  static constexpr size_t kChunk = 4096;

  const char* keep(std::string_view key, std::string text);

  const size_t limit_;
  size_t size_ = 0;
  size_t dropped_ = 0;
  std::vector<std::unique_ptr<TraceEvent[]>> chunks_;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> texts_;  // nodes do not move
};

/// Adds an event that lasts for the lifetime of this object to the traces of the rank's observers.
class TraceScope {
 public:
  TraceScope(RankContext& rank, TraceKind kind, const char* name) {
    if (rank.observers().any_traces()) [[unlikely]]
      open(rank.observers(), kind, name);
  }
  ~TraceScope() {
    if (open_) [[unlikely]]
      close();
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

  /// Whether a trace has the event.
  bool is_open() const { return open_ != nullptr; }
  /// Calls f(Trace&, TraceEvent&) for each trace that has the event, to fill further fields.
  template <typename F>
  void fill(const F& f) const {
    for (const OpenEvent* one = open_.get(); one; one = one->next.get()) f(one->trace, one->event);
  }

 private:
  struct OpenEvent {
    Trace& trace;
    TraceEvent& event;
    std::unique_ptr<OpenEvent> next;
  };
  void open(const Observers& observers, TraceKind kind, const char* name);
  void close() const;

  std::unique_ptr<OpenEvent> open_;
};

}  // namespace phi
