// Replay: steps of a program that a device has written down (Device::record), one after the other
// in pieces, and launches again in place of running them.
//
// A step belongs to a piece if it is repeatable and launches only; what waits for the device is
// found when the device refuses to write it down, and is run by itself from then on. What is
// written down holds addresses, so a piece is written anew when what its steps use lies elsewhere.
//
// Steps with messages belong to pieces where the world writes down messages as well
// (World::record), and all of them do on all ranks that run the program, or none: the other side of
// a message that is launched is launched. At the beginning of each run
// the ranks agree on how they go. What each finds out by itself before that, it finds without a
// message.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/capture/replay_ranks.h"
#include "phi/core/device/device.h"
#include "phi/core/device/launch_record.h"
#include "phi/core/rank_context.h"

namespace phi {

namespace ir {
struct RecordedStep;
}

/// What a replay needs to know of a step.
struct ReplayStep {
  bool is_repeatable = false;
  bool has_messages = false;
  bool is_kernel = false;
  bool waits = false;  // for the device: found when it was tried
  /// The step that has the other half of what is under way in between: its own number where
  /// nothing is, -1 where there is none.
  int64_t other_half = -1;
};

/// Of the steps of a program without scans.
std::vector<ReplayStep> replay_steps(const std::vector<ir::RecordedStep>& steps);

class Replay {
 public:
  /// `ranks`: those that run the program, where messages can be written down; null: steps with
  /// messages are run by themselves.
  Replay(Device& device, std::vector<ReplayStep> steps, std::unique_ptr<ReplayRanks> ranks);

  /// There is something to write down, or to be agreed on.
  bool is_of_use() const { return !pieces_.empty() || ranks_; }
  using RunStep = std::function<void(size_t step)>;
  using Addresses = std::vector<const std::byte*>;
  /// Where the bytes lie that steps [begin, end) use; nothing if some of them lie nowhere.
  using Locate = std::function<std::optional<Addresses>(size_t begin, size_t end)>;
  /// Does what running all steps would do, in their order. They have all been run before.
  void run(const RunStep& step, const Locate& locate);
  /// This rank runs all steps by itself this time; with ranks it is said to the others.
  void stand_aside();

 private:
  struct Piece {
    size_t begin;
    size_t end;
    bool has_messages;
    bool is_tried = false;  // what it does beside its messages can be written down
    std::unique_ptr<LaunchRecord> record = nullptr;
    Addresses addresses = {};
    Counters counted = {};  // of the messages of a launch
    int unused = 0;         // records that were launched once and served no other run
  };
  // How a run goes with its messages. The ranks take the least of what each could do.
  enum class Way : int64_t {
    kNeverLaunched,  // from now on steps with messages are run by themselves
    kByStep,
    kWrittenDown,
    kLaunched,
    kNoMessages,  // there are none
  };

  bool belongs(size_t step) const;
  void try_step(size_t at, const RunStep& step) const;
  void find_pieces();
  bool has_apart_half(const Piece& piece) const;
  bool all_messages_belong() const;
  Way own_way(const Locate& locate);
  void agree(Way own);
  bool is_ready(Piece& piece, const RunStep& step, const Locate& locate);
  bool is_found_ready(Piece& piece, const RunStep& step, const Locate& locate);
  std::unique_ptr<LaunchRecord> try_out(const Piece& piece, const RunStep& step);
  void write_down_with_messages(Piece& piece, const RunStep& step, const Locate& locate);
  void launch(Piece& piece);
  void leave_out(size_t begin, size_t end);

  Device& device_;
  std::vector<ReplayStep> steps_;
  std::unique_ptr<ReplayRanks> ranks_;  // null: no messages are written down
  Way way_ = Way::kByStep;              // of this run
  std::vector<Piece> pieces_;           // in order
  bool messages_belong_ = false;        // all of them to pieces, each with both halves
  bool changed_ = false;                // steps_, since the pieces were found
};

}  // namespace phi
