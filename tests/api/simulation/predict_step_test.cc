// A recorded rank bounds what its tensors and its kernels reserve.
#include "api/simulation/predict_step.h"

#include <gtest/gtest.h>

#include <thread>

#include "api/generated/ops/addmm.h"
#include "api/generated/ops/conv2d.h"
#include "api/generated/ops/einsum.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/lstm.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/reshape.h"
#include "phi/core/op_def.h"
#include "phi/core/rank_context.h"
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

/// A tensor of ones, whose gradient is computed.
Tensor weight(const Dims& dims, DataType dtype) {
  Tensor ones = full(dims, 1, dtype);
  ones.set_requires_grad();
  return ones;
}

/// A training step of a convolution, a recurrent layer and sums of products of three arrays.
void train_layers(DataType dtype) {
  constexpr int64_t kBatch = 2, kChannels = 16, kPixels = 12, kHidden = 40;
  const Tensor image = full({kBatch, 4, kPixels, kPixels}, 1, dtype);
  const Tensor filter = weight({kChannels, 4, 3, 3}, dtype);
  const Tensor pixels = conv2d(image, filter, {1, 1}, {1, 1});
  const Tensor steps = reshape(pixels, {kBatch * kChannels, kPixels, kPixels});
  const Tensor state = full({1, kPixels, kHidden}, 0, dtype);
  const std::vector<Tensor> weights{weight({4 * kHidden, kPixels}, dtype),
                                    weight({4 * kHidden, kHidden}, dtype),
                                    weight({4 * kHidden}, dtype), weight({4 * kHidden}, dtype)};
  const Tensor out = std::get<0>(lstm(steps, state, state, weights));
  const Tensor left = weight({60, kHidden}, dtype), right = weight({60, 70}, dtype);
  const Tensor products = einsum({out, left, right}, "sbh,kh,kn->bn");
  const Tensor sums = addmm(weight({70}, dtype), products, weight({70, 70}, dtype));
  sums.backward(sums.detach());
}

/// The memory of two steps on a rank of their own.
MemoryStats real_memory(const std::function<void()>& step) {
  MemoryStats stats;
  std::thread([&] {
    RankContext rank;
    const RankContext::Scope scope(rank);
    step();
    step();
    stats = rank.memory()->stats(DeviceKind::CPU);
  }).join();
  return stats;
}

TEST(RecordRank, BoundsWhatLayersReserve) {
  const distributed::ProcessMesh mesh({1}, {"dp"});
  for (const DataType dtype : {DataType::FLOAT32, DataType::BFLOAT16, DataType::FLOAT16}) {
    SCOPED_TRACE(name_of(dtype));
    const auto step = [dtype] { train_layers(dtype); };
    const MakeStep make_step = [&]() -> std::function<void()> { return step; };
    const RankTotals predicted = record_rank(mesh, 0, make_step, 2).totals;
    const MemoryStats real = real_memory(step);
    EXPECT_EQ(predicted.peak_tensor_bytes, real.peak);
    EXPECT_GE(predicted.cpu_reserved, real.peak_reserved);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps no freed blocks
    EXPECT_EQ(predicted.cpu_reserved, real.peak_reserved);
#endif
  }
}

TEST(RecordRank, KnowsNoBoundIfAKernelOf16BitsStatesNone) {
  const auto sums = [](const Tensor& x) { addmm(x, x, x); };
  Kernel& kernel = Kernel::named("addmm");
  const Kernel::Erased statement = kernel.find_scratch(DataType::BFLOAT16);
  kernel.add_scratch(DataType::BFLOAT16, nullptr);
  EXPECT_EQ(reserved(DataType::BFLOAT16, sums), 0);
  kernel.add_scratch(DataType::BFLOAT16, statement);
  EXPECT_GT(reserved(DataType::BFLOAT16, sums), tensor_bytes(DataType::BFLOAT16));
  EXPECT_EQ(reserved(DataType::FLOAT32, sums), tensor_bytes(DataType::FLOAT32));
}

TEST(Kernels, StateTheirScratchMemoryIfTheyComputeIn16BitsAndCountFlops) {
  for (const OpDef* op : ops::all()) {
    if (op->flops == nullptr) continue;
    for (const DataType dtype : {DataType::BFLOAT16, DataType::FLOAT16}) {
      if (op->kernel.find(DeviceKind::CPU, dtype) == nullptr) continue;
      EXPECT_NE(op->kernel.find_scratch(dtype), nullptr) << op->name;
    }
  }
}

}  // namespace
}  // namespace phi::simulation
