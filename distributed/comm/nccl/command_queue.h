// CommandQueue: queues one rank's messages between GPUs, in program order.
//
// Before each NCCL call, the ranks exchange its signature (CollectiveSignature) over the host
// communicator. A missing rank, different sizes or a different order are therefore reported as on
// every other backend, and NCCL, which checks nothing, never hangs on them. Then all messages of
// the call are enqueued as one NCCL group call on the one stream that has all messages of the rank.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "distributed/comm/nccl/in_flight_collectives.h"
#include "distributed/comm/nccl/nccl_comms.h"
#include "distributed/comm/nccl/pending_collective.h"
#include "distributed/comm/world.h"
#include "phi/gpu/gpu_device.h"

namespace phi::distributed {

class CommandQueue {
 public:
  CommandQueue(World& world, gpu::GpuDevice& device, NcclComms& comms,
               InFlightCollectives& in_flight);
  ~CommandQueue();
  CommandQueue(const CommandQueue&) = delete;
  CommandQueue& operator=(const CommandQueue&) = delete;

  cudaStream_t stream() const { return stream_; }
  /// Sets the NCCL communicator of all ranks, which messages use. Call once, before the first
  /// collective.
  void set_all(ncclComm_t all) { all_ = all; }

  /// Appends a call and returns at once.
  std::shared_ptr<PendingCollective> add(const CollectiveCall& call, std::span<const Send> sends,
                                         std::span<const Recv> recvs);
  /// Removes a collective that has not been passed to NCCL.
  void withdraw(const PendingCollective& collective);
  /// Makes all progress that is possible without waiting. An error is stored in the collective that
  /// caused it.
  void advance();
  /// Waits until the collective's messages are in the stream. Errors: the collective's;
  /// ExecutionTimeout if this collective or an earlier one waits for a peer for longer than the
  /// deadline.
  void wait_until_enqueued(PendingCollective& collective);
  /// Waits until the messages of all collectives are in the stream.
  void wait_until_empty();
  bool is_empty() const { return waiting_.empty(); }

  /// Enqueues one collective of `comm` on the stream, after the work that is there. The queue must
  /// be empty.
  void enqueue(const CollectiveCall& call, ncclComm_t comm,
               const std::function<ncclResult_t()>& calls);

  /// Marks a graph capture of the device (Device::record). Messages are captured too: signatures
  /// are exchanged and NCCL is called during the capture. The queue must be empty before, and
  /// collectives from before the capture must not be waited for during it.
  class Capture {
   public:
    explicit Capture(CommandQueue& queue) : queue_(queue) { queue_.captures_ = true; }
    ~Capture();
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    /// Joins the message stream to the captured stream. Call last.
    void join();

   private:
    CommandQueue& queue_;
  };
  /// Launches a graph that contains messages, ordered after earlier collectives and before later
  /// ones. The queue must be empty. Pass the same `graph` for each launch of one graph.
  void launch(const CollectiveCall& call, std::shared_ptr<PendingCollective::GraphTimings> graph,
              const std::function<void()>& launch);

 private:
  void step(PendingCollective& head);
  void check_signatures(const PendingCollective& collective) const;
  void enqueue_messages(PendingCollective& collective);
  void on_enqueued(const std::shared_ptr<PendingCollective>& collective);
  void wait_for_head();
  void fail_head();

  World& world_;
  gpu::GpuDevice& device_;
  NcclComms& comms_;
  InFlightCollectives& in_flight_;
  cudaStream_t stream_ = nullptr;
  ncclComm_t all_ = nullptr;
  std::deque<std::shared_ptr<PendingCollective>> waiting_;
  std::vector<uint64_t> calls_with_;  // calls made with each rank
  bool captures_ = false;
  bool has_captured_ = false;  // whether this capture has a collective
};

}  // namespace phi::distributed
