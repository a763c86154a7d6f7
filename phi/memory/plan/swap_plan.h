// SwapPlan: where every buffer of a program lies at every moment, planned before anything runs, so
// that no tier ever holds more than its limit.
//
//   SwapPlan plan = make_swap_plan(program, {.device_bytes = 256 << 20, .host_bytes = 1 << 30});
//
// If all values fit into the device's limit, buffers are placed by liveness and nothing moves. Else
// the use of every buffer is known in advance, and the plan
//   - evicts what is used farthest in the future, per byte and second that its way back costs,
//   - writes back only what has changed since the copy below it was made,
//   - drops what is recomputed more cheaply than written and read again,
//   - fetches ahead of use, disk to host and host to device, as far as there is room that nobody
//     needs sooner, and never before it is worth while,
//   - moves what remains when free memory is in too many pieces.
// A plan is steady: when a run ends, every kept buffer lies where it lay when the run began, so the
// same plan serves every run. Planning is a pure function of its arguments.
#pragma once

#include <array>
#include <limits>
#include <optional>

#include "phi/core/storage/tier.h"
#include "phi/memory/plan/swap_program.h"

namespace phi::memory {

inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
/// Buffers begin at multiples of this on the device, and occupy multiples of it.
inline constexpr int64_t kDeviceAlignment = 64;

/// What a buffer of `nbytes` occupies: multiples of 64 bytes on the device, of 4096 below it.
int64_t occupied_bytes(Tier tier, int64_t nbytes);

struct MemoryLimits {
  int64_t device_bytes = kUnlimited;
  int64_t host_bytes = 0;
  int64_t disk_bytes = 0;

  int64_t of(Tier tier) const {
    return tier == Tier::kDevice ? device_bytes : tier == Tier::kHost ? host_bytes : disk_bytes;
  }
};

/// Host bytes that a disk tier needs at least.
inline constexpr int64_t kLeastStaging = 8192;

/// What a transfer costs, as far as known. Only the choice and timing of transfers depend on it.
struct TransferCosts {
  double host_bytes_per_s = 10e9;  // between device and host, each way
  double disk_bytes_per_s = 1e9;   // from and to disk together
  double move_bytes_per_s = 10e9;  // within the device
  double latency_s = 10e-6;        // of each transfer

  double seconds(Tier from, Tier to, int64_t nbytes) const;
};

/// One transfer, or the end of a copy. It begins after launch `issue` - 1 and the actions in
/// `after` are done, and is done before launch `due` begins; `due` = the number of launches: before
/// the run ends. Between these points it runs beside the launches.
struct SwapAction {
  enum class Kind : uint8_t {
    kCopy,  // the value comes to lie on `to` too; device to device: moves within the arena
    kDrop,  // the copy on `from`, host or disk, ends; at once if it need not wait for anything
  };
  Kind kind = Kind::kCopy;
  Tier from = Tier::kDevice;
  Tier to = Tier::kDevice;
  /// A copy whose source, on host or disk, ends with it.
  bool release_source = false;
  BufferId buffer = 0;
  int64_t from_offset = -1;  // in the arena, where `from` is the device
  int64_t to_offset = -1;    // in the arena, where `to` is the device
  int32_t issue = 0;
  int32_t due = 0;
  std::vector<int32_t> after = {};  // earlier indices of SwapPlan::actions
};

/// One execution of a step. Steps appear in the program's order; a step that is recomputed appears
/// once more where its result is needed again.
struct SwapLaunch {
  int32_t step = 0;
  bool recompute = false;
  int32_t first_offset = 0;  // in SwapPlan::offsets
};

/// Where the value of a buffer lies between two runs. Several tiers may hold the same value.
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
  /// Of every launch in turn: the arena offsets of the step's operands in their order, then of its
  /// scratch if it has any.
  std::vector<int64_t> offsets;
  std::vector<SwapAction> actions;  // ordered by `issue`
  /// By buffer: where given values lie when a run begins. put() brings them there.
  std::vector<SwapResidence> start;
  /// By buffer: where kept values lie when a run has ended. The same as `start` for those given.
  std::vector<SwapResidence> end;
  /// Host bytes that values pass through between disk and device; part of the host's limit.
  int64_t staging_bytes = 0;
  int64_t arena_bytes = 0;  // at most limits.device_bytes
  /// The most bytes of values that must be on the device at once with no transfer at all.
  int64_t live_bytes = 0;
  std::array<int64_t, kNumTiers> peak_bytes{};  // by tier
  TransferStats transfers;                      // of one run

  int64_t offset(int32_t launch, int32_t operand) const {
    const auto first = static_cast<size_t>(launches[static_cast<size_t>(launch)].first_offset);
    return offsets[first + static_cast<size_t>(operand)];
  }
};

/// `device_bytes_beside` of the device's limit are not the plan's to use; its `limits` are without
/// them. Errors: InvalidArgument if a step reads what has no value or the program is malformed;
/// ResourceExhausted if it cannot run within the limits, naming the step, the bytes that it needs,
/// and the least device limit with which planning works.
SwapPlan make_swap_plan(const SwapProgram& program, const MemoryLimits& limits,
                        const TransferCosts& costs = {}, int64_t device_bytes_beside = 0);

}  // namespace phi::memory
