// Group: an ordered set of ranks and the collective calls among them.
//
//   Group& group = World::current().group(ranks);          // members only; costs no communication
//   HostArray bytes(x, HostArray::kUpdate);
//   group.all_reduce(bytes.data(), x.numel(), x.dtype(), ReduceKind::kSum);
//
// Every member issues the same calls in the same order; a call has a sequence number in its group.
// Counts are in elements of the dtype; a peer is a position in the group, not a rank. Except for
// start_exchange, calls return when the caller may reuse the buffers. Input and output must not
// overlap unless a call allows it. Reductions combine in the order of positions, so every member
// gets the same bits; 16-bit floats are accumulated in float and rounded once.
//
// Errors of every call: ExecutionTimeout if a peer is missing after World::deadline(), with the
// last call of each rank; Unavailable if another rank failed; InvalidArgument if the peers' calls
// do not match and the backend can detect it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/comm/collective_call.h"
#include "distributed/comm/messages.h"
#include "distributed/comm/transfer.h"
#include "distributed/placement/placement.h"
#include "phi/common/dtype.h"

namespace phi::distributed {

class Communicator;

/// A group of one Communicator. Arrays are in the memory of the communicator's device: host memory,
/// or device memory for a device communicator. Calls of a device communicator
/// are ordered with later launches on the device; the host does not wait for them, except in
/// barrier, where it waits for the device first.
class Group {
 public:
  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::span<const int64_t> ranks() const { return ranks_; }
  int64_t size() const { return static_cast<int64_t>(ranks_.size()); }
  /// This rank's index in ranks().
  int64_t position() const { return position_; }
  /// The number of calls so far.
  uint64_t calls() const { return calls_; }
  uint64_t hash() const { return hash_; }
  /// "{4,5}"
  const std::string& name() const { return name_; }

  /// Gathers `count` elements of each member, in order of position: out has count * size()
  /// elements.
  void all_gather(const void* in, void* out, int64_t count, DataType dtype);
  /// The same with counts[i] elements of member i. `in` may be the member's own part of `out`.
  void all_gather_v(const void* in, void* out, std::span<const int64_t> counts, DataType dtype);

  /// Sends part i of `in` to member i, and receives part j of `out` from member j.
  void all_to_all(const void* in, void* out, int64_t count, DataType dtype);
  void all_to_all_v(const void* in, std::span<const int64_t> send_counts, void* out,
                    std::span<const int64_t> recv_counts, DataType dtype);

  /// Reduces elementwise. `in` and `out` may be the same array.
  void all_reduce(const void* in, void* out, int64_t count, DataType dtype, ReduceKind kind);
  void all_reduce(void* data, int64_t count, DataType dtype, ReduceKind kind) {
    all_reduce(data, data, count, dtype, kind);
  }

  /// Returns part i of the elementwise reduction on member i; `in` contains all parts.
  void reduce_scatter(const void* in, void* out, int64_t count, DataType dtype, ReduceKind kind);
  void reduce_scatter_v(const void* in, void* out, std::span<const int64_t> counts, DataType dtype,
                        ReduceKind kind);

  /// Copies the array of the member at position `root` to all members.
  void broadcast(void* data, int64_t count, DataType dtype, int64_t root);

  /// Returns when all members have called it.
  void barrier();

  /// Exchanges point-to-point messages, all in flight at once. Either list may be empty, and a
  /// member may send to itself. Every member must call it, even without messages.
  void exchange(std::span<const Send> sends, std::span<const Recv> recvs);
  /// The same, but returns when the messages are in flight. Any number may be in flight, with other
  /// calls in between. It counts in the order of calls like any other. `buffers` owns the memory
  /// that the messages read and write, and is kept until they are done. The rank's counters count
  /// the messages as the collective `counted_as`.
  Transfer start_exchange(std::span<const Send> sends, std::span<const Recv> recvs,
                          std::shared_ptr<const void> buffers,
                          CommOp counted_as = CommOp::kExchange);

 protected:
  /// `suffix` is appended to the name.
  Group(Communicator& communicator, std::vector<int64_t> ranks, int64_t position, uint64_t hash,
        std::string_view suffix = {});

  Communicator& communicator() { return communicator_; }

  /// For a backend with a library of collectives: runs the call and returns true. `counts` are the
  /// members' elements of a gather or scatter. Without it calls are built from messages.
  virtual bool run_by_library(const CollectiveCall& /*call*/, const void* /*in*/, void* /*out*/,
                              std::span<const int64_t> /*counts*/) {
    return false;
  }

 private:
  friend class Communicator;

  class CallScope;
  struct PartSlice;
  bool by_library(const void* in, void* out, std::span<const int64_t> counts);
  void copy(void* to, const void* from, size_t bytes);
  void compare(const CollectiveCall& call);
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

  Communicator& communicator_;
  std::vector<int64_t> ranks_;
  int64_t position_;
  uint64_t hash_;
  std::string name_;
  uint64_t calls_ = 0;
  const CollectiveCall* call_ = nullptr;  // the call that is running
  // Reused by every call, so that a steady state allocates nothing.
  std::vector<Send> sends_;
  std::vector<Recv> recvs_;
  std::vector<Send> remote_sends_;
  std::vector<Recv> remote_recvs_;
};

}  // namespace phi::distributed
