// Group: an ordered set of ranks and the collective calls among them.
//
//   Group& group = World::current().group(ranks);          // members only; costs no communication
//   HostArray bytes(x, HostArray::kUpdate);
//   group.all_reduce(bytes.data(), x.numel(), x.dtype(), ReduceKind::kSum);
//
// Every member issues the same calls in the same order; each call has a sequence number in its
// group. Counts are in elements of the dtype; a peer is a position in the group, not a rank.
// Calls, but for start_exchange, return when the caller's buffers may be used again. Input and
// output must not overlap unless a call says so. Reductions combine in the order of positions, so
// every member gets the same bits; 16-bit floats are accumulated in float and rounded once.
//
// Errors of every call: ExecutionTimeout if a peer does not come within World::deadline(), with
// what each rank was last doing; Unavailable if another rank failed; InvalidArgument if the peers'
// calls do not match (where the backend can tell).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/comm/transfer.h"
#include "distributed/placement/placement.h"
#include "phi/common/dtype.h"

namespace phi::distributed {

class Messages;
class World;
struct Call;

enum class CommOp : uint8_t {
  kExchange = 0,
  kAllGather,
  kAllToAll,
  kAllReduce,
  kReduceScatter,
  kBroadcast,
  kBarrier,
};
std::string_view name_of(CommOp op);

/// One message to or from `peer`. Messages of one pair of ranks are matched in list order.
struct Send {
  int64_t peer = 0;
  const void* data = nullptr;
  size_t bytes = 0;
};
struct Recv {
  int64_t peer = 0;
  void* data = nullptr;
  size_t bytes = 0;
};

/// Arrays lie on the device of the group's world: on the host, but for a carrier's. Calls of a
/// carrier are done for whatever is launched on the device afterwards; the host goes on, but for
/// barrier, where it waits for the device first.
class Group {
 public:
  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::span<const int64_t> ranks() const { return ranks_; }
  int64_t size() const { return static_cast<int64_t>(ranks_.size()); }
  /// This rank's place in ranks().
  int64_t position() const { return position_; }
  /// Calls made so far.
  uint64_t calls() const { return calls_; }
  uint64_t hash() const { return hash_; }
  /// "{4,5}"
  const std::string& name() const { return name_; }

  /// `count` elements of each member, in order of position: out holds count * size().
  void all_gather(const void* in, void* out, int64_t count, DataType dtype);
  /// counts[i] elements of member i. `in` may be the member's own part of `out`.
  void all_gather_v(const void* in, void* out, std::span<const int64_t> counts,
                            DataType dtype);

  /// Part i of `in` goes to member i; part j of `out` comes from member j.
  void all_to_all(const void* in, void* out, int64_t count, DataType dtype);
  void all_to_all_v(const void* in, std::span<const int64_t> send_counts, void* out,
                            std::span<const int64_t> recv_counts, DataType dtype);

  /// `in` and `out` may be the same array.
  void all_reduce(const void* in, void* out, int64_t count, DataType dtype,
                          ReduceKind kind);
  void all_reduce(void* data, int64_t count, DataType dtype, ReduceKind kind) {
    all_reduce(data, data, count, dtype, kind);
  }

  /// Member i gets part i of the elementwise reduction; `in` holds all parts.
  void reduce_scatter(const void* in, void* out, int64_t count, DataType dtype, ReduceKind kind);
  void reduce_scatter_v(const void* in, void* out, std::span<const int64_t> counts,
                                DataType dtype, ReduceKind kind);

  /// Everyone gets what the member at position `root` has.
  void broadcast(void* data, int64_t count, DataType dtype, int64_t root);

  /// No member leaves before all have come.
  void barrier();

  /// Point-to-point messages, all under way at once; either list may be empty and a member may send
  /// to itself. Every member calls, also with nothing to do.
  void exchange(std::span<const Send> sends, std::span<const Recv> recvs);
  /// The same, returning when the messages are under way; any number of them may be, and other
  /// calls in between. It is a call like any other: it counts in the order of calls. `buffers` owns
  /// what the messages read and write and is kept until they are done; `counted_as` is the
  /// collective that they are in the rank's counters.
  Transfer start_exchange(std::span<const Send> sends, std::span<const Recv> recvs,
                                  std::shared_ptr<const void> buffers,
                                  CommOp counted_as = CommOp::kExchange);

 protected:
  /// `suffix` goes into the name.
  Group(World& world, std::vector<int64_t> ranks, int64_t position, uint64_t hash,
        std::string_view suffix = {});

  /// Where a library of collectives does one itself: does it and returns true. `counts` are the
  /// members' elements of a gathering or scattering. Without it calls are made of messages.
  virtual bool run_by_library(const Call& /*call*/, const void* /*in*/, void* /*out*/,
                              std::span<const int64_t> /*counts*/) {
    return false;
  }

 private:
  friend class World;

  class CallScope;
  struct PartSlice;
  bool by_library(const void* in, void* out, std::span<const int64_t> counts);
  void copy(void* to, const void* from, size_t bytes);
  void compare(const Call& call);
  bool sort_out(std::span<const Send> sends, std::span<const Recv> recvs, CommOp counted_as);
  void transfer(std::span<const Send> sends, std::span<const Recv> recvs);
  std::unique_ptr<Messages> post_slice(const PartSlice& slice, const std::byte* in,
                                       std::byte* arrived);
  void reduce_parts(const std::byte* in, std::byte* out, std::span<const int64_t> counts,
                    DataType dtype, ReduceKind kind);
  void gather_parts(const std::byte* in, std::byte* out, std::span<const int64_t> counts,
                    DataType dtype);
  void all_reduce_by_messages(const void* in, void* out, std::span<const int64_t> counts,
                              DataType dtype, ReduceKind kind);
  void reduce_by_gather(const void* in, void* out, int64_t count, DataType dtype, ReduceKind kind);

  World& world_;
  std::vector<int64_t> ranks_;
  int64_t position_;
  uint64_t hash_;
  std::string name_;
  uint64_t calls_ = 0;
  const Call* call_ = nullptr;  // the one under way
  // Reused from call to call, so that a steady state allocates nothing.
  std::vector<Send> sends_;
  std::vector<Recv> recvs_;
  std::vector<Send> remote_sends_;
  std::vector<Recv> remote_recvs_;
};

}  // namespace phi::distributed
