// A recorded rank bounds what its tensors and its kernels reserve.
#include "api/simulation/predict_step.h"

#include <gtest/gtest.h>

#include "api/generated/ops/addmm.h"
#include "api/generated/ops/matmul.h"
#include "phi/core/storage/block_cache.h"
#include "phi/tensor_api.h"

namespace phi::simulation {
namespace {

constexpr int64_t kExtent = 64;

/// Bytes that the rank reserves in a step on a matrix of this dtype.
int64_t reserved(DataType dtype, const std::function<void(const Tensor&)>& step) {
  const distributed::ProcessMesh mesh({1}, {"dp"});
  const auto make_step = [&]() -> std::function<void()> {
    return [&] { step(placeholder({kExtent, kExtent}, dtype, CPUPlace())); };
  };
  return record_rank(mesh, 0, make_step, 1).totals.cpu_reserved;
}

/// Bytes of the blocks of the matrix and of a result of the same size.
int64_t tensor_bytes(DataType dtype) {
  return 2 * static_cast<int64_t>(
                 SizeClass::of(static_cast<size_t>(kExtent * kExtent) * size_of(dtype)).nbytes);
}

TEST(RecordRank, BoundsTheScratchMemoryThatKernelsState) {
  const auto matmuls = [](const Tensor& x) { matmul(x, x); };
  EXPECT_EQ(reserved(DataType::FLOAT32, matmuls), tensor_bytes(DataType::FLOAT32));
  EXPECT_GT(reserved(DataType::BFLOAT16, matmuls), tensor_bytes(DataType::BFLOAT16));
  EXPECT_GT(reserved(DataType::FLOAT16, matmuls), tensor_bytes(DataType::FLOAT16));
}

TEST(RecordRank, KnowsNoBoundIfAKernelOf16BitsStatesNone) {
  const auto sums = [](const Tensor& x) { addmm(x, x, x); };
  EXPECT_EQ(reserved(DataType::FLOAT32, sums), tensor_bytes(DataType::FLOAT32));
  EXPECT_EQ(reserved(DataType::BFLOAT16, sums), 0);
  EXPECT_EQ(reserved(DataType::FLOAT16, sums), 0);
}

}  // namespace
}  // namespace phi::simulation
