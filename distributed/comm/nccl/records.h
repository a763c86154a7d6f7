// Records: one rank's captured graphs that contain messages (World::record). NCCL does not destroy
// a communicator while such a graph contains calls of it.
#pragma once

#include <functional>
#include <memory>

#include "phi/core/device/launch_record.h"

namespace phi::distributed {

class Records {
 public:
  Records();
  ~Records();
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  /// Wraps `written` so that each launch runs through `put`, which receives the actual launch as
  /// its argument. The result may outlive this object.
  using Put = std::function<void(const std::function<void()>& launch)>;
  std::unique_ptr<LaunchRecord> add(std::unique_ptr<LaunchRecord> written, Put put);
  /// Discards all graphs; later launches throw PreconditionNotMet. Callable from any thread.
  void discard_all();

 private:
  struct State;
  class Record;
  std::shared_ptr<State> state_;
};

}  // namespace phi::distributed
