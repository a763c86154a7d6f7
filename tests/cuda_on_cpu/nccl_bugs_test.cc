// Programs with bugs in their messages: each ends with a text of the stand-in of NCCL, or with
// wrong values.
#include <gmock/gmock.h>

#include <cmath>

#include "cuda_on_cpu/faulty_kernels.h"
#include "cuda_on_cpu/nccl_ranks.h"

namespace cuda_on_cpu_test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// For programs in which nothing can move. Others have more: a busy machine may let a thread wait.
void be_impatient() { cuda_on_cpu::set_patience(std::chrono::milliseconds(500)); }

class NcclDeathTest : public ::testing::Test {
 protected:
  NcclDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  ~NcclDeathTest() override { cuda_on_cpu::reset(); }
};

// Programs of two ranks. What they post is waited for by both.
using Program = std::function<void(Rank& rank, float* x, float* y, int peer)>;
void run(const Program& program) {
  on_ranks(2, [&](Rank& r) {
    float* x = r.filled(1, 16);
    float* y = r.gpu.allocate<float>(16);
    program(r, x, y, 1 - r.rank);
    EXPECT_WORKS(cudaStreamSynchronize(r.stream));
    return false;
  });
}

TEST_F(NcclDeathTest, BothSendBeforeTheyReceive) {
  be_impatient();
  const Program program = [](Rank& r, float* x, float* y, int peer) {
    EXPECT_DONE(ncclSend(x, 16, ncclFloat32, peer, r.comm, r.stream));
    EXPECT_DONE(ncclRecv(y, 16, ncclFloat32, peer, r.comm, r.stream));
  };
  EXPECT_DEATH(
      run(program),
      AllOf(HasSubstr("no stream can make progress"),
            ContainsRegex("of GPU 0: NCCL on communicator 1, rank 0 of 2: send of 16 "
                          "float32 to rank 1 \\(waits for rank 1\\), [0-9]+ queued after it"),
            ContainsRegex("of GPU 1: NCCL on communicator 1, rank 1 of 2: send of 16 "
                          "float32 to rank 0 \\(waits for rank 0\\)")));
}

// `grouped` does not help: on one stream each communicator's part is work of its own.
void two_communicators(bool grouped) {
  const ncclUniqueId second = new_id();
  run([&](Rank& r, float* x, float*, int) {
    const ncclComm_t other = make_comm(2, second, r.rank, true, "tensor");
    const ncclComm_t order[2] = {r.rank == 0 ? r.comm : other, r.rank == 0 ? other : r.comm};
    if (grouped) ncclGroupStart();
    for (const ncclComm_t comm : order) {
      EXPECT_DONE(ncclAllReduce(x, x, 16, ncclFloat32, ncclSum, comm, r.stream));
    }
    if (grouped) ncclGroupEnd();
  });
}

TEST_F(NcclDeathTest, CommunicatorsInOrdersThatDiffer) {
  be_impatient();
  const auto text = AllOf(HasSubstr("no stream can make progress"),
                          HasSubstr("communicator 1, rank 0 of 2: all-reduce of 16 float32, sum "
                                    "(waits for rank 1)"),
                          HasSubstr("communicator 2 \"tensor\", rank 1 of 2: all-reduce"));
  EXPECT_DEATH(two_communicators(false), text);
  EXPECT_DEATH(two_communicators(true), text);
}

TEST_F(NcclDeathTest, SizesThatDiffer) {
  const Program program = [](Rank& r, float* x, float* y, int peer) {
    EXPECT_DONE(r.rank == 0 ? ncclSend(x, 16, ncclFloat32, peer, r.comm, r.stream)
                            : ncclRecv(y, 8, ncclFloat32, peer, r.comm, r.stream));
  };
  EXPECT_DEATH(run(program),
               "NCCL's calls do not match:\n.*communicator 1, rank 0 of 2: send of 16 float32 "
               "to rank 1\n.*communicator 1, rank 1 of 2: receive of 8 float32 from rank 0");
}

TEST_F(NcclDeathTest, TypesThatDiffer) {
  const Program program = [](Rank& r, float* x, float* y, int peer) {
    EXPECT_DONE(r.rank == 0 ? ncclSend(x, 4, ncclFloat32, peer, r.comm, r.stream)
                            : ncclRecv(y, 4, ncclInt32, peer, r.comm, r.stream));
  };
  EXPECT_DEATH(run(program), "do not match:\n.*send of 4 float32 .*\n.*receive of 4 int32");
}

TEST_F(NcclDeathTest, CollectivesThatDiffer) {
  const auto both = [](auto first, auto second) {
    run([=](Rank& r, float* x, float* y, int) {
      EXPECT_DONE(r.rank == 0 ? first(r, x, y) : second(r, x, y));
    });
  };
  const auto reduce = [](ncclRedOp_t op, size_t n) {
    return [=](Rank& r, float* x, float* y) {
      return ncclAllReduce(x, y, n, ncclFloat32, op, r.comm, r.stream);
    };
  };
  const auto broadcast = [](int root) {
    return [=](Rank& r, float* x, float* y) {
      return ncclBroadcast(x, y, 16, ncclFloat32, root, r.comm, r.stream);
    };
  };
  EXPECT_DEATH(both(reduce(ncclSum, 16), reduce(ncclMax, 16)),
               "all-reduce of 16 float32, sum\n.*all-reduce of 16 float32, maximum");
  EXPECT_DEATH(both(reduce(ncclSum, 16), reduce(ncclSum, 15)), "do not match");
  EXPECT_DEATH(both(reduce(ncclSum, 16), broadcast(0)), "do not match");
  EXPECT_DEATH(both(broadcast(1), broadcast(0)),
               "16 float32 from rank 1\n.*16 float32 from rank 0");
}

// A second stream does not help, either: calls of one communicator follow each other.
TEST_F(NcclDeathTest, BothReceiveBeforeTheySendOnTwoStreams) {
  be_impatient();
  const Program program = [](Rank& r, float* x, float* y, int peer) {
    Session second;
    second.resets = false;
    EXPECT_DONE(ncclRecv(y, 16, ncclFloat32, peer, r.comm, r.stream));
    EXPECT_DONE(ncclSend(x, 16, ncclFloat32, peer, r.comm, second.stream));
  };
  EXPECT_DEATH(run(program), AllOf(HasSubstr("no stream can make progress"),
                                   HasSubstr("(waits for earlier work of its communicator)")));
}

enum class Role { kReduces, kSends, kReceives };

// Rank 1 frees the memory of a call on the stream of that, or on another that nothing orders.
void use_and_free(Role role, bool in_order) {
  cuda_on_cpu::set_order(cuda_on_cpu::Order::kForward);
  RanksOfOneThread ranks(2);
  float* kept = nullptr;
  ranks.each_rank([&](Rank r) {
    void* x = nullptr;
    Session other;
    other.resets = false;
    EXPECT_WORKS(cudaMallocAsync(&x, sizeof(float), r.stream));
    EXPECT_WORKS(cudaMemsetAsync(x, 0, sizeof(float), r.stream));
    EXPECT_WORKS(cudaStreamSynchronize(r.stream));
    const bool sends = (role == Role::kSends) == (r.rank == 1);
    EXPECT_DONE(role == Role::kReduces
                    ? ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, r.comm, r.stream)
                : sends ? ncclSend(x, 1, ncclFloat32, 1 - r.rank, r.comm, r.stream)
                        : ncclRecv(x, 1, ncclFloat32, 1 - r.rank, r.comm, r.stream));
    if (r.rank == 0) {
      kept = static_cast<float*>(x);
      return;
    }
    const cudaStream_t stream = in_order ? r.stream : other.stream;
    EXPECT_WORKS(cudaFreeAsync(x, stream));
    EXPECT_WORKS(cudaStreamSynchronize(stream));
    EXPECT_WORKS(cudaStreamSynchronize(r.stream));
  });
  EXPECT_WORKS(cudaSetDevice(0));
  EXPECT_EQ(ranks[0].gpu.download(kept, 1)[0], 0);
  EXPECT_WORKS(cudaFreeAsync(kept, ranks[0].stream));
}

TEST_F(NcclDeathTest, MemoryFreedEarly) {
  const std::string text =
      " of GPU 1 uses memory that is not allocated where it runs in the order of streams";
  for (const Role role : {Role::kReduces, Role::kSends, Role::kReceives}) use_and_free(role, true);
  EXPECT_DEATH(use_and_free(Role::kReduces, false),
               "rank 1 of 2: all-reduce of 1 float32, sum" + text);
  EXPECT_DEATH(use_and_free(Role::kSends, false), "send of 1 float32 to rank 0" + text);
  EXPECT_DEATH(use_and_free(Role::kReceives, false), "receive of 1 float32 from rank 0" + text);
}

TEST_F(NcclDeathTest, RanksThatDoNotCome) {
  be_impatient();
  const auto lonely = [] { make_comm(3, new_id(), 1, true, "world"); };
  EXPECT_DEATH(lonely(), "communicator 1 \"world\", rank 1 of 3, waits for rank 0, 2");
}

TEST_F(NcclDeathTest, TheDefaultStream) {
  EXPECT_DEATH(run([](Rank& r, float* x, float*, int) {
                 ncclAllReduce(x, x, 16, ncclFloat32, ncclSum, r.comm, nullptr);
               }),
               "the default stream is used");
}

void end_before_its_graph(ncclResult_t (*end)(ncclComm_t)) {
  on_ranks(1, [&](Rank& r) {
    float* x = r.filled(1);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_WORKS(cudaStreamBeginCapture(r.stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, r.comm, r.stream));
    EXPECT_WORKS(cudaStreamEndCapture(r.stream, &graph));
    EXPECT_WORKS(cudaGraphInstantiate(&exec, graph, 0));
    end(r.comm);
    return true;
  });
}

TEST_F(NcclDeathTest, AGraphOfACommunicatorThatEnds) {
  be_impatient();
  const std::string text =
      " waits for the end of graphs, which hold 1 groups of calls of communicator 1, rank 0 of 1";
  EXPECT_DEATH(end_before_its_graph(ncclCommFinalize), "ncclCommFinalize" + text);
  EXPECT_DEATH(end_before_its_graph(ncclCommDestroy), "ncclCommDestroy" + text);
  EXPECT_DEATH(end_before_its_graph(ncclCommAbort), "ncclCommAbort" + text);
}

// What rank 0 receives by the first never comes; the second one's receive stands behind it.
TEST_F(NcclDeathTest, AnAbortBehindAnotherCommunicator) {
  be_impatient();
  const auto abort_the_second = [] {
    const ncclUniqueId id = new_id();
    on_ranks(2, [&](Rank& r) {
      const ncclComm_t second = make_comm(2, id, r.rank);
      if (r.rank == 1) return true;
      float* x = r.filled(1);
      EXPECT_DONE(ncclRecv(x, 1, ncclFloat32, 1, r.comm, r.stream));
      EXPECT_DONE(ncclRecv(x, 1, ncclFloat32, 1, second, r.stream));
      ncclCommAbort(second);
      return true;
    });
  };
  EXPECT_DEATH(abort_the_second(),
               "ncclCommAbort of communicator 2, rank 0 of 2 waits for earlier work of its stream, "
               "of: communicator 1, rank 0 of 2. Abort them in one group");
}

// One value from rank 0 to rank 1 on streams for messages, between streams for computation; each
// rank may forget to wait. What rank 1 has computed of it.
float through_streams(bool sender_waits, bool receiver_waits) {
  RanksOfOneThread ranks(2);
  float result = 0;
  ranks.each_rank([&](Rank r) {
    Session& compute = r.gpu;
    cudaStream_t messages = nullptr;
    cudaEvent_t event = nullptr;
    EXPECT_WORKS(cudaStreamCreateWithFlags(&messages, cudaStreamNonBlocking));
    EXPECT_WORKS(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    const auto wait = [&](cudaStream_t before, cudaStream_t behind) {
      EXPECT_WORKS(cudaEventRecord(event, before));
      EXPECT_WORKS(cudaStreamWaitEvent(behind, event, 0));
    };
    float* ready = r.filled(3);
    float* x = compute.allocate<float>(1);
    float* y = compute.allocate<float>(1);
    EXPECT_WORKS(cudaStreamSynchronize(compute.stream));
    if (r.rank == 0) {
      EXPECT_WORKS(copy_one(compute.stream, ready, x));
      if (sender_waits) wait(compute.stream, messages);
      EXPECT_DONE(ncclSend(x, 1, ncclFloat32, 1, r.comm, messages));
    } else {
      EXPECT_DONE(ncclRecv(x, 1, ncclFloat32, 0, r.comm, messages));
      if (receiver_waits) wait(messages, compute.stream);
      EXPECT_WORKS(copy_one(compute.stream, x, y));
      result = compute.download(y, 1)[0];
      EXPECT_WORKS(cudaStreamSynchronize(messages));
    }
    EXPECT_WORKS(cudaEventDestroy(event));
    EXPECT_WORKS(cudaStreamDestroy(messages));
  });
  return result;
}

TEST(NcclBugs, ForgottenWaitsBetweenComputationAndMessages) {
  const auto set = [] { cuda_on_cpu::set_order(cuda_on_cpu::Order::kForward); };
  set();
  EXPECT_EQ(through_streams(true, true), 3);
  set();
  EXPECT_TRUE(std::isnan(through_streams(false, true)));
  set();
  EXPECT_TRUE(std::isnan(through_streams(true, false)));
}

// The event of a group that is still in progress says nothing of it.
float behind_event(bool polls) {
  cuda_on_cpu::set_order(cuda_on_cpu::Order::kForward);
  const ncclUniqueId id = new_id();
  std::vector<ncclComm_t> comms(2);
  on_threads(2,
             [&](int rank) { comms[static_cast<size_t>(rank)] = make_comm(2, id, rank, false); });
  float result = 0;
  float* y[2] = {};
  std::vector<std::unique_ptr<Session>> gpus;
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_WORKS(cudaSetDevice(rank));
    Session& gpu = *gpus.emplace_back(std::make_unique<Session>());
    gpu.resets = false;
    float* x = gpu.upload(std::vector<float>{2});
    y[rank] = gpu.allocate<float>(1);
    EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
    EXPECT_NCCL(ncclInProgress, ncclAllReduce(x, y[rank], 1, ncclFloat32, ncclSum,
                                              comms[static_cast<size_t>(rank)], gpu.stream));
    if (polls || rank == 0) wait_for(comms[static_cast<size_t>(rank)]);
  }
  cudaEvent_t event = nullptr;
  EXPECT_WORKS(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_WORKS(cudaEventRecord(event, gpus[1]->stream));
  Session reader;
  EXPECT_WORKS(cudaStreamWaitEvent(reader.stream, event, 0));
  EXPECT_WORKS(cudaEventDestroy(event));
  result = reader.download(y[1], 1)[0];
  wait_for(comms[1]);
  for (auto& gpu : gpus) EXPECT_WORKS(cudaStreamSynchronize(gpu->stream));
  for (const ncclComm_t comm : comms) EXPECT_DONE(ncclCommDestroy(comm));
  gpus.clear();
  EXPECT_WORKS(cudaSetDevice(0));
  return result;
}

TEST(NcclBugs, EventsRecordedWhileAGroupIsInProgress) {
  EXPECT_EQ(behind_event(true), 4);
  EXPECT_TRUE(std::isnan(behind_event(false)));
}

}  // namespace
}  // namespace cuda_on_cpu_test
