// Trace: what one rank did when, event by event, for a picture of the whole job.
//
//   Trace trace;
//   RankContext::current().trace_to(&trace);      // from here on; null: off
//   { const TraceScope span(RankContext::current().trace(), TraceKind::kOp, "matmul"); ... }
//   append_events(trace, {.rank = 0}, &json);      // phi/core/trace/trace_json.h
//
// A rank that keeps none pays one test of a pointer per op. An event is of fixed size
// in memory that was set aside for many of them; its texts are kept once each. When the limit is
// reached, later events are only counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace phi {

enum class TraceKind : uint8_t {
  kStep,           // of the job; also the work before and after the steps
  kAction,         // of a schedule: forward, backward, optimizer; and recomputing within it
  kClippedAction,  // one of other ranks
  kOp,             // a kernel, or a view
  kStepOfProgram,  // what a captured program does besides: copies, moves, kernels run once more
  kClipped,        // an op of other ranks: a moment
  kReshard,        // a reshard and its steps
  kCall,           // a call of a group, or waiting for one that was started
  kInFlight,       // messages of a started call, from start to arrival; overlaps anything
  kSend,           // the tail of an arrow: a moment within a call
  kReceive,        // its head
};
/// "step", "action", "op", ...
std::string_view name_of(TraceKind kind);

/// What the rank is working on. -1: nothing of the kind.
struct TraceWork {
  int32_t step = -1;
  int32_t micro_batch = -1;
  int32_t chunk = -1;  // the part of the model, counted from its start
};

struct TraceEvent {
  static constexpr int64_t kUnfinished = -1;

  TraceKind kind = TraceKind::kOp;
  TraceWork work;
  const char* name = "";
  const char* detail = nullptr;  // of ops: shapes; of reshards: from what to what; of calls: group
  const char* caller = nullptr;  // the op that communicates
  int64_t start_ns = 0;          // of Trace::now_ns
  int64_t duration_ns = kUnfinished;
  uint64_t id = 0;          // of an arrow: the same at both ends and nowhere else
  uint64_t sequence = 0;    // of the call in its group; 0: no call
  int64_t peer = -1;        // the other rank, where there is one
  int64_t bytes_sent = -1;  // -1: not about bytes
  int64_t bytes_received = -1;
};

class Trace {
 public:
  static constexpr size_t kDefaultLimit = size_t{1} << 19;  // 48 MiB

  explicit Trace(size_t limit = kDefaultLimit) : limit_(limit) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// A new event that begins now; its address stays. Null when the limit is reached: the event is
  /// counted as dropped.
  TraceEvent* add(TraceKind kind, const char* name);

  size_t size() const { return size_; }
  size_t dropped() const { return dropped_; }
  /// In the order of their starts, but for kInFlight, which are added when they end.
  const TraceEvent& operator[](size_t i) const { return chunks_[i / kChunk][i % kChunk]; }

  /// The rank's work from here on; events that are added take it over.
  const TraceWork& work() const { return work_; }
  void set_work(const TraceWork& work) { work_ = work; }

  /// A text of the trace's own that lives as long: the same for an equal key, for which `make()` is
  /// asked once.
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
  TraceWork work_;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> texts_;  // nodes do not move
};

/// One event for as long as this lives; nothing where `trace` is null.
class TraceScope {
 public:
  TraceScope(Trace* trace, TraceKind kind, const char* name)
      : event_(trace ? trace->add(kind, name) : nullptr) {}
  ~TraceScope() {
    if (event_) [[unlikely]]
      event_->duration_ns = Trace::now_ns() - event_->start_ns;
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

  /// The event, to say more of it; null where there is no trace.
  TraceEvent* event() const { return event_; }

 private:
  TraceEvent* event_;
};

/// Work on a micro-batch while this lives; nothing where `trace` is null.
class TraceWorkScope {
 public:
  TraceWorkScope(Trace* trace, int64_t micro_batch, int chunk) : trace_(trace) {
    if (!trace) return;
    outer_ = trace->work();
    trace->set_work({outer_.step, static_cast<int32_t>(micro_batch), chunk});
  }
  ~TraceWorkScope() {
    if (trace_) trace_->set_work(outer_);
  }
  TraceWorkScope(const TraceWorkScope&) = delete;
  TraceWorkScope& operator=(const TraceWorkScope&) = delete;

 private:
  Trace* trace_;
  TraceWork outer_;
};

}  // namespace phi
