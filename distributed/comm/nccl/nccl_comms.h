// NcclComms: one rank's NCCL communicators, one for all ranks and one per group that needs
// its own, and all NCCL calls through them. The communicators are non-blocking, so no thread stays
// inside NCCL for long, and another thread can abort them.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/comm/nccl/in_flight_collectives.h"
#include "distributed/comm/nccl/nccl_functions.h"
#include "distributed/comm/nccl/unique_id.h"

namespace phi::distributed {

class NcclComms {
 public:
  using WaitDescription = InFlightCollectives::WaitDescription;

  /// For rank number `rank`. Reports to `in_flight` while the rank's thread waits for NCCL.
  NcclComms(InFlightCollectives& in_flight, int64_t rank) : in_flight_(in_flight), rank_(rank) {}
  ~NcclComms() { end(); }
  NcclComms(const NcclComms&) = delete;
  NcclComms& operator=(const NcclComms&) = delete;

  /// Returns the NCCL communicator for `group`, a group of the device communicator, and creates it
  /// at the first call. All members must make this call. NCCL's unique id is sent over `control`,
  /// the host group of the same ranks.
  ncclComm_t of(const Group& group, const std::function<Group&()>& control);

  // `what` describes the wait, for the watchdog's report.

  /// Runs `calls` as one NCCL group call on `comm`. First waits until NCCL has taken in the
  /// previous calls, because a wait for these may have been interrupted. On return NCCL may not yet
  /// have put the work into its stream; see settled(). Errors: Unavailable with NCCL's message.
  void call(ncclComm_t comm, const WaitDescription& what,
            const std::function<ncclResult_t()>& calls);
  /// Whether NCCL has put all calls into its stream. Errors: Unavailable with NCCL's message; the
  /// reason of an abort.
  bool settled(ncclComm_t comm);
  /// Waits until settled(). Errors: those of settled().
  void wait_until_settled(ncclComm_t comm, const WaitDescription& what);
  /// Destroys the communicators. The work of all ranks must be done or aborted. If NCCL does not
  /// return, the process exits.
  void end();

  // Callable from any thread:
  /// The error of any communicator. Empty if there is none, or if this cannot be checked because
  /// the rank's thread is inside NCCL.
  std::string fault();
  /// Aborts all communicators. Work that is running ends incomplete, and later NCCL calls throw
  /// `why`. Returns when the work has ended. NCCL also waits for graphs that contain its calls, so
  /// their owner must destroy them meanwhile.
  void abort(std::exception_ptr why);

 private:
  ncclComm_t known(const Group& group);
  ncclComm_t make(const Group& group, const UniqueId& shared, const WaitDescription& what);
  void check(ncclResult_t status, ncclComm_t comm, const char* what) const;
  void check_not_aborted() const;
  std::vector<ncclComm_t> take_all();

  InFlightCollectives& in_flight_;
  int64_t rank_;
  std::mutex inside_;                     // held while a thread is inside NCCL
  std::map<uint64_t, ncclComm_t> comms_;  // key: hash of the group
  std::exception_ptr aborted_for_;
};

}  // namespace phi::distributed
