// Ranks as threads, each with a GPU, a stream and a communicator of the stand-in of NCCL.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nccl.h>

#include <functional>
#include <memory>
#include <thread>

#include "cuda_on_cpu/session.h"
#include "support/cuda_on_cpu/nccl_on_cpu.h"

#define EXPECT_NCCL(wanted, call) EXPECT_STREQ(ncclGetErrorString(wanted), ncclGetErrorString(call))
#define EXPECT_DONE(call) EXPECT_NCCL(ncclSuccess, call)

namespace cuda_on_cpu_test {

/// Runs the body once per rank, each in a thread whose GPU has the rank's number.
inline void on_threads(int ranks, const std::function<void(int rank)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&body, rank] {
      EXPECT_WORKS(cudaSetDevice(rank));
      body(rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// The call had this result, and this stands in what it left for ncclGetLastError.
inline void expect_refused(ncclResult_t wanted, ncclResult_t found, const std::string& text) {
  EXPECT_NCCL(wanted, found);
  EXPECT_THAT(ncclGetLastError(nullptr), ::testing::HasSubstr(text));
}

inline ncclUniqueId new_id() {
  ncclUniqueId id;
  EXPECT_DONE(ncclGetUniqueId(&id));
  return id;
}

inline ncclResult_t state_of(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  EXPECT_DONE(ncclCommGetAsyncError(comm, &state));
  return state;
}

/// Asks until it is no longer in progress; how often that was.
inline int wait_for(ncclComm_t comm, ncclResult_t wanted = ncclSuccess) {
  int asked = 0;
  for (; state_of(comm) == ncclInProgress; ++asked) std::this_thread::yield();
  EXPECT_NCCL(wanted, state_of(comm));
  return asked;
}

inline ncclComm_t make_comm(int ranks, ncclUniqueId id, int rank, bool blocking = true,
                            const char* name = nullptr) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = blocking ? 1 : 0;
  config.commName = name;
  ncclComm_t comm = nullptr;
  EXPECT_NCCL(blocking ? ncclSuccess : ncclInProgress,
              ncclCommInitRankConfig(&comm, ranks, id, rank, &config));
  if (!blocking) wait_for(comm);
  return comm;
}

/// What the body of a rank has.
struct Rank {
  int rank;
  int ranks;
  ncclComm_t comm;
  Session& gpu;
  cudaStream_t stream;

  /// An array of this rank's GPU with n times the same value.
  float* filled(float value, size_t n = 1) const {
    return gpu.upload(std::vector<float>(n, value));
  }
};

/// The communicator is destroyed unless the body has ended it, which it says by returning true.
inline void on_ranks(int ranks, const std::function<bool(Rank&)>& body) {
  const ncclUniqueId id = new_id();
  on_threads(ranks, [&](int number) {
    Session gpu;
    gpu.resets = false;
    Rank rank{number, ranks, make_comm(ranks, id, number), gpu, gpu.stream};
    if (body(rank)) return;
    EXPECT_WORKS(cudaStreamSynchronize(rank.stream));
    EXPECT_DONE(ncclCommDestroy(rank.comm));
  });
}

/// All ranks in one thread, which posts for one after the other; nothing runs until it waits.
class RanksOfOneThread {
 public:
  explicit RanksOfOneThread(int ranks) {
    comms_.resize(static_cast<size_t>(ranks));
    const ncclUniqueId id = new_id();
    on_threads(ranks,
               [&](int rank) { comms_[static_cast<size_t>(rank)] = make_comm(ranks, id, rank); });
    each([&](int) { gpus_.emplace_back(std::make_unique<Session>())->resets = false; });
  }
  ~RanksOfOneThread() {
    each([&](int rank) { gpus_[static_cast<size_t>(rank)] = nullptr; });
    EXPECT_WORKS(cudaSetDevice(0));
    cuda_on_cpu::reset();
  }
  RanksOfOneThread(const RanksOfOneThread&) = delete;

  Rank operator[](int rank) {
    Session& gpu = *gpus_[static_cast<size_t>(rank)];
    const int ranks = static_cast<int>(comms_.size());
    return {rank, ranks, comms_[static_cast<size_t>(rank)], gpu, gpu.stream};
  }
  /// The body with the GPU of each rank as the current one.
  void each(const std::function<void(int)>& body) {
    for (int rank = 0; rank < static_cast<int>(comms_.size()); ++rank) {
      EXPECT_WORKS(cudaSetDevice(rank));
      body(rank);
    }
  }
  void each_rank(const std::function<void(Rank)>& body) {
    each([&](int rank) { body((*this)[rank]); });
  }

 private:
  std::vector<ncclComm_t> comms_;
  std::vector<std::unique_ptr<Session>> gpus_;
};

}  // namespace cuda_on_cpu_test
