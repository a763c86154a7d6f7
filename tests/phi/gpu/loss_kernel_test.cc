// Losses of elements, and those of labelled classes, on GPUs, beside the CPU's.
#include <gmock/gmock.h>

#include "phi/generated/kernels/elementwise_loss.h"
#include "phi/generated/kernels/loss.h"
#include "tests/phi/gpu/both_devices.h"
#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

const std::vector<Dims> kDims = {{}, {0}, {1}, {7, 33}, {9000}};

/// Probabilities strictly within [0, 1].
template <typename T>
DenseTensor probabilities(const Dims& dims, uint32_t seed) {
  return drawn(dtype_of<T>(), dims, seed, 1.0 / 16, 15.0 / 16);
}

template <typename T>
void check_elementwise_losses(const Dims& dims) {
  const DenseTensor x = probabilities<T>(dims, 1);
  const DenseTensor g = drawn(dtype_of<T>(), dims, 3);
  const std::vector<TensorMeta> out(9, x.meta());
  expect_same_on_gpu(
      {x, probabilities<T>(dims, 2), g}, out,
      [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::bce_loss, T>(ctx, in[0], in[1], &out[0]);
        registered<kernels::bce_loss_grad, T>(ctx, in[0], in[1], in[2], &out[1]);
        registered<kernels::huber_loss, T>(ctx, in[0], in[1], 0.25f, &out[2]);
        registered<kernels::huber_loss_grad, T>(ctx, in[0], in[1], in[2], 0.25f, &out[3], &out[4]);
        registered<kernels::hinge_loss, T>(ctx, in[0], in[1], &out[5]);
        registered<kernels::hinge_loss_grad, T>(ctx, in[0], in[1], in[2], &out[6]);
        registered<kernels::log_loss, T>(ctx, in[0], in[1], 1e-4f, &out[7]);
        registered<kernels::log_loss_grad, T>(ctx, in[0], in[1], in[2], 1e-4f, &out[8]);
      },
      2);
}

TEST(GpuLoss, OfElements) {
  for_each_type(Floats(), []<typename T>() {
    for (const Dims& dims : kDims) {
      SCOPED_TRACE(dims.to_string());
      check_elementwise_losses<T>(dims);
    }
  });
}

TEST(GpuLoss, WhatIsNoProbabilityIsRefused) {
  const DenseTensor x = uploaded(tensor<float>({0.5, 1.25, NAN}, {3}));
  DenseTensor out = DenseTensor::empty(x.meta(), GPUPlace(0));
  registered<kernels::bce_loss, float>(KernelContext(GPUPlace(0)), x, x, &out);
  EXPECT_THAT([] { gpu::GpuDevice::of(GPUPlace(0)).wait(); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "input f32[3] holds 1.25 at flat position 1 (of this rank); "
                          "probabilities must be in [0, 1]."));
}

template <typename T>
void check_divergence(const Dims& dims, const std::string& reduction, bool log_target) {
  const bool is_whole = reduction == "none";
  const DenseTensor x = drawn(dtype_of<T>(), dims, 1, -3, 0);
  const DenseTensor label = drawn(dtype_of<T>(), dims, 2, log_target ? -3 : 0, log_target ? 0 : 1);
  const TensorMeta loss{is_whole ? dims : Dims{}, dtype_of<T>()};
  expect_same_on_gpu({x, label, drawn(dtype_of<T>(), loss.dims, 3)}, {loss, x.meta()},
                     [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::kldiv_loss, T>(ctx, in[0], in[1], reduction, log_target,
                                                          &out[0]);
                       registered<kernels::kldiv_loss_grad, T>(ctx, in[0], in[1], in[2], reduction,
                                                               log_target, &out[1]);
                     });
}

TEST(GpuLoss, Divergence) {
  for_each_type(Floats(), []<typename T>() {
    for (const char* reduction : {"none", "sum", "mean", "batchmean"}) {
      for (const bool log_target : {false, true}) {
        SCOPED_TRACE(reduction);
        check_divergence<T>({7, 33}, reduction, log_target);
        check_divergence<T>({2, 9000}, reduction, log_target);
      }
    }
  });
}

template <typename T>
void check_logits(const Dims& dims, bool has_weight, bool normalize) {
  constexpr int kIgnored = 1;
  const DenseTensor x = drawn(dtype_of<T>(), dims, 1, -4, 4);
  Values labels = random_values(dims.numel(), 2, 0, 1);
  for (size_t i = 0; i < labels.size(); i += 3) labels[i] = kIgnored;
  const DenseTensor weight = has_weight ? drawn(dtype_of<T>(), dims, 3, 0, 2) : DenseTensor();
  expect_same_on_gpu({x, tensor<T>(labels, dims), drawn(dtype_of<T>(), dims, 4), weight},
                     {x.meta(), x.meta()}, [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       const DenseTensor* const given = has_weight ? &in[3] : nullptr;
                       registered<kernels::sigmoid_cross_entropy_with_logits, T>(
                           ctx, in[0], in[1], given, normalize, kIgnored, &out[0]);
                       registered<kernels::sigmoid_cross_entropy_with_logits_grad, T>(
                           ctx, in[0], in[1], given, in[2], normalize, kIgnored, &out[1]);
                     });
}

TEST(GpuLoss, Logits) {
  for_each_type(Floats(), []<typename T>() {
    for (const Dims& dims : kDims) {
      for (const bool has_weight : {false, true}) {
        check_logits<T>(dims, has_weight, false);
        check_logits<T>(dims, has_weight, true);
      }
    }
  });
}

template <typename T>
void check_labelled(const Dims& dims, bool has_weight, const std::string& reduction) {
  constexpr int64_t kIgnored = -100;
  Dims rows = {dims[0]};
  for (int d = 2; d < dims.ndim(); ++d) rows.push_back(dims[d]);
  Values labels = random_values(rows.numel(), 2, 0, static_cast<double>(dims[1]) - 1);
  for (size_t i = 0; i < labels.size(); ++i)
    labels[i] = i % 3 == 2 ? kIgnored : std::floor(labels[i]);
  const TensorMeta loss{reduction == "none" ? rows : Dims{}, dtype_of<T>()};
  const TensorMeta total{{}, dtype_of<T>()};
  expect_same_on_gpu({drawn(dtype_of<T>(), dims, 1, -3, 0), tensor<int64_t>(labels, rows),
                      has_weight ? drawn(dtype_of<T>(), {dims[1]}, 3, 0, 2) : DenseTensor(),
                      drawn(dtype_of<T>(), loss.dims, 4), drawn(dtype_of<T>(), {}, 5, 2, 3)},
                     {loss, total, {dims, dtype_of<T>()}},
                     [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       const DenseTensor* const given = has_weight ? &in[2] : nullptr;
                       registered<kernels::nll_loss, T>(ctx, in[0], in[1], given, kIgnored,
                                                        reduction, &out[0], &out[1]);
                       registered<kernels::nll_loss_grad, T>(ctx, in[0], in[1], given, in[4], in[3],
                                                             kIgnored, reduction, &out[2]);
                     });
}

TEST(GpuLoss, OfLabelledClasses) {
  for_each_type(Floats(), []<typename T>() {
    for (const char* reduction : {"none", "sum", "mean"}) {
      for (const bool has_weight : {false, true}) {
        for (const Dims& dims : {Dims{1, 1}, Dims{0, 4}, Dims{700, 9}, Dims{3, 5, 40}}) {
          SCOPED_TRACE(dims.to_string() + " " + reduction);
          check_labelled<T>(dims, has_weight, reduction);
        }
      }
    }
  });
}

}  // namespace
}  // namespace phi::testing
