// A rank whose process ends in the middle: run by itself, under mpirun, as it ends the job.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>

#include "support/group_calls.h"
#include "support/rank_launcher.h"

namespace phi::distributed {
namespace {

// tools/gpu_check looks for the line: what fails before it is no success.
void end_process(int64_t rank) {
  fmt::print("rank {} ends itself\n", rank);
  std::fflush(stdout);
  raise(SIGKILL);
}

TEST(NcclKilled, DISABLED_ARankIsKilled) {
  testing::on_all_communicators([](Communicator& communicator) {
    const testing::GroupCalls all(communicator);
    for (int i = 0;; ++i) {
      if (i == 5 && communicator.rank() == communicator.size() - 1)
        end_process(communicator.rank());
      std::vector<float> x(1 << 16, 1.0f);
      all.all_reduce(x.data(), 1 << 16, DataType::FLOAT32, ReduceKind::kSum);
    }
  });
}

}  // namespace
}  // namespace phi::distributed
