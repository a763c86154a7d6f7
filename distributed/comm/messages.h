// Messages: one set of messages under way, as a backend keeps it. All that ranks do together is
// built on posting such sets and waiting for them.
#pragma once

#include <span>

#include "distributed/comm/group.h"

namespace phi::distributed {

/// Used for one set at a time; free for the next one when done.
class Messages {
 public:
  Messages() = default;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  /// Withdraws what is not done, as far as the backend can.
  virtual ~Messages() = default;

  /// Puts all messages under way and returns at once; `call` says what for. Peers are ranks of the
  /// world, never this one. The k-th message posted from one rank to another within a group is the
  /// k-th that the other posts a receive for. The buffers are in use until all are done.
  virtual void post(const Call& call, std::span<const Send> sends, std::span<const Recv> recvs) = 0;
  /// Whether all are done; makes progress. Throws as wait, but not for lateness.
  virtual bool done(const Call& call) = 0;
  /// Returns when all are done. Errors: as of every call of a Group.
  virtual void wait(const Call& call) = 0;
};

}  // namespace phi::distributed
