// Ranks are processes: the main of test programs that run under mpirun. Rank 0 prints as usual, the
// others print what failed.
#include "support/mpi_ranks.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "phi/common/errors.h"
#include "support/rank_launcher.h"

namespace phi::distributed::testing {
namespace {

class FailuresOnly : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    fmt::print(stderr, "rank {}: {}:{}\n{}\n", World::current().rank(),
               result.file_name() ? result.file_name() : "?", result.line_number(),
               result.message());
  }
};

}  // namespace

std::vector<int64_t> world_sizes() { return {World::current().size()}; }

// All ranks begin together; one that throws ends the job, so that the others do not wait for it.
void on_ranks(int64_t n, const std::function<void(World& world)>& body) {
  World& world = World::current();
  if (world.size() != n) GTEST_SKIP() << "needs " << n << " ranks, has " << world.size();
  world.everyone().barrier();
  try {
    prepare_for_tests(world);
    body(world);
  } catch (const std::exception& error) {
    abort_job(error.what());
  }
}

}  // namespace phi::distributed::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  auto& world = phi::distributed::init_world(&argc, &argv);
  world.set_deadline(std::chrono::seconds(30));
  if (world.rank() != 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new phi::distributed::testing::FailuresOnly);
  }
  const int status = RUN_ALL_TESTS();
  phi::distributed::finalize_world();
  return status;
}
