// SwapEngine: runs a SwapPlan. It owns the device arena, the host copies and the swap file, moves
// what the plan says beside the caller's launches, and counts.
//
//   SwapEngine engine(make_swap_plan(program, limits), {.disk_folder = "/scratch"});
//   engine.put(weight, bytes);
//   for (int run = 0; run < runs; ++run) {
//     engine.begin_run();
//     for (int32_t i = 0; i < engine.num_launches(); ++i) {
//       engine.before_launch(i);
//       compute(engine.step(i), engine.pointer(i, 0), engine.pointer(i, 1));
//       engine.after_launch(i);
//     }
//     engine.end_run();
//   }
//   engine.get(weight, out);
//
// On a device of its own, whose work goes on while the host does, a transfer comes after what was
// launched before it, in the order of the device. One that copies beside what it computes
// (phi/core/device/side_copies.h) is given transfers and launches as they come and keeps their
// order itself; the host waits for it where bytes go to the disk, come from there, or are asked
// for.
//
// All calls come from one thread, the rank's own; transfers are counted there
// (phi/core/storage/tier.h).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "phi/common/place.h"
#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

class IoEngine;

struct SwapEngineOptions {
  /// Where the program's steps compute: its memory is taken there.
  Place place = CPUPlace();
  /// Where the temporary file of the disk tier is made, if the limits have one.
  std::string disk_folder = "/tmp";
  /// What carries its I/O; null: a new one by make_io_engine().
  std::shared_ptr<IoEngine> io_engine = nullptr;
};

/// Since the engine was made, puts and gets left out.
struct SwapEngineStats {
  TransferStats transfers;
  /// In which at least one transfer was under way, but for those that a device carries by itself.
  double transfer_seconds = 0;
  double wait_seconds = 0;  // in which the caller waited for one: what compute did not hide
  std::array<int64_t, kNumTiers> peak_bytes{};  // by tier, puts included
  int64_t recomputed_launches = 0;
};

class SwapEngine {
 public:
  /// Takes the whole arena from the system here. Errors: ResourceExhausted; those of
  /// SwapFile::create if the limits have a disk.
  explicit SwapEngine(SwapPlan plan, SwapEngineOptions options = {});
  /// Waits for the transfers under way; leaves no file behind.
  ~SwapEngine();
  SwapEngine(const SwapEngine&) = delete;
  SwapEngine& operator=(const SwapEngine&) = delete;

  const SwapPlan& plan() const;
  /// Where the plan's device memory is.
  const Place& place() const;
  int32_t num_launches() const { return static_cast<int32_t>(plan().launches.size()); }
  /// The program's step that launch `launch` executes.
  int32_t step(int32_t launch) const { return plan().launches[static_cast<size_t>(launch)].step; }

  /// Writes bytes [offset, offset + out.size()) of a value to `out`.
  using Fill = std::function<void(int64_t offset, std::span<std::byte> out)>;
  /// Gives a buffer its value, between runs, on the tier where the plan wants it. `fill` writes
  /// into place, in one piece where that is memory and piece by piece where it is the disk, so a
  /// value never takes more room than the limits give. Errors: InvalidArgument if the buffer is not
  /// `given`, or the size is wrong; PreconditionNotMet during a run.
  void put(BufferId buffer, std::span<const std::byte> value);
  void put(BufferId buffer, const Fill& fill);
  /// Reads the value of a buffer between runs: of one that was put, or that a run has kept.
  /// Errors: PreconditionNotMet if it has none; InvalidArgument if the size is wrong.
  void get(BufferId buffer, std::span<std::byte> out);

  /// Errors: PreconditionNotMet if a given buffer has no value: one that is not kept needs a put
  /// before each run.
  void begin_run();
  /// Waits for what launch `launch` needs. Errors: of the transfers, with the buffer's name.
  void before_launch(int32_t launch);
  /// Where an operand of the step lies while `launch` runs, on the options' place; one past the
  /// operands: its scratch.
  std::byte* pointer(int32_t launch, int32_t operand) const;
  /// The device memory of the plan: plan().arena_bytes, in which its offsets count.
  std::byte* arena() const;
  void after_launch(int32_t launch);
  /// All launches that are left were done at once. Errors: PreconditionNotMet if the plan has
  /// transfers, which come between them.
  void skip_launches();
  /// Waits for all transfers of the run; what a device carries by itself comes before what is
  /// launched from here on.
  void end_run();

  SwapEngineStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace phi::memory
