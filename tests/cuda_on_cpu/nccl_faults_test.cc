// Bugs in the use of NCCL: each has a small program that has it, and what its stand-in says.
#include <gmock/gmock.h>

#include <atomic>
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
  EXPECT_DEATH(run(program),
               AllOf(HasSubstr("nothing can move any more"),
                     ContainsRegex("of GPU 0: NCCL on communicator 1, rank 0 of 2: send of 16 "
                                   "float32 to rank 1 \\(waits for rank 1\\), [0-9]+ behind it"),
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
  const auto text = AllOf(HasSubstr("nothing can move any more"),
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
  EXPECT_DEATH(
      run(program),
      "NCCL's calls do not fit together:\n.*communicator 1, rank 0 of 2: send of 16 float32 "
      "to rank 1\n.*communicator 1, rank 1 of 2: receive of 8 float32 from rank 0");
}

TEST_F(NcclDeathTest, TypesThatDiffer) {
  const Program program = [](Rank& r, float* x, float* y, int peer) {
    EXPECT_DONE(r.rank == 0 ? ncclSend(x, 4, ncclFloat32, peer, r.comm, r.stream)
                            : ncclRecv(y, 4, ncclInt32, peer, r.comm, r.stream));
  };
  EXPECT_DEATH(run(program), "do not fit together:\n.*send of 4 float32 .*\n.*receive of 4 int32");
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
  EXPECT_DEATH(both(reduce(ncclSum, 16), reduce(ncclSum, 15)), "do not fit together");
  EXPECT_DEATH(both(reduce(ncclSum, 16), broadcast(0)), "do not fit together");
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
  EXPECT_DEATH(run(program), AllOf(HasSubstr("nothing can move any more"),
                                   HasSubstr("(waits for what its communicator has before it)")));
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

void replay_after(ncclResult_t (*end)(ncclComm_t)) {
  on_ranks(1, [&](Rank& r) {
    float* x = r.filled(1);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_WORKS(cudaStreamBeginCapture(r.stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, r.comm, r.stream));
    EXPECT_WORKS(cudaStreamEndCapture(r.stream, &graph));
    EXPECT_WORKS(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_DONE(end(r.comm));
    cudaGraphLaunch(exec, r.stream);
    return true;
  });
}

TEST_F(NcclDeathTest, AGraphOfACommunicatorThatHasEnded) {
  const char* text =
      "a graph is launched whose communicator has ended: communicator 1, rank 0 of 1";
  EXPECT_DEATH(replay_after(ncclCommDestroy), text);
  EXPECT_DEATH(replay_after(ncclCommAbort), text);
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

// Refused calls ---------------------------------------------------------------------------------

void expect_refused(ncclResult_t wanted, ncclResult_t found, const std::string& text) {
  EXPECT_NCCL(wanted, found);
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr(text));
}

TEST(NcclBugs, BuffersThatAreNotTheCommunicatorsGpus) {
  RanksOfOneThread ranks(2);
  float* x[2];
  ranks.each_rank([&](Rank r) { x[r.rank] = r.filled(1, 4); });
  EXPECT_WORKS(cudaSetDevice(0));
  Rank r = ranks[0];
  std::vector<float> host(4);
  const auto send = [&](const float* from, size_t n) {
    return ncclSend(from, n, ncclFloat32, 1, r.comm, r.stream);
  };
  expect_refused(ncclInvalidArgument, send(host.data(), 4),
                 "ncclSend: the send buffer is not memory of GPU 0, but of the host");
  expect_refused(ncclInvalidArgument, send(x[1], 4), "not memory of GPU 0, but of GPU 1");
  expect_refused(ncclInvalidArgument, send(x[0] + 1, 4),
                 "16 bytes of the send buffer, which has 12");
  expect_refused(ncclInvalidArgument,
                 ncclAllReduce(x[0], x[0] + 1, 2, ncclFloat32, ncclSum, r.comm, r.stream),
                 "overlap");
}

TEST(NcclBugs, NumbersAndPlacesThatDoNotExist) {
  RanksOfOneThread ranks(2);
  float* x[2];
  ranks.each_rank([&](Rank r) { x[r.rank] = r.filled(1); });
  EXPECT_WORKS(cudaSetDevice(0));
  Rank r = ranks[0];
  const auto send = [&](int peer, ncclDataType_t type, cudaStream_t stream) {
    return ncclSend(x[0], 1, type, peer, r.comm, stream);
  };
  const ncclResult_t argument = ncclInvalidArgument;
  expect_refused(argument, send(2, ncclFloat32, r.stream),
                 "rank 2 of a communicator with ranks 0 to 1");
  expect_refused(argument, send(-1, ncclFloat32, r.stream), "rank -1");
  expect_refused(argument, send(1, ncclNumTypes, r.stream), "type 12");
  expect_refused(argument, ncclAllReduce(x[0], x[0], 1, ncclFloat32, ncclNumOps, r.comm, r.stream),
                 "operation 5");
  expect_refused(argument, ncclSend(x[0], 1, ncclFloat32, 1, nullptr, r.stream), "no communicator");
  expect_refused(ncclInvalidUsage, send(1, ncclFloat32, ranks[1].stream), "a stream of GPU 1");
  EXPECT_WORKS(cudaSetDevice(1));
  expect_refused(ncclInvalidUsage, send(1, ncclFloat32, r.stream), "the current GPU is 1");
}

TEST(NcclBugs, GroupsThatAreRefused) {
  RanksOfOneThread ranks(1);
  Rank r = ranks[0];
  float* x = r.filled(1);
  expect_refused(ncclInvalidUsage, ncclGroupEnd(), "no group is open");
  expect_refused(ncclInvalidUsage, ncclSend(x, 1, ncclFloat32, 0, r.comm, r.stream),
                 "sends to itself what it does not receive");
  EXPECT_DONE(ncclGroupStart());
  EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, r.comm, r.stream));
  expect_refused(ncclInvalidArgument, ncclRecv(nullptr, 1, ncclFloat32, 0, r.comm, r.stream),
                 "host");
  EXPECT_NCCL(ncclInvalidArgument, ncclGroupEnd());
  EXPECT_WORKS(cudaStreamSynchronize(r.stream));
  EXPECT_DONE(ncclCommDestroy(r.comm));  // nothing of that group is under way
}

TEST(NcclBugs, AGroupOfBothKindsOfCommunicators) {
  RanksOfOneThread ranks(1);
  Rank r = ranks[0];
  float* x = r.filled(1);
  const ncclComm_t other = make_comm(1, new_id(), 0, false);
  EXPECT_DONE(ncclGroupStart());
  EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, r.comm, r.stream));
  EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, other, r.stream));
  expect_refused(ncclInvalidArgument, ncclGroupEnd(), "blocking and non-blocking");
}

TEST(NcclBugs, UseWhileInProgress) {
  RanksOfOneThread ranks(1);
  Rank r = ranks[0];
  float* x = r.filled(1);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  const auto reduce = [&] { return ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, comm, r.stream); };
  EXPECT_NCCL(ncclInProgress, ncclCommInitRankConfig(&comm, 1, new_id(), 0, &config));
  const std::string text = "what the communicator did before is still in progress";
  expect_refused(ncclInvalidArgument, reduce(), text);
  wait_for(comm);
  EXPECT_NCCL(ncclInProgress, reduce());
  expect_refused(ncclInvalidArgument, reduce(), text);
  expect_refused(ncclInvalidArgument, ncclCommFinalize(comm), text);
  wait_for(comm);
  EXPECT_NCCL(ncclInProgress, ncclCommFinalize(comm));
  wait_for(comm);
  expect_refused(ncclInvalidUsage, reduce(), "has been finalized");
  EXPECT_DONE(ncclCommDestroy(comm));
  expect_refused(ncclInvalidArgument, reduce(),
                 "ncclAllReduce: the communicator has been destroyed");
  expect_refused(ncclInvalidArgument, ncclCommDestroy(comm), "destroyed");
}

// Ranks that do not fit together ----------------------------------------------------------------

// What each of two ranks is told when they make a communicator, whichever comes first.
void expect_unmade(
    const std::string& text, const std::function<int(int)>& gpu = [](int i) { return i; },
    const std::function<int(int)>& rank = [](int i) { return i; },
    const std::function<int(int)>& ranks = [](int) { return 2; }) {
  for (const int blocking : {0, 1}) {
    const ncclUniqueId id = new_id();
    on_threads(2, [&](int i) {
      EXPECT_WORKS(cudaSetDevice(gpu(i)));
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = blocking;
      ncclComm_t comm = nullptr;
      const ncclResult_t made = ncclCommInitRankConfig(&comm, ranks(i), id, rank(i), &config);
      EXPECT_NCCL(blocking == 1 ? ncclInvalidUsage : ncclInProgress, made);
      EXPECT_EQ(comm == nullptr, blocking == 1);
      if (comm != nullptr) wait_for(comm, ncclInvalidUsage);
      EXPECT_THAT(ncclGetLastError(comm), HasSubstr(text));
      if (comm == nullptr) return;
      EXPECT_DONE(ncclCommAbort(comm));
    });
  }
  cuda_on_cpu::reset();
}

TEST(NcclBugs, RanksThatMakeNoCommunicator) {
  const auto zero = [](int) { return 0; };
  const auto same = [](int i) { return i; };
  expect_unmade("Duplicate GPU detected", zero);
  expect_unmade("rank 0 of 2 has come twice", same, zero);
  expect_unmade("do not agree how many they are", same, same, [](int i) { return 2 + i; });
}

TEST(NcclBugs, RanksWithOtherVersions) {
  cuda_on_cpu::set_nccl_version(22700);
  cuda_on_cpu::set_nccl_version(1, 22605);
  on_threads(2, [](int rank) {
    int version = 0;
    EXPECT_DONE(ncclGetVersion(&version));
    EXPECT_EQ(version, rank == 0 ? 22700 : 22605);
  });
  const ncclUniqueId id = new_id();
  on_threads(2, [&](int rank) {
    ncclComm_t comm = nullptr;
    expect_refused(ncclInvalidUsage, ncclCommInitRank(&comm, 2, id, rank),
                   "Mismatched NCCL version detected");
  });
  cuda_on_cpu::reset();
  int version = 0;
  EXPECT_DONE(ncclGetVersion(&version));
  EXPECT_EQ(version, NCCL_VERSION_CODE);
}

TEST(NcclBugs, IdsAndConfigurations) {
  ncclComm_t comm = nullptr;
  ncclUniqueId id{};
  expect_refused(ncclInvalidArgument, ncclCommInitRank(&comm, 1, id, 0), "ncclGetUniqueId");
  id = new_id();
  expect_refused(ncclInvalidArgument, ncclCommInitRank(&comm, 1, id, 1), "rank 1 of 1");
  ncclConfig_t config{};
  expect_refused(ncclInvalidArgument, ncclCommInitRankConfig(&comm, 1, id, 0, &config),
                 "NCCL_CONFIG_INITIALIZER");
  ncclComm_t first = make_comm(1, id, 0);
  expect_refused(ncclInvalidUsage, ncclCommInitRank(&comm, 1, id, 0),
                 "has made a communicator before");
  EXPECT_DONE(ncclCommDestroy(first));
  cuda_on_cpu::set_gpus(0);
  expect_refused(ncclUnhandledCudaError, ncclCommInitRank(&comm, 1, new_id(), 0), "no GPU");
  cuda_on_cpu::reset();
}

// Aborts and planted faults ---------------------------------------------------------------------

// Rank 1 never posts its side; rank 0 aborts from another thread, and its stream goes on.
TEST(NcclFaults, AbortFreesWhoWaitsForARankThatNeverComes) {
  on_ranks(2, [](Rank& r) {
    if (r.rank == 1) return false;
    float* x = r.filled(1);
    float* y = r.filled(5);
    EXPECT_DONE(ncclGroupStart());
    EXPECT_DONE(ncclRecv(y, 1, ncclFloat32, 1, r.comm, r.stream));
    EXPECT_DONE(ncclSend(x, 1, ncclFloat32, 1, r.comm, r.stream));
    EXPECT_DONE(ncclGroupEnd());
    std::thread watchdog([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      EXPECT_DONE(ncclCommAbort(r.comm));
    });
    EXPECT_EQ(r.gpu.download(y, 1)[0], 5);  // as it was
    watchdog.join();
    expect_refused(ncclInvalidArgument, ncclSend(x, 1, ncclFloat32, 1, r.comm, r.stream),
                   "ncclSend: the communicator has been aborted: communicator");
    ncclResult_t state = ncclSuccess;
    expect_refused(ncclInvalidArgument, ncclCommGetAsyncError(r.comm, &state), "aborted");
    return true;
  });
}

// What is in progress when its communicator is aborted comes into no stream.
TEST(NcclFaults, AbortOfWhatIsInProgress) {
  RanksOfOneThread ranks(1);
  Rank r = ranks[0];
  float* x = r.filled(1);
  float* y = r.filled(5);
  EXPECT_WORKS(cudaStreamSynchronize(r.stream));
  const ncclComm_t comm = make_comm(1, new_id(), 0, false);
  EXPECT_NCCL(ncclInProgress, ncclAllReduce(x, y, 1, ncclFloat32, ncclSum, comm, r.stream));
  EXPECT_DONE(ncclCommAbort(comm));
  EXPECT_WORKS(cudaStreamQuery(r.stream));
  EXPECT_EQ(r.gpu.download(y, 1)[0], 5);
}

// Rank 1 stops at its third call. What it posts then never moves, and only errors that are planted
// are reported.
void stopped_rank(ncclResult_t own, ncclResult_t of_peers) {
  cuda_on_cpu::stop_nccl_rank(1, 2, own);
  cuda_on_cpu::set_nccl_error_of_peers(of_peers);
  RanksOfOneThread ranks(2);
  float* x[2];
  ranks.each_rank([&](Rank r) { x[r.rank] = r.filled(1); });
  for (int call = 0; call < 3; ++call) {
    ranks.each_rank([&](Rank r) {
      EXPECT_NCCL(ncclSuccess, state_of(r.comm));
      EXPECT_DONE(ncclAllReduce(x[r.rank], x[r.rank], 1, ncclFloat32, ncclSum, r.comm, r.stream));
    });
  }
  EXPECT_NCCL(own, state_of(ranks[1].comm));
  EXPECT_NCCL(of_peers, state_of(ranks[0].comm));
  for (int queries = 0; queries < 50; ++queries) {
    EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(ranks[0].stream));
  }
  ranks.each_rank([&](Rank r) {
    if (own != ncclSuccess && r.rank == 1) {
      expect_refused(own, ncclSend(x[1], 1, ncclFloat32, 0, r.comm, r.stream),
                     "asynchronous error");
    }
    EXPECT_DONE(ncclCommAbort(r.comm));
    EXPECT_EQ(r.gpu.download(x[r.rank], 1)[0], 4);  // of two calls
  });
}

TEST(NcclFaults, ARankStops) {
  stopped_rank(ncclSuccess, ncclSuccess);
  stopped_rank(ncclSystemError, ncclSuccess);
  stopped_rank(ncclSystemError, ncclRemoteError);
}

TEST(NcclFaults, PeersOfWhoAborts) {
  cuda_on_cpu::set_nccl_error_of_peers(ncclRemoteError);
  RanksOfOneThread ranks(2);
  EXPECT_NCCL(ncclSuccess, state_of(ranks[1].comm));
  EXPECT_DONE(ncclCommAbort(ranks[0].comm));
  EXPECT_NCCL(ncclRemoteError, state_of(ranks[1].comm));
  cuda_on_cpu::reset();
  EXPECT_NCCL(ncclSuccess, state_of(ranks[1].comm));
}

TEST(NcclFaults, WhatWasAbortedMeetsNobody) {
  RanksOfOneThread ranks(2);
  ranks.each_rank([&](Rank r) {
    float* x = r.filled(static_cast<float>(r.rank));
    float* y = r.filled(static_cast<float>(r.rank));
    EXPECT_DONE(ncclGroupStart());
    EXPECT_DONE(r.rank == 0 ? ncclSend(x, 1, ncclFloat32, 1, r.comm, r.stream)
                            : ncclRecv(x, 1, ncclFloat32, 0, r.comm, r.stream));
    EXPECT_DONE(ncclAllReduce(y, y, 1, ncclFloat32, ncclSum, r.comm, r.stream));
    EXPECT_DONE(ncclGroupEnd());
    if (r.rank == 1) {
      for (int queries = 0; queries < 50; ++queries) {
        EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(r.stream));
      }
    }
    EXPECT_DONE(ncclCommAbort(r.comm));
    EXPECT_EQ(r.gpu.download(x, 1)[0], static_cast<float>(r.rank));
    EXPECT_EQ(r.gpu.download(y, 1)[0], static_cast<float>(r.rank));
  });
}

TEST(NcclFaults, AnAbortHangs) {
  cuda_on_cpu::hang_nccl_abort(0);
  RanksOfOneThread ranks(2);
  std::atomic<bool> ended{false};
  std::thread aborts([&] {
    EXPECT_DONE(ncclCommAbort(ranks[0].comm));
    ended = true;
  });
  EXPECT_DONE(ncclCommAbort(ranks[1].comm));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(ended);
  cuda_on_cpu::reset();
  aborts.join();
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace cuda_on_cpu_test
