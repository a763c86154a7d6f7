// Records: what the GPU of one rank has written down with messages in it (World::record). NCCL ends
// no communicator while such a record holds calls of it.
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

  /// Has a launch of `written` done by `put`, which is given the launch itself. What is given back
  /// may live longer than this.
  using Put = std::function<void(const std::function<void()>& launch)>;
  std::unique_ptr<LaunchRecord> add(std::unique_ptr<LaunchRecord> written, Put put);
  /// None is launched from here on: whoever tries is told so. From any thread.
  void discard_all();

 private:
  struct State;
  class Record;
  std::shared_ptr<State> state_;
};

}  // namespace phi::distributed
