// RecordingWorld: a dry world that keeps what its rank would launch, send and wait for.
//
//   RecordingWorld world(/*rank=*/77, /*size=*/16384);
//   const World::Scope scope(world);
//   step();
//   const std::vector<RecordedEvent> events = world.take();
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/comm/recording/recording_transport.h"
#include "distributed/comm/world.h"

namespace phi::distributed {

class RecordingWorld final : public World {
 public:
  RecordingWorld(int64_t rank, int64_t size);

  /// Appends a launch. The world itself sees calls and waits only.
  void add(const RecordedLaunch& launch) { recording().add(launch); }
  /// RecordingTransport::take.
  std::vector<RecordedEvent> take() { return recording().take(); }

 private:
  RecordingTransport& recording() { return static_cast<RecordingTransport&>(transport()); }
};

}  // namespace phi::distributed
