// Replay: captures steps of a program into device graphs (Device::capture) and launches the graphs
// instead of running the steps.
//
// A segment is a sequence of consecutive steps that are captured into one graph. A step belongs to
// a segment if it is repeatable and only launches kernels. A step that synchronises is found when
// the device refuses to capture it; from then on it runs outside of segments. Graphs contain
// addresses, so a segment is captured again if its steps' buffers have moved.
//
// Steps with messages belong to segments if the world captures messages too (Communicator::record).
// Either all of them do, on all ranks that run the program, or none: if one side of a message is in
// a graph, the other side must be in a graph. At the beginning of each run the ranks agree on how
// to run these segments. What a rank tests before that, it tests without messages.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/capture/execution/replay_ranks.h"
#include "phi/core/device/device.h"
#include "phi/core/device/launch_graph.h"
#include "phi/core/rank_context.h"

namespace phi {

namespace ir {
struct RecordedStep;
}

/// The properties of a step that a replay needs.
struct ReplayStep {
  bool is_repeatable = false;
  bool has_messages = false;
  bool is_kernel = false;
  bool waits = false;  // synchronises with the device; set when a capture of it was refused
  /// The number of the step that starts or finishes the same transfer: the step's own number if it
  /// does both, -1 if that step does not exist.
  int64_t other_half = -1;
};

/// Returns the properties of the steps, which contain no scans.
std::vector<ReplayStep> replay_steps(const std::vector<ir::RecordedStep>& steps);

class Replay {
 public:
  /// `ranks`: the ranks that run the program, if messages can be captured; null: steps with
  /// messages run outside of segments.
  Replay(Device& device, std::vector<ReplayStep> steps, std::unique_ptr<ReplayRanks> ranks);

  /// Whether there are segments to capture, or ranks to agree with.
  bool is_of_use() const { return !segments_.empty() || ranks_; }
  using RunStep = std::function<void(size_t step)>;
  using Addresses = std::vector<const std::byte*>;
  /// Returns the addresses of the buffers that steps [begin, end) use; empty if a buffer has none.
  using Locate = std::function<std::optional<Addresses>(size_t begin, size_t end)>;
  /// Same effect as running all steps in order. Requires that all steps have been run once before.
  void run(const RunStep& step, const Locate& locate);
  /// Called if this rank runs all steps one by one in this run. With ranks it is collective: the
  /// other ranks do not launch graphs with messages in this run.
  void skip_run();

 private:
  struct GraphSegment {
    size_t begin;
    size_t end;
    bool has_messages;
    bool is_tried = false;  // a capture without its messages has succeeded
    std::unique_ptr<LaunchGraph> record = nullptr;
    Addresses addresses = {};
    Counters counted = {};  // traffic of the messages of one launch
    int unused = 0;         // successive records that were not launched again
  };
  // How a run executes segments with messages. The ranks agree on the minimum of their own ways.
  enum class ReplayMode : int64_t {
    kNeverLaunched,  // in this and all later runs, steps with messages run outside of segments
    kByStep,         // in this run, step by step
    kCaptured,       // captured, then launched
    kLaunched,       // the existing graphs are launched
    kNoMessages,     // no segment has messages
  };

  bool belongs(size_t step) const;
  void try_step(size_t at, const RunStep& step) const;
  void find_segments();
  bool has_half_transfer(const GraphSegment& segment) const;
  bool all_messages_belong() const;
  ReplayMode own_mode(const Locate& locate);
  void agree(ReplayMode own);
  bool is_ready(GraphSegment& segment, const RunStep& step, const Locate& locate);
  bool is_found_ready(GraphSegment& segment, const RunStep& step, const Locate& locate);
  std::unique_ptr<LaunchGraph> try_out(const GraphSegment& segment, const RunStep& step);
  void capture_with_messages(GraphSegment& segment, const RunStep& step, const Locate& locate);
  void launch(GraphSegment& segment);
  void leave_out(size_t begin, size_t end);

  Device& device_;
  std::vector<ReplayStep> steps_;
  std::unique_ptr<ReplayRanks> ranks_;     // null: no messages are captured
  ReplayMode mode_ = ReplayMode::kByStep;  // of this run
  std::vector<GraphSegment> segments_;     // in order
  bool messages_belong_ = false;           // all messages are in segments, each with both halves
  bool changed_ = false;                   // steps_ has changed since segments_ was computed
};

}  // namespace phi
