// SwapEngine: runs a SwapPlan. It owns the device arena, the host copies and the swap file. It runs
// the plan's transfers concurrently with the caller's launches, and counts them.
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
// On an asynchronous device a transfer is ordered after the launches that precede it. If the device
// overlaps copies with computation (phi/core/device/copy_queues.h), transfers and launches are
// enqueued at once and the device keeps their order. The host waits only for transfers from and to
// the disk, and in get().
//
// All calls must come from one thread, the rank's own. Transfers are counted for that rank
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
  /// The place on which the program's steps compute; the arena is allocated there.
  Place place = CPUPlace();
  /// The folder of the disk tier's temporary file, if the limits have a disk tier.
  std::string disk_folder = "/tmp";
  /// The I/O engine of the file; null: a new one from make_io_engine().
  std::shared_ptr<IoEngine> io_engine = nullptr;
};

/// Statistics since the engine was constructed, without puts and gets.
struct SwapEngineStats {
  TransferStats transfers;
  /// Time in which at least one transfer was in flight. Excludes transfers that a device performs
  /// by CopyQueues.
  double transfer_seconds = 0;
  double wait_seconds = 0;  // time in which the caller waited: the part that compute did not hide
  std::array<int64_t, kNumTiers> peak_bytes{};  // by tier, puts included
  int64_t recomputed_launches = 0;
};

class SwapEngine {
 public:
  /// Allocates the whole arena. Errors: ResourceExhausted; those of SwapFile::create if the limits
  /// have a disk tier.
  explicit SwapEngine(SwapPlan plan, SwapEngineOptions options = {});
  /// Waits for the transfers in flight, and removes the temporary file.
  ~SwapEngine();
  SwapEngine(const SwapEngine&) = delete;
  SwapEngine& operator=(const SwapEngine&) = delete;

  const SwapPlan& plan() const;
  /// The place of the plan's device memory.
  const Place& place() const;
  int32_t num_launches() const { return static_cast<int32_t>(plan().launches.size()); }
  /// The step of the program that launch `launch` executes.
  int32_t step(int32_t launch) const { return plan().launches[static_cast<size_t>(launch)].step; }

  /// Writes bytes [offset, offset + out.size()) of a value to `out`.
  using FillFunction = std::function<void(int64_t offset, std::span<std::byte> out)>;
  /// Sets a buffer's value between runs, on the tier where the plan needs it. `fill` is called once
  /// if that is memory, and piece by piece if it is the disk, so that a value never exceeds the
  /// limits. Errors: InvalidArgument if the buffer is not `given`, or if the size is wrong;
  /// PreconditionNotMet during a run.
  void put(SwapBufferId buffer, std::span<const std::byte> value);
  void put(SwapBufferId buffer, const FillFunction& fill);
  /// Copies the value of a buffer to `out` between runs. The buffer was put, or a run kept it.
  /// Errors: PreconditionNotMet if it has no value, or during a run; InvalidArgument if the size is
  /// wrong.
  void get(SwapBufferId buffer, std::span<std::byte> out);

  /// Begins a run. Errors: PreconditionNotMet if a given buffer has no value (a buffer that is not
  /// kept needs a put before each run), or during a run.
  void begin_run();
  /// Waits for the transfers that are due at launch `launch`. Errors: PreconditionNotMet outside of
  /// a run or if another launch is next; those of the transfers, with the buffer's name.
  void before_launch(int32_t launch);
  /// Address of an operand of the step during `launch`, on the options' place. The index after the
  /// last operand is the step's scratch.
  std::byte* pointer(int32_t launch, int32_t operand) const;
  /// The device memory of the plan: plan().arena_bytes bytes, to which the plan's offsets refer.
  std::byte* arena() const;
  /// Issues the transfers that may begin after launch `launch`.
  void after_launch(int32_t launch);
  /// Marks all remaining launches as done, if the caller ran them together. Errors:
  /// PreconditionNotMet outside of a run, or if the plan has transfers between launches.
  void skip_launches();
  /// Ends a run: waits for all of its transfers. Transfers by CopyQueues are only ordered before
  /// later launches. Errors: PreconditionNotMet if launches remain; those of the transfers.
  void end_run();

  SwapEngineStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace phi::memory
