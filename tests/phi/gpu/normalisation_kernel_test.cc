// layer_norm, rms_norm and their gradients on GPUs, beside the CPU's.
#include "phi/generated/kernels/normalisation.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

// No row, empty rows; rows of one element, of a warp and of a block; many rows of few; in packs of
// 16 bytes, rows held by a warp and by blocks of each size, and longer ones.
const std::vector<Dims> kRows = {{0, 4},    {0, 8},    {3, 0},    {1, 1},     {5, 33},
                                 {300, 3},  {3, 1101}, {200, 40}, {3, 512},   {50, 1032},
                                 {3, 2056}, {2, 4104}, {2, 8200}, {1, 16400}, {3, 200}};

/// dtypes of scale and bias: x's, or float32 beside 16-bit x.
template <typename T>
std::vector<DataType> weight_dtypes() {
  if (kIs16Bit<T>) return {dtype_of<T>(), DataType::FLOAT32};
  return {dtype_of<T>()};
}

template <typename T>
struct LayerNorm {
  Dims dims;
  DataType weights;
  bool has_scale = true;
  bool has_bias = true;

  DenseTensor weight(bool is_there, uint32_t seed) const {
    return is_there ? drawn(weights, {dims[1]}, seed) : DenseTensor();
  }
  void check_forward() const {
    const Arrays in = {drawn(dtype_of<T>(), dims, 1), weight(has_scale, 2), weight(has_bias, 3)};
    const TensorMeta moment{{dims[0]}, dtype_of<compute_t<T>>()};
    expect_same_on_gpu(in, {in[0].meta(), moment, moment},
                       [&](const KernelContext& ctx, Arrays& given, Arrays& out) {
                         registered<kernels::layer_norm, T>(
                             ctx, given[0], has_scale ? &given[1] : nullptr,
                             has_bias ? &given[2] : nullptr, 1e-5f, 1, &out[0], &out[1], &out[2]);
                       });
  }
  void check_gradients() const {
    using C = compute_t<T>;
    const Arrays in = {drawn(dtype_of<T>(), dims, 1), weight(has_scale, 2),
                       drawn(dtype_of<C>(), {dims[0]}, 3), drawn(dtype_of<C>(), {dims[0]}, 4, 1, 2),
                       drawn(dtype_of<T>(), dims, 5)};
    std::vector<TensorMeta> grads = {in[0].meta(), {{dims[1]}, weights}, {{dims[1]}, weights}};
    expect_same_on_gpu(
        in, grads,
        [&](const KernelContext& ctx, Arrays& given, Arrays& out) {
          registered<kernels::layer_norm_grad, T>(ctx, given[0], has_scale ? &given[1] : nullptr,
                                                  given[2], given[3], given[4], 1e-5f, 1, &out[0],
                                                  &out[1], &out[2]);
        },
        4);
    expect_same_on_gpu(
        in, {grads[1]},
        [&](const KernelContext& ctx, Arrays& given, Arrays& out) {
          registered<kernels::layer_norm_grad, T>(ctx, given[0], has_scale ? &given[1] : nullptr,
                                                  given[2], given[3], given[4], 1e-5f, 1, nullptr,
                                                  nullptr, &out[0]);
        },
        4);
    expect_same_on_gpu(
        in, {grads[0]},
        [&](const KernelContext& ctx, Arrays& given, Arrays& out) {
          registered<kernels::layer_norm_grad, T>(ctx, given[0], has_scale ? &given[1] : nullptr,
                                                  given[2], given[3], given[4], 1e-5f, 1, &out[0],
                                                  nullptr, nullptr);
        },
        4);
  }
};

TEST(GpuNormalisation, LayerNorm) {
  for_each_type(Floats(), []<typename T>() {
    for (const Dims& dims : kRows) {
      for (const DataType weights : weight_dtypes<T>()) {
        SCOPED_TRACE(dims.to_string() + " weights " + std::string(name_of(weights)));
        LayerNorm<T>{dims, weights}.check_forward();
        LayerNorm<T>{dims, weights}.check_gradients();
      }
    }
  });
}

TEST(GpuNormalisation, LayerNormWithoutWeights) {
  for (const bool has_scale : {false, true}) {
    LayerNorm<float>{{5, 33}, DataType::FLOAT32, has_scale, !has_scale}.check_forward();
    LayerNorm<float>{{5, 33}, DataType::FLOAT32, has_scale, !has_scale}.check_gradients();
  }
  LayerNorm<float>{{5, 33}, DataType::FLOAT32, false, false}.check_forward();
}

// The mean of rows that are held is a sum of floats, which a second look puts right.
TEST(GpuNormalisation, RowsFarFromZero) {
  for (const int64_t n : {96, 512, 4096, 9000}) {
    for (const double x : {1000.3, 1999.9}) {
      SCOPED_TRACE(std::to_string(n) + " times " + std::to_string(x));
      const DenseTensor row = tensor<float>(Values(n, x), {1, n});
      const DenseTensor weights = tensor<float>(Values(n, 1), {n});
      const TensorMeta moment{{1}, DataType::FLOAT32};
      const Arrays left =
          left_on_gpu({row, weights}, {row.meta(), moment, moment},
                      [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                        registered<kernels::layer_norm, float>(ctx, in[0], &in[1], nullptr, 1e-5f,
                                                               1, &out[0], &out[1], &out[2]);
                      });
      for (const double y : to_doubles(left[2])) ASSERT_EQ(y, 0);
      EXPECT_EQ(to_doubles(left[4])[0], 0);
    }
  }
}

template <typename T>
void check_rms_norm(const Dims& dims, DataType weights) {
  using C = compute_t<T>;
  const Arrays in = {drawn(dtype_of<T>(), dims, 1), drawn(weights, {dims[1]}, 2)};
  const TensorMeta inverses{{dims[0]}, dtype_of<C>()};
  expect_same_on_gpu(
      in, {in[0].meta(), inverses}, [](const KernelContext& ctx, Arrays& given, Arrays& out) {
        registered<kernels::rms_norm, T>(ctx, given[0], given[1], 1e-5f, &out[0], &out[1]);
      });
  const Arrays behind = {in[0], in[1], drawn(dtype_of<C>(), {dims[0]}, 3, 1, 2),
                         drawn(dtype_of<T>(), dims, 4)};
  expect_same_on_gpu(
      behind, {in[0].meta(), in[1].meta()},
      [](const KernelContext& ctx, Arrays& given, Arrays& out) {
        registered<kernels::rms_norm_grad, T>(ctx, given[0], given[1], given[2], given[3], &out[0],
                                              &out[1]);
      },
      4);
  expect_same_on_gpu(
      behind, {in[0].meta()},
      [](const KernelContext& ctx, Arrays& given, Arrays& out) {
        registered<kernels::rms_norm_grad, T>(ctx, given[0], given[1], given[2], given[3], &out[0],
                                              nullptr);
      },
      4);
}

TEST(GpuNormalisation, RmsNorm) {
  for_each_type(Floats(), []<typename T>() {
    for (const Dims& dims : kRows) {
      for (const DataType weights : weight_dtypes<T>()) {
        SCOPED_TRACE(dims.to_string() + " weights " + std::string(name_of(weights)));
        check_rms_norm<T>(dims, weights);
      }
    }
  });
}

}  // namespace
}  // namespace phi::testing
