// CapturedGraphs: one rank's captured graphs that contain messages (Communicator::record). NCCL
// does not destroy a communicator while such a graph contains calls of it.
#pragma once

#include <functional>
#include <memory>

#include "phi/core/device/launch_graph.h"

namespace phi::distributed {

class CapturedGraphs {
 public:
  CapturedGraphs();
  ~CapturedGraphs();
  CapturedGraphs(const CapturedGraphs&) = delete;
  CapturedGraphs& operator=(const CapturedGraphs&) = delete;

  /// Wraps `written` so that each launch runs through `launch_wrapper`, which receives the actual
  /// launch as its argument. The result may outlive this object.
  using LaunchWrapper = std::function<void(const std::function<void()>& launch)>;
  std::unique_ptr<LaunchGraph> add(std::unique_ptr<LaunchGraph> written,
                                   LaunchWrapper launch_wrapper);
  /// Discards all graphs; later launches throw PreconditionNotMet. Callable from any thread.
  void discard_all();

 private:
  struct State;
  class CapturedGraph;
  std::shared_ptr<State> state_;
};

}  // namespace phi::distributed
