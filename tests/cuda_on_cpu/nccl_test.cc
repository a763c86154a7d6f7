// The stand-in of NCCL, used rightly: messages, groups, graphs, and communicators that do not
// block.
#include <atomic>
#include <cmath>
#include <set>

#include "cuda_on_cpu/faulty_kernels.h"
#include "cuda_on_cpu/nccl_ranks.h"

namespace cuda_on_cpu_test {
namespace {

class Nccl : public ::testing::TestWithParam<int> {
 protected:
  Nccl() { choose(); }
  ~Nccl() override { cuda_on_cpu::reset(); }
  // 0 and 1 are the orders without a seed.
  static void choose() {
    const int seed = GetParam();
    cuda_on_cpu::set_order(seed == 0   ? cuda_on_cpu::Order::kForward
                           : seed == 1 ? cuda_on_cpu::Order::kBackward
                                       : cuda_on_cpu::Order::kDrawn,
                           static_cast<uint64_t>(seed));
  }
};
INSTANTIATE_TEST_SUITE_P(Orders, Nccl, ::testing::Range(0, 6));

std::vector<float> filled(float value, size_t n) { return std::vector<float>(n, value); }

TEST_P(Nccl, Ring) {
  on_ranks(4, [](Rank& r) {
    float* out = r.filled(static_cast<float>(r.rank), 100);
    float* in = r.gpu.allocate<float>(100);
    EXPECT_DONE(ncclGroupStart());
    EXPECT_DONE(ncclSend(out, 100, ncclFloat32, (r.rank + 1) % 4, r.comm, r.stream));
    EXPECT_DONE(ncclRecv(in, 100, ncclFloat32, (r.rank + 3) % 4, r.comm, r.stream));
    EXPECT_DONE(ncclGroupEnd());
    EXPECT_EQ(r.gpu.download(in, 100), filled(static_cast<float>((r.rank + 3) % 4), 100));
    return false;
  });
}

// Sizes differ for each pair, and are 0 for some; each rank sends to itself, too.
TEST_P(Nccl, AllPairsInOneGroup) {
  const auto size = [](int from, int to) { return static_cast<size_t>((from * 5 + to * 3) % 7); };
  on_ranks(4, [&](Rank& r) {
    std::vector<float*> in;
    EXPECT_DONE(ncclGroupStart());
    for (int peer = 0; peer < r.ranks; ++peer) {
      in.push_back(r.gpu.allocate<float>(7));
      float* out = r.filled(static_cast<float>(10 * r.rank + peer), 7);
      EXPECT_DONE(ncclSend(out, size(r.rank, peer), ncclFloat32, peer, r.comm, r.stream));
      EXPECT_DONE(ncclRecv(in.back(), size(peer, r.rank), ncclFloat32, peer, r.comm, r.stream));
    }
    EXPECT_DONE(ncclGroupEnd());
    for (int peer = 0; peer < r.ranks; ++peer) {
      const size_t n = size(peer, r.rank);
      EXPECT_EQ(r.gpu.download(in[static_cast<size_t>(peer)], n),
                filled(static_cast<float>(10 * peer + r.rank), n));
    }
    return false;
  });
}

TEST_P(Nccl, MessagesToOnePeerStayInOrder) {
  on_ranks(2, [](Rank& r) {
    std::vector<float*> x;
    for (int i = 0; i < 4; ++i)
      x.push_back(r.rank == 0 ? r.filled(static_cast<float>(i)) : r.gpu.allocate<float>(1));
    const auto post = [&](size_t i) {
      EXPECT_DONE(r.rank == 0 ? ncclSend(x[i], 1, ncclFloat32, 1, r.comm, r.stream)
                              : ncclRecv(x[i], 1, ncclFloat32, 0, r.comm, r.stream));
    };
    const size_t grouped = r.rank == 0 ? 1 : 2;  // the two sides need not make the same groups
    EXPECT_DONE(ncclGroupStart());
    for (size_t i = 0; i < grouped; ++i) post(i);
    EXPECT_DONE(ncclGroupEnd());
    for (size_t i = grouped; i < 4; ++i) post(i);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(r.gpu.download(x[i], 1)[0], static_cast<float>(i));
    return false;
  });
}

// Rank 0's group ends only when the value has come round; its send is done long before.
TEST_P(Nccl, AGroupGoesOnInParts) {
  on_ranks(3, [](Rank& r) {
    float* x = r.filled(5);
    float* y = r.gpu.allocate<float>(1);
    const auto receive = [&] {
      EXPECT_DONE(ncclRecv(y, 1, ncclFloat32, (r.rank + 2) % 3, r.comm, r.stream));
    };
    const auto send = [&](const float* from) {
      EXPECT_DONE(ncclSend(from, 1, ncclFloat32, (r.rank + 1) % 3, r.comm, r.stream));
    };
    if (r.rank == 0) {
      EXPECT_DONE(ncclGroupStart());
      receive();
      send(x);
      EXPECT_DONE(ncclGroupEnd());
    } else {
      receive();
      send(y);
    }
    EXPECT_EQ(r.gpu.download(y, 1)[0], 5);
    return false;
  });
}

// A world of four and two pairs, both on the one stream of each rank, in one group and alone.
TEST_P(Nccl, SeveralCommunicators) {
  const ncclUniqueId pairs[] = {new_id(), new_id()};
  on_ranks(4, [&](Rank& r) {
    const ncclComm_t pair = make_comm(2, pairs[r.rank / 2], r.rank % 2);
    float* x = r.filled(static_cast<float>(r.rank + 1));
    float* world_sum = r.gpu.allocate<float>(1);
    float* pair_sum = r.gpu.allocate<float>(1);
    EXPECT_DONE(ncclGroupStart());
    EXPECT_DONE(ncclAllReduce(x, world_sum, 1, ncclFloat32, ncclSum, r.comm, r.stream));
    EXPECT_DONE(ncclGroupStart());  // groups within groups count as one
    EXPECT_DONE(ncclAllReduce(x, pair_sum, 1, ncclFloat32, ncclSum, pair, r.stream));
    EXPECT_DONE(ncclGroupEnd());
    EXPECT_DONE(ncclGroupEnd());
    EXPECT_DONE(ncclAllReduce(pair_sum, pair_sum, 1, ncclFloat32, ncclSum, pair, r.stream));
    EXPECT_EQ(r.gpu.download(world_sum, 1)[0], 10);
    EXPECT_EQ(r.gpu.download(pair_sum, 1)[0], r.rank < 2 ? 6 : 14);
    EXPECT_DONE(ncclCommDestroy(pair));
    return false;
  });
}

// A group on two streams comes between all that both have.
TEST_P(Nccl, AGroupOnTwoStreams) {
  on_ranks(2, [](Rank& r) {
    Session second;
    second.resets = false;
    float* x = r.filled(static_cast<float>(r.rank));
    float* y = second.upload(filled(static_cast<float>(r.rank + 10), 1));
    float* from[2] = {r.gpu.allocate<float>(1), second.allocate<float>(1)};
    EXPECT_DONE(ncclGroupStart());
    EXPECT_DONE(ncclAllReduce(x, from[0], 1, ncclFloat32, ncclSum, r.comm, r.stream));
    EXPECT_DONE(ncclAllReduce(y, from[1], 1, ncclFloat32, ncclSum, r.comm, second.stream));
    EXPECT_DONE(ncclGroupEnd());
    EXPECT_EQ(second.download(from[0], 1)[0], 1);
    EXPECT_EQ(r.gpu.download(from[1], 1)[0], 21);
    return false;
  });
}

struct Graph {
  template <class Body>
  Graph(cudaStream_t stream, Body body) {
    cudaGraph_t graph = nullptr;
    EXPECT_WORKS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    body();
    EXPECT_WORKS(cudaStreamEndCapture(stream, &graph));
    EXPECT_WORKS(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_WORKS(cudaGraphDestroy(graph));
  }
  ~Graph() { cudaGraphExecDestroy(exec); }
  Graph(const Graph&) = delete;
  cudaGraphExec_t exec = nullptr;
};

// Each replay passes the values on by one rank, and counts in a sum.
TEST_P(Nccl, GraphsOfMessages) {
  on_ranks(3, [](Rank& r) {
    float* x = r.filled(static_cast<float>(r.rank + 1));
    float* y = r.gpu.allocate<float>(1);
    float* total = r.filled(1);
    EXPECT_WORKS(cudaStreamSynchronize(r.stream));
    const Graph graph(r.stream, [&] {
      EXPECT_DONE(ncclGroupStart());
      EXPECT_DONE(ncclSend(x, 1, ncclFloat32, (r.rank + 1) % 3, r.comm, r.stream));
      EXPECT_DONE(ncclRecv(y, 1, ncclFloat32, (r.rank + 2) % 3, r.comm, r.stream));
      EXPECT_DONE(ncclGroupEnd());
      EXPECT_WORKS(copy_one(r.stream, y, x));
      EXPECT_DONE(ncclAllReduce(total, total, 1, ncclFloat32, ncclSum, r.comm, r.stream));
    });
    EXPECT_EQ(r.gpu.download(total, 1)[0], 1);  // nothing has run
    for (int replay = 0; replay < 3; ++replay) EXPECT_WORKS(cudaGraphLaunch(graph.exec, r.stream));
    EXPECT_EQ(r.gpu.download(x, 1)[0], static_cast<float>(r.rank + 1));
    EXPECT_EQ(r.gpu.download(total, 1)[0], 27);
    EXPECT_WORKS(cudaGraphLaunch(graph.exec, r.stream));
    EXPECT_EQ(r.gpu.download(x, 1)[0], static_cast<float>((r.rank + 2) % 3 + 1));
    return false;
  });
}

// In a capture a group must have come into its stream before that ends.
TEST_P(Nccl, GraphsOfCommunicatorsThatDoNotBlock) {
  const ncclUniqueId id = new_id();
  on_threads(2, [&](int rank) {
    Session gpu;
    gpu.resets = false;
    const ncclComm_t comm = make_comm(2, id, rank, false);
    float* x = gpu.upload(filled(1, 1));
    EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
    {
      const Graph graph(gpu.stream, [&] {
        EXPECT_NCCL(ncclInProgress, ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, comm, gpu.stream));
        wait_for(comm);
      });
      for (int replay = 0; replay < 3; ++replay) {
        EXPECT_WORKS(cudaGraphLaunch(graph.exec, gpu.stream));
      }
    }
    EXPECT_EQ(gpu.download(x, 1)[0], 8);
    EXPECT_DONE(ncclCommDestroy(comm));
  });
}

// Another thread may look as well, as a watchdog does; whoever finds a group due launches it.
TEST_P(Nccl, TwoThreadsLookAtOneCommunicator) {
  const ncclUniqueId id = new_id();
  on_threads(2, [&](int rank) {
    Session gpu;
    gpu.resets = false;
    const ncclComm_t comm = make_comm(2, id, rank, false);
    std::atomic<bool> over{false};
    std::thread watchdog([&] {
      while (!over) state_of(comm);
    });
    float* x = gpu.upload(filled(1, 1));
    for (int round = 0; round < 10; ++round) {
      EXPECT_NCCL(ncclInProgress, ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, comm, gpu.stream));
      wait_for(comm);
    }
    EXPECT_EQ(gpu.download(x, 1)[0], 1024);
    over = true;
    watchdog.join();
    EXPECT_DONE(ncclCommDestroy(comm));
  });
}

TEST_P(Nccl, CommunicatorsThatDoNotBlock) {
  const ncclUniqueId id = new_id();
  on_threads(3, [&](int rank) {
    Session gpu;
    gpu.resets = false;
    const ncclComm_t comm = make_comm(3, id, rank, false);
    float* x = gpu.upload(filled(static_cast<float>(rank), 1));
    EXPECT_NCCL(ncclInProgress, ncclAllReduce(x, x, 1, ncclFloat32, ncclMax, comm, gpu.stream));
    wait_for(comm);
    EXPECT_EQ(gpu.download(x, 1)[0], 2);
    EXPECT_DONE(ncclGroupStart());
    EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, comm, gpu.stream));
    EXPECT_DONE(ncclBroadcast(x, x, 1, ncclFloat32, 2, comm, gpu.stream));
    EXPECT_NCCL(ncclInProgress, ncclGroupEnd());
    wait_for(comm);
    EXPECT_NCCL(ncclInProgress, ncclCommFinalize(comm));
    wait_for(comm);  // what is posted has ended then
    EXPECT_WORKS(cudaStreamQuery(gpu.stream));
    EXPECT_EQ(gpu.download(x, 1)[0], 6);
    EXPECT_DONE(ncclCommDestroy(comm));
  });
}

TEST(NcclComms, HowOftenTheyAreAskedIsDrawn) {
  RanksOfOneThread unused(1);  // so that what is set is reset
  std::set<int> asked;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    cuda_on_cpu::set_order(cuda_on_cpu::Order::kDrawn, seed);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t comm = nullptr;
    EXPECT_NCCL(ncclInProgress, ncclCommInitRankConfig(&comm, 1, new_id(), 0, &config));
    asked.insert(wait_for(comm));
    EXPECT_DONE(ncclCommDestroy(comm));
  }
  EXPECT_EQ(asked, (std::set<int>{0, 1, 2, 3}));
}

TEST(NcclComms, TellWhoTheyAre) {
  int version = 0;
  EXPECT_DONE(ncclGetVersion(&version));
  EXPECT_EQ(version, NCCL_VERSION_CODE);
  on_ranks(3, [](Rank& r) {
    int ranks = 0;
    int rank = -1;
    int device = -1;
    EXPECT_DONE(ncclCommCount(r.comm, &ranks));
    EXPECT_DONE(ncclCommUserRank(r.comm, &rank));
    EXPECT_DONE(ncclCommCuDevice(r.comm, &device));
    EXPECT_EQ(ranks, 3);
    EXPECT_EQ(rank, r.rank);
    EXPECT_EQ(device, r.rank);
    EXPECT_NCCL(ncclSuccess, state_of(r.comm));
    return false;
  });
}

// What lies there now, for a reader who waits for nobody.
float glance(const float* memory) {
  Session aside;
  aside.resets = false;
  return aside.download(memory, 1)[0];
}

TEST(NcclComms, FinalizeAndDestroyWaitForWhatIsPosted) {
  for (const auto end : {ncclCommFinalize, ncclCommDestroy}) {
    on_ranks(2, [&](Rank& r) {
      float* x = r.filled(1);
      EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, r.comm, r.stream));
      EXPECT_DONE(end(r.comm));
      EXPECT_WORKS(cudaStreamQuery(r.stream));
      return end == ncclCommDestroy;
    });
  }
}

// A wait for the end of a message runs what others' streams have before theirs, and no more.
TEST(NcclStreams, AWaiterRunsWhatItsMessageNeeds) {
  cuda_on_cpu::set_order(cuda_on_cpu::Order::kForward);
  Session unneeded;  // comes first where a stream is looked for
  unneeded.resets = false;
  float* late = unneeded.allocate<float>(1);
  float* early = unneeded.upload(filled(1, 1));
  EXPECT_WORKS(cudaStreamSynchronize(unneeded.stream));
  EXPECT_WORKS(copy_one(unneeded.stream, early, late));
  RanksOfOneThread ranks(2);
  float* x[2];
  float* behind[2];
  ranks.each_rank([&](Rank r) {
    x[r.rank] = r.filled(static_cast<float>(r.rank + 1));
    behind[r.rank] = r.gpu.allocate<float>(1);
    EXPECT_WORKS(cudaStreamSynchronize(r.stream));
    EXPECT_WORKS(copy_one(r.stream, x[r.rank], x[r.rank]));
    EXPECT_DONE(ncclAllReduce(x[r.rank], x[r.rank], 1, ncclFloat32, ncclSum, r.comm, r.stream));
    EXPECT_WORKS(copy_one(r.stream, x[r.rank], behind[r.rank]));
  });
  EXPECT_WORKS(cudaSetDevice(0));
  EXPECT_EQ(ranks[0].gpu.download(behind[0], 1)[0], 3);
  EXPECT_TRUE(std::isnan(glance(late)));
  EXPECT_WORKS(cudaSetDevice(1));
  EXPECT_TRUE(std::isnan(glance(behind[1])));
  EXPECT_EQ(ranks[1].gpu.download(behind[1], 1)[0], 3);
  EXPECT_WORKS(cudaSetDevice(0));
}

// On two streams, too, as NCCL has it.
TEST(NcclStreams, TheCallsOfACommunicatorFollowEachOther) {
  cuda_on_cpu::set_order(cuda_on_cpu::Order::kForward);
  RanksOfOneThread ranks(2);
  float* x[2];
  std::vector<std::unique_ptr<Session>> second;
  ranks.each_rank([&](Rank r) {
    Session& other = *second.emplace_back(std::make_unique<Session>());
    other.resets = false;
    x[r.rank] = r.filled(1);
    float* y = other.upload(filled(1, 1));
    EXPECT_WORKS(cudaStreamSynchronize(r.stream));
    EXPECT_DONE(ncclAllReduce(x[r.rank], x[r.rank], 1, ncclFloat32, ncclSum, r.comm, r.stream));
    EXPECT_DONE(ncclAllReduce(y, y, 1, ncclFloat32, ncclSum, r.comm, other.stream));
  });
  for (const auto& other : second) EXPECT_WORKS(cudaStreamSynchronize(other->stream));
  EXPECT_WORKS(cudaSetDevice(0));
  EXPECT_EQ(glance(x[0]), 2);
}

// Many groups of drawn messages, alike on all ranks, with waits now and then.
TEST_P(Nccl, ManyRounds) {
  on_ranks(4, [](Rank& r) {
    float* x = r.filled(static_cast<float>(r.rank));
    float* y = r.gpu.allocate<float>(1);
    for (int round = 0; round < 40; ++round) {
      const int shift = round % 3 + 1;
      EXPECT_DONE(ncclGroupStart());
      EXPECT_DONE(ncclSend(x, 1, ncclFloat32, (r.rank + shift) % 4, r.comm, r.stream));
      EXPECT_DONE(ncclRecv(y, 1, ncclFloat32, (r.rank + 4 - shift) % 4, r.comm, r.stream));
      EXPECT_DONE(ncclGroupEnd());
      EXPECT_WORKS(copy_one(r.stream, y, x));
      if (round % 5 == r.rank) {
        EXPECT_WORKS(cudaStreamSynchronize(r.stream));
      }
    }
    const int shifts = 13 * (1 + 2 + 3) + 1;
    EXPECT_EQ(r.gpu.download(x, 1)[0], static_cast<float>(((r.rank - shifts) % 4 + 4) % 4));
    return false;
  });
}

}  // namespace
}  // namespace cuda_on_cpu_test
