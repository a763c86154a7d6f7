// Compares the scratch memory that a kernel states with what it obtains.
//
//   check_kernel<kernels::matmul, bfloat16>(x, y, false, false, &out);
#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "phi/core/device/scratch_context.h"
#include "phi/core/registered_kernel.h"

namespace phi::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kKeepsBlocks = false;
#else
inline constexpr bool kKeepsBlocks = true;
#endif

inline int64_t draw(std::mt19937& random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

/// Bytes that `work` obtains from the system on a new thread, whose workspaces are empty, and on
/// threads that it starts.
template <typename Work>
int64_t obtained(const Work& work) {
  BlockCache& of_others = RankContext::current().memory()->blocks();  // of threads without a rank
  of_others.release();
  of_others.reset_peak();
  const int64_t before = of_others.stats().reserved;
  int64_t own = 0;
  std::thread([&] {
    RankContext rank;
    const RankContext::Scope scope(rank);
    work();
    own = rank.memory()->stats(DeviceKind::CPU).peak_reserved;
  }).join();
  return own + of_others.stats().peak_reserved - before;
}

/// Bytes of scratch memory that `statements` plan.
template <typename Statements>
int64_t stated(const Statements& statements) {
  RankContext rank(0, 1, Execution::kDry);
  const RankContext::Scope scope(rank);
  MemoryLedger ledger(*rank.memory());
  statements(&ledger.scratch());
  return ledger.reserved();
}

/// Compares what `statements` plan for this number of threads with what `work` obtains.
template <typename Statements, typename Work>
void compare(int threads, const Statements& statements, const Work& work) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  const int64_t planned = stated(statements);
  omp_set_num_threads(before);
  const int64_t real = obtained([&] {
    omp_set_num_threads(threads);  // of the calling thread
    work();
  });
  EXPECT_GE(planned, real);
  if (threads == 1 && kKeepsBlocks) {  // threads may not have their blocks at the same time
    EXPECT_EQ(planned, real);
  }
}

inline bool flip(std::mt19937& random) { return draw(random, 0, 1) == 1; }

inline DenseTensor zeros(const Dims& dims, DataType dtype) {
  DenseTensor out = DenseTensor::empty({dims, dtype}, CPUPlace());
  std::fill_n(static_cast<std::byte*>(out.mutable_raw_data()), out.nbytes(), std::byte(0));
  return out;
}
template <typename T>
DenseTensor zeros(const Dims& dims) {
  return zeros(dims, dtype_of<T>());
}

/// Compares a kernel with its statement, for these arguments.
template <typename Name, typename T, typename... Args>
void check_kernel(const Args&... args) {
  const Kernel& kernel = Kernel::named(Name::kName);
  ASSERT_NE(kernel.find(DeviceKind::CPU, dtype_of<T>()), nullptr);  // loads its library
  const auto statement =
      reinterpret_cast<typename Name::Signature::Function>(kernel.find_scratch(dtype_of<T>()));
  ASSERT_NE(statement, nullptr);
  for (const int threads : {1, 3}) {
    compare(
        threads, [&](PlannedScratch*) { statement(KernelContext(), args...); },
        [&] { registered<Name, T>(KernelContext(), args...); });
  }
}

}  // namespace phi::testing
