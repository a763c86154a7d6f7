// Messages: one set of messages in flight. All communication between ranks is built on posting a
// set and waiting for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace phi::distributed {

struct CollectiveCall;

/// One message to or from `peer`. Messages of one pair of ranks are matched in list order.
struct Send {
  int64_t peer = 0;
  const void* data = nullptr;
  size_t bytes = 0;
};
struct Recv {
  int64_t peer = 0;
  void* data = nullptr;
  size_t bytes = 0;
};

/// An object holds one set at a time and can be reused when the set is done.
class Messages {
 public:
  Messages() = default;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  /// Withdraws unfinished messages, as far as the backend can.
  virtual ~Messages() = default;

  /// Posts all messages and returns at once; `call` is the call that they belong to. Peers are
  /// ranks of the world, never this one. The k-th message posted from one rank to another within a
  /// group matches the k-th receive that the other posts. The buffers are in use until all are
  /// done.
  virtual void post(const CollectiveCall& call, std::span<const Send> sends,
                    std::span<const Recv> recvs) = 0;
  /// Whether all are done. Makes progress. Errors: those of wait, except for lateness.
  virtual bool done(const CollectiveCall& call) = 0;
  /// Returns when all are done. Errors: those of every call of a Group.
  virtual void wait(const CollectiveCall& call) = 0;
};

}  // namespace phi::distributed
