// Communicator: the groups of one rank, and their collectives and transfers of arrays that lie in
// the memory of one device.
//
//   Communicator& here = World::current().communicator(x.place());
//   here.group(ranks).all_reduce(values.data(), 8, DataType::FLOAT32, ReduceKind::kSum);
//
// This class is the communicator of arrays in host memory: it builds all collectives on messages of
// the world's transport. A subclass moves arrays between devices directly (nccl/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distributed/comm/group.h"
#include "distributed/comm/messages.h"
#include "distributed/comm/reduce.h"
#include "distributed/comm/transfer.h"
#include "phi/core/device/device.h"
#include "phi/core/device/host_array.h"

namespace phi {
class LaunchGraph;
class RankContext;
}  // namespace phi

namespace phi::distributed {

class Transport;
class World;

class Communicator {
 public:
  explicit Communicator(World& world);
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  World& world() { return world_; }
  RankContext& rank_context();
  int64_t rank() const;
  int64_t size() const;
  /// Unique among all communicators of the process; for caches.
  uint64_t id() const { return id_; }
  /// "mpi", "local", "dry", "nccl".
  virtual std::string_view backend() const;

  /// Returns the group of these ranks, in this order; created on first use, without communication.
  /// Errors: InvalidArgument if this rank is not in it, or if a rank repeats or is not in the
  /// world.
  Group& group(std::span<const int64_t> ranks);
  /// The group of all ranks.
  Group& everyone();
  /// The group of a ring (World::add_ring). Errors: InvalidArgument for an unregistered number, and
  /// those of group().
  Group& ring(int ring_id);

  /// The device in whose memory the arrays of its groups' calls are.
  virtual Device& device() { return Device::of(CPUPlace()); }
  /// Reduces arrays of device() as reduce_arrays (reduce.h) does. Later work on the device is
  /// ordered after it.
  virtual void reduce(std::span<const void* const> inputs, void* out, int64_t count, DataType dtype,
                      ReduceKind kind) {
    reduce_arrays(inputs, out, count, dtype, kind);
  }

  /// Whether a captured sequence of device()'s launches may contain calls of its groups
  /// (Device::record).
  virtual bool records_calls() const { return false; }
  /// Captures the launches of `body` as Device::record does; `body` may also call groups of this
  /// communicator. It is a collective call of the ranks of `who`: they capture calls that match,
  /// and launch the captured sequences equally often and in the same order. A launch is a call with
  /// the usual checks and deadline. The result must not outlive the communicator, and is never
  /// null.
  ///
  /// Errors   Unimplemented if calls cannot be captured. PreconditionNotMet if the device captures
  ///          nothing, or the body does something that cannot be captured. Those of the body.
  virtual std::unique_ptr<LaunchGraph> record(Group& who, const std::function<void()>& body);

  /// Polls all transfers, completes those that are done, releases their buffers, and returns how
  /// many are still in flight. Every call of a group polls some. Errors: those of transfers without
  /// a handle. A failed transfer counts until its error has been reported.
  size_t transfers_in_flight();
  /// Waits for all transfers in flight. Errors: those of the transfers.
  void drain();

  // For groups, and for communicators that exchange control messages over the host's.

  virtual std::unique_ptr<Messages> new_messages();
  /// Returns an object that is free to be posted; give it back when its messages are done.
  std::unique_ptr<Messages> acquire_messages();
  void release_messages(std::unique_ptr<Messages> messages) {
    spare_.push_back(std::move(messages));
  }
  /// Posts messages and waits for them.
  void exchange_messages(const CollectiveCall& call, std::span<const Send> sends,
                         std::span<const Recv> recvs);
  /// The two halves of exchange_messages; other messages of the call may be posted in between.
  std::unique_ptr<Messages> post(const CollectiveCall& call, std::span<const Send> sends,
                                 std::span<const Recv> recvs);
  void finish(const CollectiveCall& call, std::unique_ptr<Messages> messages);
  /// Waits for messages that are posted. Pending work of the device communicator continues
  /// meanwhile, because other ranks may wait for it.
  void wait_for_messages(const CollectiveCall& call, Messages& messages);
  /// Continues pending work on the host without waiting. Returns whether any is left.
  virtual bool make_progress() { return false; }

  /// Memory of device() for received data. In a dry run it is only counted, and has no address.
  virtual DeviceMemory scratch(size_t bytes);
  /// Slice size of a reduction: a slice is reduced while the next one is in flight.
  virtual int64_t slice_bytes() const { return 1 << 20; }

 protected:
  /// Creates a group. A backend with a library of collectives returns its own subclass; these
  /// groups are built on messages.
  virtual std::unique_ptr<Group> make_group(std::vector<int64_t> ranks, int64_t position,
                                            uint64_t hash);
  /// Withdraws all transfers in flight. A subclass whose messages need its members calls it in its
  /// destructor.
  void abandon_transfers() noexcept;

 private:
  friend class Group;
  friend class Transfer;
  Transport& transport();
  Transfer start(const CollectiveCall& call, std::span<const Send> sends,
                 std::span<const Recv> recvs, std::shared_ptr<const void> buffers);
  bool test(Transfer::State& transfer) noexcept;
  void wait_for(Transfer::State& transfer);
  void poll(size_t most);
  void end(Transfer::State& transfer);
  void end_failed(Transfer::State& transfer);
  void report_arrival(const Transfer::State& transfer);

  World& world_;
  const uint64_t id_;
  std::unordered_multimap<uint64_t, std::unique_ptr<Group>> groups_;  // by hash of the rank list
  Group* everyone_ = nullptr;
  std::vector<std::unique_ptr<Messages>> spare_;  // free to be posted again
  std::vector<std::shared_ptr<Transfer::State>> transfers_;
  size_t next_polled_ = 0;
  // Buffers and messages of failed transfers: a backend may be unable to withdraw all that it has
  // started.
  std::vector<std::pair<std::shared_ptr<const void>, std::unique_ptr<Messages>>> failed_;
};

}  // namespace phi::distributed
