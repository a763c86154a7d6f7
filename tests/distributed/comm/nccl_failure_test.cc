// What happens between GPUs when a rank does not come, does something else, or fails: the errors of
// the other backends, before NCCL is asked; and what NCCL itself does not tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "distributed/comm/local/local_world.h"
#include "distributed/comm/nccl/nccl_communicator.h"
#include "phi/common/process/interruption.h"
#include "phi/core/device/host_array.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "support/cuda_on_cpu/nccl_on_cpu.h"
#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class BetweenGpus : public ::testing::Test {
 protected:
  ~BetweenGpus() override { cuda_on_cpu::reset(); }
};
using NcclFailure = BetweenGpus;
using NcclJoining = BetweenGpus;
using NcclFailureDeathTest = BetweenGpus;

// Ranks whose GPUs NCCL connects; the body gets the world of these.
void on_gpus(int64_t n, milliseconds deadline,
             const std::function<void(Communicator& gpus)>& body) {
  run_ranks(
      n,
      [&](World& host) {
        const Place gpu = GPUPlace(static_cast<int>(host.rank()));
        host.set_device_communicator(make_nccl_communicator(host, gpu, GpuReduction::kExact));
        body(host.communicator(gpu));
      },
      deadline);
}

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

// `n` floats of 1 on the world's GPU.
class Floats {
 public:
  Floats(Communicator& gpus, int64_t n)
      : device_(gpus.device()), memory_(device_, size_t(n) * 4), n_(n) {
    set(1.0f);
  }
  void set(float value) {
    const std::vector<float> values(static_cast<size_t>(n_), value);
    device_.copy_from_host(memory_.data(), values.data(), values.size() * 4);
  }
  float first() const {
    float value = 0;
    device_.copy_to_host(&value, memory_.data(), 4);
    return value;
  }
  std::byte* data() const { return memory_.data(); }

 private:
  Device& device_;
  DeviceMemory memory_;
  int64_t n_;
};

void all_reduce(Communicator& gpus, int64_t n = 6) {
  const Floats x(gpus, n);
  gpus.everyone().all_reduce(x.data(), n, DataType::FLOAT32, ReduceKind::kSum);
  EXPECT_EQ(x.first(), static_cast<float>(gpus.size()));
}

// The first of the floats goes to the second one of the other of two ranks.
void exchange(Group& group, const Floats& x) {
  const int64_t peer = 1 - group.position();
  const Send send{peer, x.data(), 4};
  const Recv recv{peer, x.data() + 4, 4};
  group.exchange({&send, 1}, {&recv, 1});
}

// From one place of the program on, the same on all ranks.
void plant(Communicator& gpus, const std::function<void()>& fault) {
  gpus.everyone().barrier();
  if (gpus.rank() == 0) fault();
  World::current().everyone().barrier();
}

TEST_F(NcclFailure, ALateRankIsNamed) {
  const std::string message = message_of([] {
    on_gpus(3, milliseconds(300), [](Communicator& gpus) {
      const OpScope scope("matmul_grad");
      all_reduce(gpus);
      if (gpus.rank() == 2) {
        std::this_thread::sleep_for(milliseconds(900));
        return;
      }
      all_reduce(gpus);
    });
  });
  EXPECT_THAT(message, AllOf(HasSubstr("Timed out after 0.3 s in all_reduce #2 of group {0,1,2} of "
                                       "GPUs (sum of 6 f32, 24 bytes, from matmul_grad)"),
                             HasSubstr("waiting in all_reduce #2"), HasSubstr("<- missing")));
}

TEST_F(NcclFailure, OfOneRankIsTheJobsError) {
  const std::string message = message_of([] {
    on_gpus(3, seconds(30), [](Communicator& gpus) {
      all_reduce(gpus);
      if (gpus.rank() == 1) throw errors::InvalidArgument("x is wrong here.");
      all_reduce(gpus);
    });
  });
  EXPECT_THAT(message, AllOf(HasSubstr("x is wrong here."), HasSubstr("at rank 1 of 3")));
}

TEST_F(NcclFailure, SizesThatDifferNameBothRanks) {
  const std::string message = message_of([] {
    on_gpus(2, seconds(30), [](Communicator& gpus) {
      const Floats x(gpus, 8);
      const Send send{1, x.data(), 8};
      const Recv recv{0, x.data(), 12};
      if (gpus.rank() == 0) gpus.everyone().exchange({&send, 1}, {});
      if (gpus.rank() == 1) gpus.everyone().exchange({}, {&recv, 1});
    });
  });
  EXPECT_THAT(message,
              HasSubstr("rank 1 expects 12 bytes from rank 0 but receives 8, in exchange #1 of "
                        "group {0,1} of GPUs"));
}

TEST_F(NcclFailure, NumbersOfMessagesThatDifferAreNamed) {
  const std::string message = message_of([] {
    on_gpus(2, seconds(30), [](Communicator& gpus) {
      const Floats x(gpus, 8);
      const Send sends[] = {{1, x.data(), 8}, {1, x.data(), 8}};
      const Recv recv{0, x.data(), 8};
      if (gpus.rank() == 0) gpus.everyone().exchange(sends, {});
      if (gpus.rank() == 1) gpus.everyone().exchange({}, {&recv, 1});
    });
  });
  EXPECT_THAT(message, HasSubstr("rank 0 sends rank 1 2 messages, but the receiver expects 1"));
}

TEST_F(NcclFailure, CallsThatDoNotMatchNameBoth) {
  const std::string message = message_of([] {
    on_gpus(2, seconds(30), [](Communicator& gpus) {
      const Floats x(gpus, 8);
      gpus.everyone().all_reduce(x.data(), 2 + gpus.rank(), DataType::FLOAT32, ReduceKind::kSum);
    });
  });
  EXPECT_THAT(message, ContainsRegex("calls do not match \\(count (2 and 3|3 and 2)\\)"));
}

// NCCL would wait for ever: each rank's stream has the other's second call first.
TEST_F(NcclFailure, OrdersThatDifferAreAnError) {
  const std::string message = message_of([] {
    on_gpus(2, seconds(30), [](Communicator& gpus) {
      const int64_t up[] = {0, 1}, down[] = {1, 0};
      Group* const groups[] = {&gpus.group(up), &gpus.group(down)};
      std::vector<Transfer> transfers;
      for (const int64_t turn : {gpus.rank(), 1 - gpus.rank()}) {
        Group& group = *groups[turn];
        const auto x = std::make_shared<Floats>(gpus, 2);
        const Send send{1 - group.position(), x->data(), 4};
        const Recv recv{1 - group.position(), x->data() + 4, 4};
        transfers.push_back(group.start_exchange({&send, 1}, {&recv, 1}, x));
      }
      for (const Transfer& transfer : transfers) transfer.wait();
    });
  });
  EXPECT_THAT(
      message,
      AllOf(HasSubstr("calls are in different orders: exchange #1 of group"),
            ContainsRegex("is call [12] of rank 0 with rank 1, but call [12] on the other rank")));
}

// Between the hosts all is well.
TEST_F(NcclFailure, AGpuThatDoesNotComeEndsTheJobAtTheDeadline) {
  const std::string message = message_of([] {
    on_gpus(2, milliseconds(400), [](Communicator& gpus) {
      all_reduce(gpus);
      gpus.everyone().barrier();
      if (gpus.rank() == 0) cuda_on_cpu::stop_nccl_rank(/*gpu=*/1, /*calls=*/0);
      World::current().everyone().barrier();
      all_reduce(gpus);
    });
  });
  EXPECT_THAT(message,
              AllOf(HasSubstr("Timed out after 0.4 s in all_reduce #3 of group {0,1} of GPUs"),
                    HasSubstr("All ranks have entered it, but their GPUs have not")));
}

TEST_F(NcclFailure, WhatNcclReportsIsTheError) {
  const std::string message = message_of([] {
    on_gpus(2, seconds(30), [](Communicator& gpus) {
      all_reduce(gpus);
      gpus.everyone().barrier();
      if (gpus.rank() == 0) cuda_on_cpu::stop_nccl_rank(/*gpu=*/1, /*calls=*/0, ncclRemoteError);
      World::current().everyone().barrier();
      all_reduce(gpus);
    });
  });
  EXPECT_THAT(message, ContainsRegex("NCCL error 6"));
}

// The values that the rank would read mean nothing.
TEST_F(NcclFailure, ReachesARankThatWaitsForItsGpu) {
  EXPECT_THAT(
      [] {
        on_gpus(2, milliseconds(400), [](Communicator& gpus) {
          gpus.everyone().barrier();
          if (gpus.rank() == 0) cuda_on_cpu::stop_nccl_rank(/*gpu=*/1, /*calls=*/0);
          World::current().everyone().barrier();
          const Floats x(gpus, 2);
          const Send send{1 - gpus.rank(), x.data(), 4};
          const Recv recv{1 - gpus.rank(), x.data() + 4, 4};
          gpus.everyone().exchange({&send, 1}, {&recv, 1});
          gpus.device().wait();
          ADD_FAILURE() << "rank " << gpus.rank() << " goes on";
        });
      },
      ThrowsError(ErrorCode::kExecutionTimeout, "Timed out after 0.4 s in exchange #"));
}

// Finished calls are still queued, because the rank's thread waits for its GPU.
TEST_F(NcclFailure, OfALaterCallIsFound) {
  EXPECT_THAT(
      [] {
        on_gpus(2, milliseconds(400), [](Communicator& gpus) {
          const Floats x(gpus, 2);
          plant(gpus, [] { cuda_on_cpu::stop_nccl_rank(/*gpu=*/1, /*calls=*/2); });
          exchange(gpus.everyone(), x);
          exchange(gpus.everyone(), x);
          gpus.device().wait();
          ADD_FAILURE() << "rank " << gpus.rank() << " goes on";
        });
      },
      ThrowsError(ErrorCode::kExecutionTimeout, "Timed out after 0.4 s in exchange #"));
}

// NCCL would wait for the one that it is told to abort first, which stands behind the other.
TEST_F(NcclFailure, OfOneCommunicatorEndsThoseBehindIt) {
  for (const bool first_of_all : {true, false}) {
    EXPECT_THAT(
        [&] {
          on_gpus(2, milliseconds(400), [&](Communicator& gpus) {
            const int64_t down[] = {1, 0};
            Group& pair = gpus.group(down);
            const Floats x(gpus, 2), y(gpus, 4);
            const auto gather = [&] { pair.all_gather(x.data(), y.data(), 2, DataType::FLOAT32); };
            gather();  // its communicator is made
            plant(gpus, [] { cuda_on_cpu::stop_nccl_rank(/*gpu=*/1, /*calls=*/0); });
            if (first_of_all) exchange(gpus.everyone(), x);
            gather();
            if (!first_of_all) exchange(gpus.everyone(), x);
            gpus.device().wait();
            ADD_FAILURE() << "rank " << gpus.rank() << " goes on";
          });
        },
        ThrowsError(ErrorCode::kExecutionTimeout, "Timed out after 0.4 s in "));
    cuda_on_cpu::reset();
  }
}

struct Interrupted {};
// How often this thread may still ask; 0: as often as it likes.
thread_local int asks_until_interrupted = 0;

// What NCCL was told stays with it, and the next call waits for that.
TEST_F(NcclFailure, AnInterruptedWaitLeavesACommunicatorThatServes) {
  on_gpus(2, seconds(30), [](Communicator& gpus) {
    // Both now: later a rank would wait for its GPU, and that for the other rank.
    Floats x(gpus, 2), y(gpus, 2);
    y.set(static_cast<float>(gpus.rank()));
    plant(gpus, [] {
      cuda_on_cpu::delay_nccl(/*polls=*/5000);
      set_interruption_handler([] {
        if (asks_until_interrupted > 0 && --asks_until_interrupted == 0) throw Interrupted{};
      });
    });
    if (gpus.rank() == 0) {
      // The other rank is there: what takes long is NCCL.
      std::this_thread::sleep_for(milliseconds(500));
      asks_until_interrupted = 3;
      EXPECT_THROW(exchange(gpus.everyone(), x), Interrupted);
    } else {
      exchange(gpus.everyone(), x);
    }
    exchange(gpus.everyone(), y);
    float received = -1;
    gpus.device().copy_to_host(&received, y.data() + 4, 4);
    EXPECT_EQ(received, static_cast<float>(1 - gpus.rank()));
    gpus.everyone().barrier();
  });
  set_interruption_handler(nullptr);
}

TEST_F(NcclFailureDeathTest, ACallThatNcclKeepsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      on_gpus(2, milliseconds(300),
              [](Communicator& gpus) {
                plant(gpus, [] {
                  cuda_on_cpu::hang_nccl_calls(/*gpu=*/0);
                  cuda_on_cpu::hang_nccl_calls(/*gpu=*/1);
                });
                all_reduce(gpus);
              }),
      ::testing::ExitedWithCode(1),
      "NCCL has not accepted all_reduce.* within 0.3 s on rank .*NCCL does not finish its work");
}

TEST_F(NcclFailureDeathTest, AnEndThatHangsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(on_gpus(2, seconds(30),
                      [](Communicator& gpus) {
                        plant(gpus, [] {
                          cuda_on_cpu::hang_nccl_finalize(/*gpu=*/0);
                          cuda_on_cpu::hang_nccl_finalize(/*gpu=*/1);
                        });
                      }),
              ::testing::ExitedWithCode(1),
              "rank [01] leaves the job.*NCCL does not finish its work");
}

TEST_F(NcclFailureDeathTest, AnAbortThatHangsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(on_gpus(2, milliseconds(300),
                      [](Communicator& gpus) {
                        gpus.everyone().barrier();
                        if (gpus.rank() == 0) {
                          cuda_on_cpu::stop_nccl_rank(/*gpu=*/1, /*calls=*/0);
                          cuda_on_cpu::hang_nccl_abort(/*gpu=*/0);
                          cuda_on_cpu::hang_nccl_abort(/*gpu=*/1);
                        }
                        World::current().everyone().barrier();
                        all_reduce(gpus);
                      }),
              ::testing::ExitedWithCode(1),
              "Timed out after 0.3 s in all_reduce.*NCCL does not finish its work");
}

TEST_F(NcclJoining, NeedsOneVersionOnAllRanks) {
  cuda_on_cpu::set_nccl_version(/*gpu=*/1, 22703);
  EXPECT_THAT([] { on_gpus(2, seconds(30), [](Communicator&) {}); },
              ThrowsError(ErrorCode::kPreconditionNotMet,
                          "rank 0 has NCCL 2.28.9 and rank 1 has NCCL 2.27.3"));
}

TEST_F(NcclJoining, NeedsANewVersion) {
  cuda_on_cpu::set_nccl_version(22602);
  EXPECT_THAT([] { on_gpus(2, seconds(30), [](Communicator&) {}); },
              ThrowsError(ErrorCode::kUnavailable,
                          "NCCL 2.26.2 is installed, and 2.27.0 or newer is needed"));
}

// Whatever the program asks for: NCCL follows the environment.
TEST_F(NcclJoining, RefusesCallsThatBlock) {
  setenv("NCCL_COMM_BLOCKING", "1", 1);
  EXPECT_THAT([] { on_gpus(2, seconds(30), [](Communicator&) {}); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "the environment of rank 0 has NCCL_COMM_BLOCKING=1"));
  setenv("NCCL_COMM_BLOCKING", "0", 1);
  on_gpus(2, seconds(30), [](Communicator& gpus) { all_reduce(gpus); });
  unsetenv("NCCL_COMM_BLOCKING");
}

TEST_F(NcclJoining, WantsAGpuForEachRank) {
  EXPECT_THAT(
      [] {
        run_ranks(3, [](World& host) {
          make_nccl_communicator(host, GPUPlace(static_cast<int>(host.rank() % 2)),
                                 GpuReduction::kExact);
        });
      },
      ThrowsError(ErrorCode::kPreconditionNotMet, "ranks 0 and 2 use the same GPU"));
}

}  // namespace
}  // namespace phi::distributed
