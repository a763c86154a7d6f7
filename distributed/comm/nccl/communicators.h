// Communicators: those of one rank, that of all ranks and those of groups, and all that is asked of
// NCCL through them. They never block, so that they can be aborted: no thread is inside NCCL for
// long.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/comm/nccl/in_flight.h"
#include "distributed/comm/nccl/library.h"
#include "distributed/comm/nccl/unique_id.h"

namespace phi::distributed {

class Communicators {
 public:
  /// `in_flight` is told where the rank's thread waits for NCCL.
  explicit Communicators(InFlight& in_flight) : in_flight_(in_flight) {}
  ~Communicators() { end(); }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// That of the members of `group`, the ranks of a group of the carrier; its id goes over
  /// `control`, the group of the same ranks on the host. Made when it is first asked for, which all
  /// members do.
  ncclComm_t of(const Group& group, const std::function<Group&()>& control);

  /// Makes NCCL's calls of one group of them, all of `comm`. NCCL may not have put them into their
  /// stream when it returns: settled() tells. Errors: Unavailable, saying what NCCL says.
  void call(ncclComm_t comm, const std::function<ncclResult_t()>& calls);
  /// Whether NCCL has put all that it was told into its stream. Errors: Unavailable, saying what
  /// NCCL says; what it was aborted for.
  bool settled(ncclComm_t comm);
  /// Returns when it has; `what` it is, for the watchdog.
  void wait_until_settled(ncclComm_t comm, const std::string& what);
  /// The rank leaves: its work is done, as that of all others is, or has been aborted.
  void end();

  // From any thread:
  /// What has gone wrong in any of them; empty: nothing.
  std::string fault();
  /// All that is under way ends, as it is; whatever is asked of NCCL afterwards throws `why`.
  void abort(std::exception_ptr why);

 private:
  void check(ncclResult_t status, ncclComm_t comm, const char* what) const;
  void check_not_aborted() const;

  InFlight& in_flight_;
  std::mutex inside_;                     // who holds it is inside NCCL
  std::map<uint64_t, ncclComm_t> comms_;  // by the hash of their groups
  std::exception_ptr aborted_for_;
};

}  // namespace phi::distributed
