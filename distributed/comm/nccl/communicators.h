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
  using What = InFlight::What;

  /// Those of rank number `rank`. `in_flight` is told where the rank's thread waits for NCCL.
  Communicators(InFlight& in_flight, int64_t rank) : in_flight_(in_flight), rank_(rank) {}
  ~Communicators() { end(); }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// That of the members of `group`, the ranks of a group of the carrier; its id goes over
  /// `control`, the group of the same ranks on the host. Made when it is first asked for, which all
  /// members do.
  ncclComm_t of(const Group& group, const std::function<Group&()>& control);

  // `what` a wait is for, for the watchdog.

  /// Makes NCCL's calls of one group of them, all of `comm`, when NCCL has taken in those before:
  /// a wait for these may have been interrupted. NCCL may not have put them into their stream when
  /// it returns: settled() tells. Errors: Unavailable, saying what NCCL says.
  void call(ncclComm_t comm, const What& what, const std::function<ncclResult_t()>& calls);
  /// Whether NCCL has put all that it was told into its stream. Errors: Unavailable, saying what
  /// NCCL says; what it was aborted for.
  bool settled(ncclComm_t comm);
  /// Returns when it has.
  void wait_until_settled(ncclComm_t comm, const What& what);
  /// The rank leaves: its work is done, as that of all others is, or has been aborted. The process
  /// ends where NCCL does not come back.
  void end();

  // From any thread:
  /// What has gone wrong in any of them; empty: nothing, or nobody can say, as the rank's thread is
  /// inside NCCL.
  std::string fault();
  /// All that is under way ends, as it is; whatever is asked of NCCL afterwards throws `why`.
  /// Returns when it has ended, and graphs that hold calls have, too: whoever has those ends them
  /// meanwhile.
  void abort(std::exception_ptr why);

 private:
  ncclComm_t known(const Group& group);
  ncclComm_t make(const Group& group, const UniqueId& shared, const What& what);
  void check(ncclResult_t status, ncclComm_t comm, const char* what) const;
  void check_not_aborted() const;
  std::vector<ncclComm_t> take_all();

  InFlight& in_flight_;
  int64_t rank_;
  std::mutex inside_;                     // who holds it is inside NCCL
  std::map<uint64_t, ncclComm_t> comms_;  // by the hash of their groups
  std::exception_ptr aborted_for_;
};

}  // namespace phi::distributed
