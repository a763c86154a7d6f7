// Transfer: the messages of one Group::start_exchange, in flight while the rank does other work.
//
//   auto rows = std::make_shared<Rows>(x);   // holds what is sent and what is filled
//   Transfer t = group.start_exchange(rows->sends, rows->recvs, rows);
//   compute();
//   t.wait();                                // what the receives of rows point to has arrived
//
// Messages make progress whenever the rank is in any call of its communicator, in done() or in
// wait(). A rank that computes for long delays its peers, but does not block them for ever.
#pragma once

#include <cstdint>
#include <memory>

namespace phi::distributed {

struct CollectiveCall;

/// Event: the messages of a started transfer have arrived. See phi/core/observer.h.
struct TransferEnd {
  const CollectiveCall& call;  // valid during the notification
  int64_t nanoseconds;         // since its start
};

/// A handle; copies refer to the same transfer. The buffers are released by wait(), or when the
/// transfer is complete and has no handle. Dropping a handle does not end the transfer. Use it on
/// the thread of its rank.
class Transfer {
 public:
  /// A completed transfer, of a rank that neither sends nor receives.
  Transfer() = default;

  /// Whether this rank's messages are all sent and received, or have failed. Makes progress; never
  /// blocks or throws.
  bool done() const;
  /// Returns when this rank's messages are all sent and received. Transfers may be waited for in
  /// any order and repeatedly. Errors: those of every call of a Group. The deadline starts with
  /// this call.
  void wait() const;

 private:
  friend class Communicator;
  struct State;
  explicit Transfer(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace phi::distributed
