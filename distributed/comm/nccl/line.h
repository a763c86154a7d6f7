// Line: the calls of one rank whose messages go between GPUs, in the order in which it made them.
//
// Ranks agree on a call's messages over the host before NCCL is told of them: who does not come,
// comes with other sizes or in another order is found there, as on every backend, and NCCL never
// waits for what does not fit. Then the call's turn comes: all its messages are one group of NCCL's
// calls, in the one stream that has all messages of the rank.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "distributed/comm/hang_report.h"
#include "distributed/comm/nccl/communicators.h"
#include "distributed/comm/nccl/in_flight.h"
#include "distributed/comm/nccl/turn.h"
#include "phi/gpu/gpu_device.h"

namespace phi::distributed {

/// What a line needs of the host's world.
struct HostLink {
  World& world;
  SeeRank see;
  std::function<std::unique_ptr<Messages>()> messages;
  std::function<void(std::unique_ptr<Messages>)> give_back;
};

class Line {
 public:
  Line(HostLink host, gpu::GpuDevice& device, Communicators& comms, InFlight& in_flight);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  cudaStream_t stream() const { return stream_; }
  /// The communicator of all ranks, which messages go through. Once, before the first turn.
  void set_all(ncclComm_t all) { all_ = all; }

  /// At the end of the line; returns at once.
  std::shared_ptr<Turn> add(const Call& call, std::span<const Send> sends,
                            std::span<const Recv> recvs);
  /// Takes out one that NCCL has not been told of.
  void withdraw(const Turn& turn);
  /// Carries on as far as it can without waiting. What fails is kept in its turn.
  void advance();
  /// Returns when the turn is in the stream. Errors: the turn's; ExecutionTimeout if one before it,
  /// or it, waits for a peer for longer than the deadline.
  void wait_until_put(Turn& turn);
  /// When all turns are.
  void wait_until_empty();
  bool is_empty() const { return waiting_.empty(); }

  /// Puts one collective of `comm` into the stream, behind what is there; the line is empty.
  void put(const Call& call, ncclComm_t comm, const std::function<ncclResult_t()>& calls);

  /// While it lives the device writes down what it is given (Device::record), and messages with it:
  /// ranks agree on them now, and NCCL is told of them now. Before it the line is empty, and
  /// nothing called before is waited for meanwhile.
  class Capture {
   public:
    explicit Capture(Line& line) : line_(line) { line_.captures_ = true; }
    ~Capture();
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    /// The end of what is written down; nothing follows.
    void join();

   private:
    Line& line_;
  };
  /// Launches what was written down, messages and all, between what was called before and what will
  /// be called; the line is empty. `graph`: what is launched, each time the same.
  void launch(const Call& call, std::shared_ptr<Turn::Graph> graph,
              const std::function<void()>& launch);

 private:
  void step(Turn& head);
  void check_terms(const Turn& turn) const;
  void tell_nccl(Turn& turn);
  void queued(const std::shared_ptr<Turn>& turn);
  void wait_for_head();
  void fail_head();

  HostLink host_;
  gpu::GpuDevice& device_;
  Communicators& comms_;
  InFlight& in_flight_;
  cudaStream_t stream_ = nullptr;
  ncclComm_t all_ = nullptr;
  std::deque<std::shared_ptr<Turn>> waiting_;
  std::vector<uint64_t> calls_with_;  // by rank
  bool captures_ = false;
  bool has_captured_ = false;  // a turn, in this capture
};

}  // namespace phi::distributed
