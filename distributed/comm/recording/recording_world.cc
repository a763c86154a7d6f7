// A dry rank behind a recording transport.
#include "distributed/comm/recording/recording_world.h"

#include "distributed/comm/dry/dry_world.h"

namespace phi::distributed {

RecordingWorld::RecordingWorld(int64_t rank, int64_t size)
    : World(std::make_shared<RankContext>(rank, size, Execution::kDry),
            std::make_unique<RecordingTransport>(std::make_shared<DryTransport>(rank, size))) {}

}  // namespace phi::distributed
