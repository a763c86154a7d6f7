// What happens when a rank does not come, does something else, or fails: an error on every rank,
// with who and what, and never a hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "distributed/comm/dry/dry_world.h"
#include "distributed/comm/local/local_world.h"
#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(Deadline, ReportsWhoIsMissingAndWhatItDidLast) {
  const std::string message = message_of([] {
    run_ranks(
        3,
        [](World& world) {
          const OpScope scope("matmul_grad");
          float x = 1;
          world.everyone().all_reduce(&x, 1, DataType::FLOAT32, ReduceKind::kSum);
          if (world.rank() == 2) {  // comes to the second call too late
            std::this_thread::sleep_for(milliseconds(300));
            return;
          }
          world.everyone().all_reduce(&x, 1, DataType::FLOAT32, ReduceKind::kSum);
        },
        milliseconds(100));
  });
  EXPECT_THAT(message,
              AllOf(HasSubstr("No answer within 0.1 s in all_reduce #2 of group {0,1,2}"),
                    HasSubstr("(4 bytes, from matmul_grad)"),
                    HasSubstr("rank 0  waiting in all_reduce #2"), HasSubstr("<- missing")));
}

TEST(Deadline, IsAnExecutionTimeout) {
  EXPECT_THAT(
      [] {
        run_ranks(
            2,
            [](World& world) {
              if (world.rank() == 0) world.everyone().barrier();
            },
            milliseconds(50));
      },
      ThrowsError(ErrorCode::kExecutionTimeout, "rank 1  has made no call yet"));
}

TEST(Failure, OfOneRankEndsTheOthersAndIsTheJobsError) {
  std::atomic<int> woken{0};
  const std::string message = message_of([&] {
    run_ranks(
        4,
        [&](World& world) {
          if (world.rank() == 2) throw errors::InvalidArgument("x is wrong here.");
          try {
            world.everyone().barrier();
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
            EXPECT_THAT(error.what(), HasSubstr("rank 2 failed: x is wrong here."));
            ++woken;
            throw;
          }
        },
        seconds(30));
  });
  EXPECT_THAT(message, AllOf(HasSubstr("x is wrong here."), HasSubstr("at rank 2 of 4")));
  EXPECT_EQ(woken, 3);
}

TEST(Failure, OfAnyTypeIsRethrown) {
  EXPECT_THROW(run_ranks(2,
                         [](World& world) {
                           if (world.rank() == 1) throw std::runtime_error("plain");
                           world.everyone().barrier();
                         }),
               std::runtime_error);
}

TEST(Failure, CallsThatDoNotMatchNameBoth) {
  const std::string message = message_of([] {
    run_ranks(
        2,
        [](World& world) {
          float x[2] = {};
          float out[4] = {};
          if (world.rank() == 0) {
            world.everyone().all_gather(x, out, 1, DataType::FLOAT32);
          } else {
            world.everyone().all_reduce(x, 1, DataType::FLOAT32, ReduceKind::kSum);
          }
        },
        seconds(5));
  });
  EXPECT_THAT(message, AllOf(HasSubstr("calls do not match"), HasSubstr("all_gather #1"),
                             HasSubstr("all_reduce #1")));
}

TEST(Failure, SizesThatDoNotMatchNameBoth) {
  const std::string message = message_of([] {
    run_ranks(
        2,
        [](World& world) {
          float x[2] = {};
          float out[4] = {};
          world.everyone().all_gather(x, out, 1 + world.rank(), DataType::FLOAT32);
        },
        seconds(5));
  });
  EXPECT_THAT(message, HasSubstr("bytes of rank"));
}

TEST(SingleWorld, NeedsNoStart) {
  World& world = World::current();
  EXPECT_EQ(world.rank(), 0);
  EXPECT_EQ(world.size(), 1);
  EXPECT_EQ(&world.rank_context(), &RankContext::current());
  int32_t x = 7;
  world.everyone().all_reduce(&x, 1, DataType::INT32, ReduceKind::kSum);
  EXPECT_EQ(x, 7);
}

TEST(DryWorld, CountsAndWaitsForNobody) {
  DryWorld world(5, 1000);
  const World::Scope scope(world);
  EXPECT_EQ(&World::current(), &world);
  std::vector<float> in(10);
  std::vector<float> out(10'000);
  world.everyone().all_gather(in.data(), out.data(), 10, DataType::FLOAT32);
  EXPECT_EQ(world.rank_context().counters().bytes_received, 999 * 40);
}

TEST(LocalWorld, IsCurrentInItsThread) {
  run_ranks(3, [](World& world) {
    EXPECT_EQ(&World::current(), &world);
    EXPECT_EQ(&RankContext::current(), &world.rank_context());
    EXPECT_EQ(world.rank_context().world_size(), 3);
  });
}

}  // namespace
}  // namespace phi::distributed
