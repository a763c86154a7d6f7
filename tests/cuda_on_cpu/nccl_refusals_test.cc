// What the stand-in of NCCL refuses: calls, and ranks that do not fit together.
#include <gmock/gmock.h>

#include "cuda_on_cpu/nccl_ranks.h"

namespace cuda_on_cpu_test {
namespace {

using ::testing::HasSubstr;

TEST(NcclRefusals, BuffersThatAreNotTheCommunicatorsGpus) {
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

TEST(NcclRefusals, NumbersAndPlacesThatDoNotExist) {
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

TEST(NcclRefusals, GroupsThatAreRefused) {
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

TEST(NcclRefusals, AGroupOfBothKindsOfCommunicators) {
  RanksOfOneThread ranks(1);
  Rank r = ranks[0];
  float* x = r.filled(1);
  const ncclComm_t other = make_comm(1, new_id(), 0, false);
  EXPECT_DONE(ncclGroupStart());
  EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, r.comm, r.stream));
  EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, other, r.stream));
  expect_refused(ncclInvalidArgument, ncclGroupEnd(), "blocking and non-blocking");
}

TEST(NcclRefusals, UseWhileInProgress) {
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

TEST(NcclRefusals, RanksThatMakeNoCommunicator) {
  const auto zero = [](int) { return 0; };
  const auto same = [](int i) { return i; };
  expect_unmade("Duplicate GPU detected", zero);
  expect_unmade("rank 0 of 2 has joined twice", same, zero);
  expect_unmade("pass different numbers of ranks", same, same, [](int i) { return 2 + i; });
}

TEST(NcclRefusals, RanksWithOtherVersions) {
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

TEST(NcclRefusals, IdsAndConfigurations) {
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

}  // namespace
}  // namespace cuda_on_cpu_test
