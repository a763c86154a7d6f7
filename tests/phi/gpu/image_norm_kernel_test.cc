// Norms of images and their gradients on GPUs, beside the CPU's.
#include "phi/generated/kernels/image_norm.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

struct Case {
  Dims dims;
  std::string format;
  int64_t channels() const { return format == "NHWC" ? dims.back() : dims[1]; }
};
const std::vector<Case> kCases = {{{2, 6, 5, 7}, "NCHW"},   {{2, 5, 7, 6}, "NHWC"},
                                  {{0, 4, 3, 3}, "NCHW"},   {{3, 4, 0, 2}, "NCHW"},
                                  {{2, 0, 3, 2}, "NCHW"},   {{2, 3, 1, 1}, "NCHW"},
                                  {{40, 2, 9, 11}, "NCHW"}, {{1, 33, 50, 2}, "NHWC"}};

/// Calls check(test, weights) with dtypes of weights: x's, or float32 beside 16-bit x.
template <typename T, typename F>
void for_each_case(F check) {
  for (const Case& test : kCases) {
    SCOPED_TRACE(test.dims.to_string() + test.format);
    check(test, dtype_of<T>());
    if (kIs16Bit<T>) check(test, DataType::FLOAT32);
  }
}

template <typename T>
void check_batch_norm(const Case& test, DataType weights, bool is_test, const LaunchView* view) {
  const DataType computed = dtype_of<compute_t<T>>();
  const TensorMeta channel{{test.channels()}, weights};
  const TensorMeta kept{{test.channels()}, computed};
  const Arrays in = {drawn(dtype_of<T>(), test.dims, 1), drawn(weights, channel.dims, 2),
                     drawn(weights, channel.dims, 3, 1, 2), drawn(weights, channel.dims, 4),
                     drawn(weights, channel.dims, 5)};
  expect_same_on_gpu(
      in, {in[0].meta(), channel, channel, kept, kept},
      [&](const KernelContext& ctx, Arrays& given, Arrays& out) {
        registered<kernels::batch_norm, T>(ctx, given[0], given[1], given[2], &given[3], &given[4],
                                           is_test, 0.75f, 1e-5f, test.format, false, false,
                                           &out[0], &out[1], &out[2], &out[3], &out[4]);
      },
      2, view);
  expect_same_on_gpu(
      {in[0], in[3], drawn(computed, channel.dims, 6), drawn(computed, channel.dims, 7, 1, 2),
       drawn(dtype_of<T>(), test.dims, 8)},
      {in[0].meta(), channel, channel},
      [&](const KernelContext& ctx, Arrays& given, Arrays& out) {
        registered<kernels::batch_norm_grad, T>(ctx, given[0], &given[1], given[2], given[3],
                                                given[4], test.format, is_test, false, false,
                                                &out[0], &out[1], &out[2]);
      },
      4, view);
}

TEST(GpuImageNorm, OfBatches) {
  for_each_type(Floats(), []<typename T>() {
    for_each_case<T>([](const Case& test, DataType weights) {
      check_batch_norm<T>(test, weights, false, nullptr);
      check_batch_norm<T>(test, weights, true, nullptr);
    });
  });
}

TEST(GpuImageNorm, OfAPartOfTheBatch) {
  FakeView view;
  view.inputs = {part({8, 6, 5, 7}, 0, 2, 4)};
  check_batch_norm<float>(kCases[0], DataType::FLOAT32, false, &view);
}

template <typename T>
void check_group_norm(const Case& test, DataType weights) {
  const int groups = test.channels() % 2 == 0 ? 2 : 3;
  const DataType computed = dtype_of<compute_t<T>>();
  const TensorMeta channel{{test.channels()}, weights};
  const TensorMeta kept{{test.dims[0], groups}, computed};
  const Arrays in = {drawn(dtype_of<T>(), test.dims, 1), drawn(weights, channel.dims, 2),
                     drawn(weights, channel.dims, 3)};
  expect_same_on_gpu(
      in, {in[0].meta(), kept, kept},
      [&](const KernelContext& ctx, Arrays& given, Arrays& out) {
        registered<kernels::group_norm, T>(ctx, given[0], &given[1], &given[2], 1e-5f, groups,
                                           test.format, &out[0], &out[1], &out[2]);
      },
      2);
  expect_same_on_gpu(
      {in[0], in[1], drawn(computed, kept.dims, 4), drawn(computed, kept.dims, 5, 1, 2),
       drawn(dtype_of<T>(), test.dims, 6)},
      {in[0].meta(), channel, channel},
      [&](const KernelContext& ctx, Arrays& given, Arrays& out) {
        registered<kernels::group_norm_grad, T>(ctx, given[0], &given[1], given[2], given[3],
                                                given[4], 1e-5f, groups, test.format, &out[0],
                                                &out[1], &out[2]);
      },
      4);
}

TEST(GpuImageNorm, OfGroups) {
  for_each_type(Floats(), []<typename T>() { for_each_case<T>(check_group_norm<T>); });
}

template <typename T>
void check_instance_norm(const Case& test, DataType weights) {
  if (test.format != "NCHW") return;
  const DataType computed = dtype_of<compute_t<T>>();
  const TensorMeta channel{{test.channels()}, weights};
  const TensorMeta kept{{test.dims[0], test.channels()}, computed};
  const Arrays in = {drawn(dtype_of<T>(), test.dims, 1), drawn(weights, channel.dims, 2)};
  expect_same_on_gpu(
      in, {in[0].meta(), kept, kept},
      [&](const KernelContext& ctx, Arrays& given, Arrays& out) {
        registered<kernels::instance_norm, T>(ctx, given[0], &given[1], nullptr, 1e-5f, &out[0],
                                              &out[1], &out[2]);
      },
      2);
  expect_same_on_gpu(
      {in[0], in[1], drawn(computed, kept.dims, 4), drawn(computed, kept.dims, 5, 1, 2),
       drawn(dtype_of<T>(), test.dims, 6)},
      {in[0].meta(), channel},
      [&](const KernelContext& ctx, Arrays& given, Arrays& out) {
        registered<kernels::instance_norm_grad, T>(ctx, given[0], &given[1], given[2], given[3],
                                                   given[4], &out[0], &out[1], nullptr);
      },
      4);
}

TEST(GpuImageNorm, OfInstances) {
  for_each_type(Floats(), []<typename T>() { for_each_case<T>(check_instance_norm<T>); });
}

// Sums of channels that a thread has, a warp, a block.
TEST(GpuImageNorm, AffineChannels) {
  for_each_type(Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    for (const Dims& dims : {Dims{1, 3, 2, 1}, Dims{2, 3, 4, 5}, Dims{2, 3, 30, 20}}) {
      SCOPED_TRACE(dims.to_string());
      const Arrays in = {drawn(t, dims, 1), drawn(t, {3}, 2), drawn(t, dims, 3)};
      expect_same_on_gpu(
          in, {in[0].meta(), in[1].meta(), in[1].meta()},
          [](const KernelContext& ctx, Arrays& x, Arrays& out) {
            registered<kernels::affine_channel_grad, T>(ctx, x[0], x[1], x[2], std::string("NCHW"),
                                                        &out[0], &out[1], &out[2]);
          },
          4);
    }
  });
}

}  // namespace
}  // namespace phi::testing
