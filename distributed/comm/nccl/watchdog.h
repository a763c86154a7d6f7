// NcclWatchdog: a thread of a rank that sees what the rank's own thread cannot, because it waits
// for its GPU: that NCCL's work does not end, that NCCL reports an error, that another rank has
// failed. It ends NCCL's work, so that the rank's thread comes back, and says why.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "distributed/comm/hang_report.h"
#include "distributed/comm/nccl/communicators.h"
#include "distributed/comm/nccl/in_flight.h"
#include "distributed/comm/nccl/records.h"
#include "phi/common/errors.h"
#include "phi/gpu/gpu_device.h"

namespace phi::distributed {

class NcclWatchdog {
 public:
  struct Watched {
    const World& host;
    gpu::GpuDevice& device;
    Communicators& comms;
    InFlight& in_flight;
    Records& records;
    SeeRank see;
    std::function<std::string()> failure_of_others;
  };
  explicit NcclWatchdog(Watched watched);

  /// Ends NCCL's work of this rank for this error. Where NCCL does not let it, the process ends.
  void abort(const Error& why);
  /// Throws what the work was ended for.
  void check() const;

 private:
  void run(const std::stop_token& stop);
  void look();
  void look_at_deadlines(InFlight::Clock::duration deadline);

  Watched watched_;
  std::atomic<bool> has_aborted_{false};
  std::exception_ptr error_;  // set before has_aborted_
  std::jthread thread_;       // the last: it looks at the others until it has ended
};

}  // namespace phi::distributed
