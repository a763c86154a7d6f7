// NcclWatchdog: a thread that detects what the rank's own thread cannot while it waits for its GPU:
// NCCL work that does not end, an NCCL error, or the failure of another rank. It aborts NCCL's
// work, so that the rank's thread returns, and provides the error.
#pragma once

#include <atomic>
#include <exception>
#include <stop_token>
#include <thread>

#include "distributed/comm/nccl/captured_graphs.h"
#include "distributed/comm/nccl/in_flight_collectives.h"
#include "distributed/comm/nccl/nccl_comms.h"
#include "distributed/comm/transport.h"
#include "phi/common/errors.h"
#include "phi/gpu/gpu_device.h"

namespace phi::distributed {

class NcclWatchdog {
 public:
  struct Watched {
    Transport& transport;
    gpu::GpuDevice& device;
    NcclComms& comms;
    InFlightCollectives& in_flight;
    CapturedGraphs& captured_graphs;
  };
  explicit NcclWatchdog(Watched watched);

  /// Aborts this rank's NCCL work with the error `why`. If NCCL does not abort in time, the process
  /// exits.
  void abort(const Error& why);
  /// Throws the error of an abort, if there was one.
  void check() const;

 private:
  void run(const std::stop_token& stop);
  void look();
  void look_at_deadlines(InFlightCollectives::Clock::duration deadline);

  Watched watched_;
  std::atomic<bool> has_aborted_{false};
  std::exception_ptr error_;  // set before has_aborted_
  std::jthread thread_;       // last member: uses the others until it ends
};

}  // namespace phi::distributed
