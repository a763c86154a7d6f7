// Transfer: messages of one Group::start_exchange, under way while the rank does other things.
//
//   auto rows = std::make_shared<Rows>(x);   // holds what is sent and what is filled
//   Transfer t = group.start_exchange(rows->sends, rows->recvs, rows);
//   compute();
//   t.wait();                                // what the receives of rows point to has arrived
//
// Messages move whenever the rank is in any call of its world, in done() or in wait(); a rank that
// computes for long delays its peers and stops nobody for good.
#pragma once

#include <memory>

namespace phi::distributed {

/// A handle; copies speak of the same transfer, dropping it changes nothing: the world brings the
/// transfer to its end and keeps the buffers until then. Used by the thread of its world.
class Transfer {
 public:
  /// One that is done: of a rank that neither sends nor receives.
  Transfer() = default;

  /// This rank's messages are all sent and received, or have failed. Makes progress; never blocks
  /// nor throws.
  bool done() const;
  /// Returns when this rank's messages are all sent and received. Transfers may be waited for in
  /// any order, also more than once. Errors: as of every call of a Group; the deadline counts from
  /// here.
  void wait() const;

 private:
  friend class World;
  struct State;
  explicit Transfer(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace phi::distributed
