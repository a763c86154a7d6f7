// Aborts of the stand-in of NCCL, and the faults that tests plant in it.
#include <atomic>
#include <cstdlib>

#include "cuda_on_cpu/nccl_ranks.h"

namespace cuda_on_cpu_test {
namespace {

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

// The last is told before the first is waited for, which stands behind it.
TEST(NcclFaults, AGroupOfAborts) {
  const ncclUniqueId id = new_id();
  on_ranks(2, [&](Rank& r) {
    const ncclComm_t second = make_comm(2, id, r.rank);
    if (r.rank == 1) {
      EXPECT_DONE(ncclCommDestroy(second));
      return false;
    }
    float* x = r.filled(1);
    EXPECT_DONE(ncclRecv(x, 1, ncclFloat32, 1, r.comm, r.stream));
    EXPECT_DONE(ncclRecv(x, 1, ncclFloat32, 1, second, r.stream));
    EXPECT_DONE(ncclGroupStart());
    EXPECT_DONE(ncclCommAbort(second));
    EXPECT_DONE(ncclCommAbort(r.comm));
    EXPECT_DONE(ncclGroupEnd());
    EXPECT_EQ(r.gpu.download(x, 1)[0], 1);
    return true;
  });
}

// Another thread ends the graph.
TEST(NcclFaults, AbortWaitsForGraphs) {
  RanksOfOneThread ranks(1);
  Rank r = ranks[0];
  float* x = r.filled(1);
  cudaGraph_t graph = nullptr;
  EXPECT_WORKS(cudaStreamBeginCapture(r.stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, r.comm, r.stream));
  EXPECT_WORKS(cudaStreamEndCapture(r.stream, &graph));
  std::atomic<bool> ended{false};
  std::thread aborts([&] {
    EXPECT_DONE(ncclCommAbort(r.comm));
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(ended);
  EXPECT_WORKS(cudaGraphDestroy(graph));
  aborts.join();
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

TEST(NcclFaults, CallsAndEndsHang) {
  cuda_on_cpu::hang_nccl_calls(0);
  RanksOfOneThread ranks(1);
  Rank r = ranks[0];
  float* x = r.filled(1);
  std::atomic<int> steps{0};
  std::thread calls([&] {
    EXPECT_WORKS(cudaSetDevice(0));
    EXPECT_DONE(ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, r.comm, r.stream));
    ++steps;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(steps, 0);
  cuda_on_cpu::reset();
  calls.join();
  cuda_on_cpu::hang_nccl_finalize(0);
  std::thread ends([&] {
    EXPECT_DONE(ncclCommFinalize(r.comm));
    ++steps;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(steps, 1);
  cuda_on_cpu::reset();
  ends.join();
}

TEST(NcclFaults, WhatIsInProgressIsDelayed) {
  RanksOfOneThread ranks(1);
  Rank r = ranks[0];
  float* x = r.filled(1);
  const ncclComm_t comm = make_comm(1, new_id(), 0, false);
  cuda_on_cpu::delay_nccl(7);
  EXPECT_NCCL(ncclInProgress, ncclAllReduce(x, x, 1, ncclFloat32, ncclSum, comm, r.stream));
  EXPECT_EQ(wait_for(comm), 6);
  EXPECT_WORKS(cudaStreamSynchronize(r.stream));
  EXPECT_DONE(ncclCommDestroy(comm));
}

TEST(NcclFaults, TheEnvironmentHasCallsBlock) {
  setenv("NCCL_COMM_BLOCKING", "1", 1);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  EXPECT_DONE(ncclCommInitRankConfig(&comm, 1, new_id(), 0, &config));
  unsetenv("NCCL_COMM_BLOCKING");
  EXPECT_DONE(ncclCommDestroy(comm));
}

}  // namespace
}  // namespace cuda_on_cpu_test
