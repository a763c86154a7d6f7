// Observer: receives what a rank does, as typed events. Any number of observers may observe a rank
// at once; ObserverScope (observer_scope.h) registers one.
//
//   struct OutputCounter final : phi::Observer {
//     void on_output(const phi::KernelOutput&) override { ++outputs; }
//     int outputs = 0;
//   };
//   OutputCounter counter;
//   const phi::ObserverScope scope(counter);  // observes the calling rank from here on
//
// Order: observers are notified in the order in which they were registered, and of ends in the
// reverse order, so that events nest as the scopes do. An end is reported to exactly those that
// were notified of its begin and are still registered, also if the work between them fails.
//
// Errors: an exception thrown by an observer ends the call that it observes, and is the call's
// error. Observers after it are not notified of that event. An observer that throws at a begin gets
// no end.
//
// An observer that makes calls or sends messages does so within SuspendObservers.
#pragma once

namespace phi {

struct CallBegin;
struct CallDecision;
struct CallOutputs;
struct CallEnd;
struct KernelOutput;
struct PlannedLaunch;
class Trace;
namespace distributed {
struct ReshardBegin;
struct ReshardEnd;
struct TransferEnd;
}  // namespace distributed

class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = default;
  Observer& operator=(const Observer&) = default;
  virtual ~Observer() = default;

  // Calls of operators (api/call/call_events.h). A call within another call is reported between the
  // begin and the end of the outer one.

  /// A call begins; it has not changed its inputs.
  virtual void on_call_begin(const CallBegin&) {}
  /// A distributed call has its decision, and has not written anything.
  virtual void on_decision(const CallDecision&) {}
  /// A kernel has run on this rank; reported for each array that it wrote.
  virtual void on_output(const KernelOutput&) {}
  /// A dry rank has planned a kernel or a copy, which a real rank would launch.
  virtual void on_planned_launch(const PlannedLaunch&) {}
  /// A call has succeeded.
  virtual void on_call_outputs(const CallOutputs&) {}
  /// A call ends, with or without an error.
  virtual void on_call_end(const CallEnd&) noexcept {}

  // Reshards that the rank takes part in, and their steps (distributed/reshard/reshard_events.h).
  virtual void on_reshard_begin(const distributed::ReshardBegin&) {}
  virtual void on_reshard_end(const distributed::ReshardEnd&) noexcept {}

  /// The messages of a transfer that the rank started have arrived (distributed/comm/transfer.h).
  virtual void on_transfer_end(const distributed::TransferEnd&) noexcept {}

  /// The trace that receives the rank's spans; null: none. Spans are written to it directly, not
  /// reported by a call per span: the texts of a span are made once per trace, and only if the span
  /// is within the trace's limit. The result must not change while the observer is registered. An
  /// observer that is itself the trace receives no other events.
  virtual Trace* trace() { return nullptr; }
};

}  // namespace phi
