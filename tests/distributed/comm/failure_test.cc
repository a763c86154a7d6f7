// What happens when a rank does not come, does something else, or fails: an error on every rank,
// with who and what, and never a hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "distributed/comm/comm_annotation.h"
#include "distributed/comm/dry/dry_world.h"
#include "distributed/comm/local/local_world.h"
#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

// Makes no call for longer than the deadlines of these tests, as a rank that computes.
void compute_on() { std::this_thread::sleep_for(milliseconds(300)); }

TEST(Deadline, ReportsWhoIsMissingAndWhatItDidLast) {
  const std::string message = message_of([] {
    run_ranks(
        3,
        [](World& world) {
          const OpScope scope("matmul_grad");
          float x = 1;
          world.everyone().all_reduce(&x, 1, DataType::FLOAT32, ReduceKind::kSum);
          if (world.rank() == 2) return compute_on();  // comes to the second call too late
          world.everyone().all_reduce(&x, 1, DataType::FLOAT32, ReduceKind::kSum);
        },
        milliseconds(100));
  });
  EXPECT_THAT(message,
              AllOf(HasSubstr("Timed out after 0.1 s in all_reduce #2 of group {0,1,2}"),
                    HasSubstr("(sum of 1 f32, 4 bytes, from matmul_grad)"),
                    HasSubstr("rank 0  waiting in all_reduce #2"), HasSubstr("<- missing")));
}

TEST(Deadline, IsAnExecutionTimeout) {
  EXPECT_THAT(
      [] {
        run_ranks(
            2,
            [](World& world) {
              if (world.rank() == 0) return world.everyone().barrier();
              compute_on();
            },
            milliseconds(50));
      },
      ThrowsError(ErrorCode::kExecutionTimeout, "rank 1  has made no call yet"));
}

// Far below the deadline, which is a minute.
TEST(Deadline, IsNotAwaitedWhereARankHasLeft) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(
      [] {
        run_ranks(3, [](World& world) {
          const OpScope scope("grad");
          float x = 1;
          world.everyone().barrier();
          if (world.rank() == 1) return;
          world.everyone().all_reduce(&x, 1, DataType::FLOAT32, ReduceKind::kSum);
        });
      },
      ThrowsError(ErrorCode::kUnavailable,
                  "Rank 1 has left the job without all_reduce #2 of group {0,1,2} (sum of 1 f32, 4 "
                  "bytes, from grad), which every rank of the group must call."));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(30));
}

// A rank may leave before the others have received its part of the last call.
TEST(Deadline, ARankThatLeavesAfterItsLastCallIsNotMissed) {
  run_ranks(4, [](World& world) {
    for (int i = 0; i < 200; ++i) {
      const int64_t pair[] = {world.rank() & ~int64_t{1}, world.rank() | int64_t{1}};
      float x = 1;
      world.group(pair).all_reduce(&x, 1, DataType::FLOAT32, ReduceKind::kSum);
      world.everyone().broadcast(&x, 1, DataType::FLOAT32, 0);
      EXPECT_EQ(x, 2);
    }
  });
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

TEST(Failure, CountsThatDoNotMatchNameBoth) {
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
  EXPECT_THAT(message, AllOf(ContainsRegex("calls do not match \\(count (2 and 4|4 and 2)\\)"),
                             HasSubstr("all_gather #1 of group {0,1} (2 f32, 8 bytes)"),
                             HasSubstr("all_gather #1 of group {0,1} (4 f32, 16 bytes)")));
}

// Rank 1 says another operator; nothing that rank 2 gets comes from it.
void broadcast_from(World& world, bool strict) {
  const OpScope scope(world.rank() == 1 ? "add" : "matmul");
  world.set_strict_collectives(strict);
  float x = 1;
  world.everyone().broadcast(&x, 1, DataType::FLOAT32, 0);
}

TEST(StrictCollectives, CompareCallsThatDifferInWhatTheyAreFor) {
  run_ranks(3, [](World& world) { broadcast_from(world, /*strict=*/false); });
  EXPECT_THAT([] { run_ranks(3, [](World& world) { broadcast_from(world, /*strict=*/true); }); },
              ThrowsError(ErrorCode::kInvalidArgument, "calls do not match (source "));
}

TEST(StrictCollectives, CompareRanksThatExchangeNothing) {
  const auto skips = [](World& world) {
    world.set_strict_collectives(true);
    // Ranks 1 and 2 are leaves of the tree.
    float x = 1;
    if (world.rank() == 2) {
      world.everyone().exchange({}, {});
    } else {
      world.everyone().broadcast(&x, 0, DataType::FLOAT32, 0);
    }
  };
  EXPECT_THAT([&] { run_ranks(3, skips); },
              ThrowsError(ErrorCode::kInvalidArgument, "exchange #1 of group {0,1,2}"));
}

TEST(Failure, ShapesThatDoNotMatchAreNamed) {
  const auto reduce = [](World& world) {
    const Dims shape = world.rank() == 0 ? Dims{2, 3} : Dims{3, 2};
    const CommAnnotation about(shape, DataType::FLOAT32);
    float x[6] = {};
    world.everyone().all_reduce(x, 6, DataType::FLOAT32, ReduceKind::kSum);
  };
  const std::string message = message_of([&] { run_ranks(2, reduce); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("calls do not match (shape ["),
                    HasSubstr("all_reduce #1 of group {0,1} (sum of f32[2,3], 24 bytes)"),
                    HasSubstr("all_reduce #1 of group {0,1} (sum of f32[3,2], 24 bytes)")));
}

// Rank 1 makes another second call, in which it needs nobody, and stays away from the third.
TEST(Deadline, NamesTheFirstCallOnWhichRanksDiffer) {
  const std::string message = message_of([] {
    run_ranks(
        2,
        [](World& world) {
          Group& all = world.everyone();
          char x = 0;
          all.barrier();
          if (world.rank() == 1) {
            all.exchange({}, {});
            return compute_on();
          }
          all.broadcast(&x, 0, DataType::UINT8, 0);
          all.barrier();
        },
        milliseconds(50));
  });
  EXPECT_THAT(message,
              AllOf(HasSubstr("Timed out after 0.05 s in barrier #3 of group {0,1}"),
                    HasSubstr("of group {0,1} on which ranks differ is #2 (op broadcast and "
                              "exchange"),
                    HasSubstr("rank 0 calls broadcast #2 of group {0,1} (0 u8, 0 bytes, root 0), "
                              "rank 1 calls exchange #2 of group {0,1} (0 bytes)")));
}

TEST(HangReport, AllThatRanksRememberGoesToAFolder) {
  const std::string folder = ::testing::TempDir() + "autophi_hang_report";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  setenv("AUTOPHI_REPORT_DIR", folder.c_str(), 1);
  const std::string message = message_of([] {
    run_ranks(
        2,
        [](World& world) {
          for (int i = 0; i < 20; ++i) world.everyone().barrier();
          if (world.rank() == 0) return world.everyone().barrier();
          compute_on();
        },
        milliseconds(50));
  });
  unsetenv("AUTOPHI_REPORT_DIR");
  EXPECT_THAT(message, AllOf(HasSubstr("the full report is in " + folder),
                             Not(HasSubstr("barrier #2 of group"))));
  std::string kept;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(file.path());
    kept.append(std::istreambuf_iterator<char>(stream), {});
  }
  EXPECT_THAT(kept, AllOf(HasSubstr("Timed out after 0.05 s in barrier #21"),
                          HasSubstr("barrier #2 of group {0,1}"), HasSubstr("<- missing")));
  std::filesystem::remove_all(folder);
}

TEST(HangReport, AFolderThatCannotBeWrittenIsSaid) {
  setenv("AUTOPHI_REPORT_DIR", "/proc/no folder", 1);
  const std::string message = message_of([] {
    run_ranks(
        2,
        [](World& world) {
          if (world.rank() == 0) return world.everyone().barrier();
          compute_on();
        },
        milliseconds(50));
  });
  unsetenv("AUTOPHI_REPORT_DIR");
  EXPECT_THAT(message, AllOf(HasSubstr("Timed out after 0.05 s in barrier #1"),
                             HasSubstr("cannot write /proc/no folder/hang-")));
}

// A transfer of 8 bytes between ranks 0 and 1; the receiver expects `expected`.
Transfer start_between(World& world, size_t expected = 8) {
  auto bytes = std::make_shared<std::vector<std::byte>>(16);
  const Send send{1, bytes->data(), 8};
  const Recv recv{0, bytes->data(), expected};
  if (world.rank() == 0) return world.everyone().start_exchange({&send, 1}, {}, bytes);
  return world.everyone().start_exchange({}, {&recv, 1}, bytes);
}

// Rank 2 has gone on to the next call and is not who is missing.
TEST(TransferFailure, DeadlineNamesWhoNeverPostedIt) {
  const std::string message = message_of([] {
    run_ranks(
        3,
        [](World& world) {
          Group& all = world.everyone();
          if (world.rank() == 2) {
            all.start_exchange({}, {}, nullptr);
            world.set_deadline(seconds(10));
            all.barrier();
          } else if (world.rank() == 1) {
            start_between(world).wait();
          } else {
            std::this_thread::sleep_for(milliseconds(300));
          }
        },
        milliseconds(100));
  });
  EXPECT_THAT(message, AllOf(HasSubstr("Timed out after 0.1 s in exchange #1 of group {0,1,2}"),
                             HasSubstr("rank 0  has made no call yet  <- missing"),
                             HasSubstr("rank 1  waiting in exchange #1 of group {0,1,2} (8 bytes)"),
                             HasSubstr("rank 2  waiting in barrier #2")));
  EXPECT_THAT(message.substr(message.find("rank 2 ")), Not(HasSubstr("missing")));
}

TEST(TransferFailure, SizesThatDoNotMatchRiseWhereTheReceiverWaits) {
  const std::string message = message_of([] {
    run_ranks(2, [](World& world) {
      const Transfer t = start_between(world, /*expected=*/12);
      world.everyone().barrier();
      EXPECT_TRUE(t.done());
      t.wait();
    });
  });
  EXPECT_THAT(message,
              AllOf(HasSubstr("rank 1 expects 12 bytes from rank 0 but receives 8, in exchange #1"),
                    HasSubstr("at rank 1 of 2")));
}

TEST(TransferFailure, OfADroppedOneRisesInALaterCall) {
  std::atomic<bool> raised{false};
  const std::string message = message_of([&] {
    run_ranks(2, [&](World& world) {
      try {
        start_between(world, /*expected=*/12);
        world.everyone().barrier();
      } catch (const Error& error) {
        if (error.code() == ErrorCode::kInvalidArgument) raised = true;
        throw;
      }
    });
  });
  EXPECT_TRUE(raised);
  EXPECT_THAT(message, HasSubstr("rank 1 expects 12 bytes from rank 0 but receives 8"));
}

TEST(TransferFailure, IsToldAgainByEveryWait) {
  run_ranks(2, [](World& world) {
    const Transfer t = start_between(world, world.rank() == 1 ? 12 : 8);
    world.everyone().barrier();
    for (int i = 0; i < 2 && world.rank() == 1; ++i) {
      EXPECT_THAT([&] { t.wait(); }, ThrowsError(ErrorCode::kInvalidArgument, "expects 12 bytes"));
    }
    world.everyone().barrier();
  });
}

// The job's end waits for what was sent, not for ever.
TEST(TransferFailure, OneThatNobodyReceivesIsAnErrorAtTheEnd) {
  const std::string message = message_of([] {
    run_ranks(
        2,
        [](World& world) {
          if (world.rank() == 0) start_between(world);
        },
        milliseconds(50));
  });
  EXPECT_THAT(message, AllOf(HasSubstr("Rank 1 has left the job without exchange #1"),
                             HasSubstr("rank 1  has made no call yet  <- missing")));
}

TEST(TransferFailure, ARankThatFailsWakesTheOthersAndLeavesNothingBehind) {
  std::weak_ptr<int> kept;
  const std::string message = message_of([&] {
    run_ranks(
        2,
        [&](World& world) {
          char bytes[8] = {};
          const Send send{0, bytes, 8};
          auto owner = std::make_shared<int>(0);
          if (world.rank() == 1) {
            kept = owner;
            world.everyone().start_exchange({}, {}, nullptr);
            world.everyone().start_exchange({&send, 1}, {}, std::move(owner));
            throw errors::InvalidArgument("x is wrong here.");
          }
          const Recv recv{1, bytes, 8};
          world.everyone().start_exchange({}, {&recv, 1}, owner).wait();
        },
        seconds(30));
  });
  EXPECT_THAT(message, AnyOf(HasSubstr("x is wrong here."), HasSubstr("calls do not match")));
  EXPECT_TRUE(kept.expired());
}

TEST(TransferFailure, AHandleMayOutliveItsWorld) {
  Transfer late;
  EXPECT_THROW(run_ranks(
                   2,
                   [&](World& world) {
                     if (world.rank() == 0) late = start_between(world);
                     if (world.rank() == 1) throw errors::InvalidArgument("x is wrong here.");
                   },
                   seconds(30)),
               Error);
  EXPECT_TRUE(late.done());
  EXPECT_THAT([&] { late.wait(); },
              // Whichever comes first, the other rank's failure or the end of this one's world.
              AnyOf(ThrowsError(ErrorCode::kUnavailable, "rank 1 failed: x is wrong here."),
                    ThrowsError(ErrorCode::kUnavailable, "rank 0 left the job before")));
}

TEST(InitWorld, IsCalledOnce) {
  int argc = 0;
  char** argv = nullptr;
  init_world(&argc, &argv);
  EXPECT_THAT([&] { init_world(&argc, &argv); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "init_world is called twice"));
  finalize_world();
}

TEST(DryWorld, TransfersAreDoneWhenTheyStart) {
  DryWorld world(5, 1000);
  auto bytes = std::make_shared<std::vector<std::byte>>(40);
  const Send send{4, bytes->data(), 40};
  const Recv recv{6, bytes->data(), 40};
  const Transfer t = world.everyone().start_exchange({&send, 1}, {&recv, 1}, bytes);
  t.wait();
  EXPECT_EQ(world.rank_context().counters().bytes_sent, 40);
  EXPECT_EQ(world.rank_context().counters().bytes_received, 40);
  EXPECT_EQ(bytes.use_count(), 1);
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
