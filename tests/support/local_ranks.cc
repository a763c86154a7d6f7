// Ranks are threads.
#include "distributed/comm/local/local_world.h"
#include "support/rank_launcher.h"

namespace phi::distributed::testing {

std::vector<int64_t> world_sizes() { return {1, 2, 3, 4}; }

void on_ranks(int64_t n, const std::function<void(World& world)>& body) {
  run_ranks(n, body, std::chrono::seconds(20));
}

}  // namespace phi::distributed::testing
