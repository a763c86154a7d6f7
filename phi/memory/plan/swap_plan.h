// SwapPlan: the position of every buffer of a program at every moment, planned before the run so
// that no tier ever holds more than its limit.
//
//   SwapPlan plan = make_swap_plan(program, {.device_bytes = 256 << 20, .host_bytes = 1 << 30});
//
// If all values fit into the device's limit, buffers are placed by liveness and nothing moves.
// Otherwise the plan uses its knowledge of all uses:
//
// - It evicts the buffer that is used farthest in the future, per byte and second of the way back.
// - It writes a buffer back only if it changed since its copy on a lower tier was made.
// - It drops a buffer that costs less to recompute than to write and read.
// - It prefetches from disk to host and from host to device, in place of values that are used later
//   and not earlier than useful.
// - It compacts the device if free memory is too fragmented.
//
// A plan is steady: at the end of a run every kept buffer is where it was at the beginning, so one
// plan serves every run. Planning is a pure function of its arguments.
#pragma once

#include <array>
#include <limits>
#include <optional>

#include "phi/core/storage/tier.h"
#include "phi/memory/plan/swap_program.h"

namespace phi::memory {

inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
/// Alignment of buffers on the device, in bytes; their sizes are rounded up to it too.
inline constexpr int64_t kDeviceAlignment = 64;

/// Bytes that a buffer of `nbytes` occupies on a tier: a multiple of 64 on the device and of 4096
/// on lower tiers; at least one unit.
int64_t occupied_bytes(Tier tier, int64_t nbytes);

struct MemoryLimits {
  int64_t device_bytes = kUnlimited;
  int64_t host_bytes = 0;
  int64_t disk_bytes = 0;

  int64_t of(Tier tier) const {
    return tier == Tier::kDevice ? device_bytes : tier == Tier::kHost ? host_bytes : disk_bytes;
  }
};

/// Least host memory, in bytes, that a disk tier needs for staging.
inline constexpr int64_t kLeastStaging = 8192;

/// Estimated costs of transfers. Only the choice and timing of transfers depend on them.
struct TransferCosts {
  double host_bytes_per_s = 10e9;  // between device and host, in each direction
  double disk_bytes_per_s = 1e9;   // reads and writes of the disk together
  double move_bytes_per_s = 10e9;  // within the device
  double latency_s = 10e-6;        // per transfer

  double seconds(Tier from, Tier to, int64_t nbytes) const;
};

/// A transfer, or the end of a copy. It begins when launch `issue` - 1 and the actions in `after`
/// are complete, and completes before launch `due` begins, or before the run ends if `due` is the
/// number of launches. Between these points it runs concurrently with launches.
struct SwapAction {
  enum class Kind : uint8_t {
    kCopy,  // copies the value to `to`; from device to device: moves it within the arena
    kDrop,  // ends the copy on `from` (host or disk); at once if there is nothing to wait for
  };
  Kind kind = Kind::kCopy;
  Tier from = Tier::kDevice;
  Tier to = Tier::kDevice;
  /// Whether a copy drops its source, on host or disk, when it completes.
  bool release_source = false;
  SwapBufferId buffer = 0;
  int64_t from_offset = -1;  // arena offset, if `from` is the device
  int64_t to_offset = -1;    // arena offset, if `to` is the device
  int32_t issue = 0;
  int32_t due = 0;
  std::vector<int32_t> after = {};  // earlier indices of SwapPlan::actions
};

/// One execution of a step. Steps are in the program's order. A recomputed step has another launch
/// where its result is needed again.
struct SwapLaunch {
  int32_t step = 0;
  bool recompute = false;
  int32_t first_offset = 0;  // index of its first operand in SwapPlan::offsets
};

/// Position of a buffer's value between two runs. Several tiers may hold the same value.
struct SwapResidence {
  int64_t device_offset = -1;  // -1: not on the device
  bool host = false;
  bool disk = false;
  friend bool operator==(const SwapResidence&, const SwapResidence&) = default;
};

struct SwapPlan {
  std::vector<SwapBuffer> buffers;  // the program's
  MemoryLimits limits;
  std::vector<SwapLaunch> launches;
  /// Arena offsets, launch by launch: those of the step's operands in their order, then that of its
  /// scratch if it has any.
  std::vector<int64_t> offsets;
  std::vector<SwapAction> actions;  // ordered by `issue`
  /// By buffer: positions of given values when a run begins. SwapEngine::put stores them there.
  std::vector<SwapResidence> start;
  /// By buffer: positions of kept values when a run has ended. Equal to `start` for given values.
  std::vector<SwapResidence> end;
  /// Host memory for values that pass between disk and device; part of the host's limit.
  int64_t staging_bytes = 0;
  int64_t arena_bytes = 0;  // at most limits.device_bytes
  /// The most bytes of values that are alive at one step: the device memory that a run without
  /// transfers needs at least.
  int64_t live_bytes = 0;
  std::array<int64_t, kNumTiers> peak_bytes{};  // by tier
  TransferStats transfers;                      // of one run

  int64_t offset(int32_t launch, int32_t operand) const {
    const auto first = static_cast<size_t>(launches[static_cast<size_t>(launch)].first_offset);
    return offsets[first + static_cast<size_t>(operand)];
  }
};

/// Plans the runs of `program`. The plan leaves `device_bytes_beside` bytes of the device's limit
/// unused; its `limits` exclude them. Errors: InvalidArgument if a step reads a buffer that has no
/// value, or if the program is malformed; ResourceExhausted if the program cannot run within the
/// limits, naming the step, the bytes that it needs, and the least device limit with which planning
/// succeeds (to within 1/64).
SwapPlan make_swap_plan(const SwapProgram& program, const MemoryLimits& limits,
                        const TransferCosts& costs = {}, int64_t device_bytes_beside = 0);

}  // namespace phi::memory
