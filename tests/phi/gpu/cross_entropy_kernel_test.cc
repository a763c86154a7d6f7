// Softmax with cross entropy and its gradient on GPUs, beside the CPU's.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "phi/generated/kernels/loss.h"
#include "tests/phi/gpu/both_devices.h"
#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

struct Case {
  Dims dims;
  int axis;
};
const std::vector<Case> kCases = {{{0, 4}, 1},     {{1, 1}, 1},       {{5, 33}, -1}, {{3, 1101}, 1},
                                  {{4, 30, 5}, 1}, {{2, 3, 4100}, 1}, {{7, 48}, 1},  {{3, 1032}, 1},
                                  {{2, 2056}, -1}, {{1, 16400}, 1},   {{2, 512}, 1}, {{1, 8000}, 1},
                                  {{1, 16000}, 1}};

template <typename T>
class CrossEntropy {
 public:
  CrossEntropy(const Case& test, bool soft, bool use_softmax, const LaunchView* view = nullptr)
      : soft_(soft), use_softmax_(use_softmax), axis_(test.axis), dims_(test.dims), view_(view) {
    loss_dims_ = dims_;
    loss_dims_[axis_ < 0 ? axis_ + dims_.ndim() : axis_] = 1;
    input_ = drawn(dtype_of<T>(), dims_, 1, use_softmax ? -4 : 1.0 / 64, use_softmax ? 4 : 1);
  }

  /// Every third hard label is ignored; every third weight 0.
  DenseTensor label() const {
    const int64_t classes = dims_[axis_ < 0 ? axis_ + dims_.ndim() : axis_];
    const Dims& dims = soft_ ? dims_ : loss_dims_;
    Values values = random_values(dims.numel(), 2, 0, 1);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!soft_) values[i] = std::floor(values[i] * static_cast<double>(classes - 1));
      if (i % 3 == 2) values[i] = soft_ ? 0 : kIgnored;
    }
    return soft_ ? tensor<T>(values, dims) : tensor<int64_t>(values, dims);
  }

  void check() const {
    expect_same_on_gpu(
        {input_, label()}, {input_.meta(), {loss_dims_, dtype_of<T>()}},
        [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::cross_entropy_with_softmax, T>(
              ctx, in[0], in[1], soft_, use_softmax_, true, kIgnored, axis_, &out[0], &out[1]);
        },
        2, view_);
  }
  void check_gradient() const {
    DenseTensor shares = drawn(dtype_of<T>(), dims_, 3, 1.0 / 64, 1);
    expect_same_on_gpu(
        {label(), shares, drawn(dtype_of<T>(), loss_dims_, 4)}, {shares.meta()},
        [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::cross_entropy_with_softmax_grad, T>(
              ctx, in[0], in[1], in[2], soft_, use_softmax_, kIgnored, axis_, &out[0]);
        },
        2, view_);
  }

 private:
  static constexpr int kIgnored = -100;
  bool soft_;
  bool use_softmax_;
  int axis_;
  Dims dims_;
  Dims loss_dims_;
  DenseTensor input_;
  const LaunchView* view_;
};

TEST(GpuCrossEntropy, WholeClasses) {
  for_each_type(Floats(), []<typename T>() {
    for (const Case& test : kCases) {
      for (const bool soft : {false, true}) {
        for (const bool use_softmax : {false, true}) {
          SCOPED_TRACE(test.dims.to_string() + (soft ? " soft" : " hard") +
                       (use_softmax ? "" : " probabilities"));
          CrossEntropy<T>(test, soft, use_softmax).check();
          CrossEntropy<T>(test, soft, use_softmax).check_gradient();
        }
      }
    }
  });
}

/// A rank that holds the classes from 16 on; no rank of the others has a logit above 3, and one has
/// that.
class ClassesFrom16 : public FakeView {
 public:
  explicit ClassesFrom16(const Dims& dims, int axis) {
    Dims global = dims;
    global[axis] += 16;
    inputs = {part(global, axis, 16, global[axis]), part(global, axis, 16, global[axis])};
  }
  void combine_over(int, int, CombineKind kind, DenseTensor* values) const override {
    if (kind != CombineKind::kMax) return;
    const DenseTensor own = values->place() == CPUPlace() ? *values : downloaded(*values);
    Values most = to_doubles(own);
    for (double& m : most) m = std::max(m, 3.0);
    const auto of = [&]<typename C>() { return tensor<C>(most, own.dims()); };
    const DenseTensor all =
        own.dtype() == DataType::FLOAT64 ? of.operator()<double>() : of.operator()<float>();
    auto* to = static_cast<std::byte*>(values->mutable_raw_data());
    Device::of(values->place()).copy_from_host(to, all.raw_data(), all.nbytes());
  }
};

TEST(GpuCrossEntropy, ShardedClasses) {
  for_each_type(Floats(), []<typename T>() {
    for (const Case& test : kCases) {
      if (test.dims.numel() == 0) continue;
      const ClassesFrom16 view(test.dims, test.axis < 0 ? test.dims.ndim() - 1 : test.axis);
      for (const bool soft : {false, true}) {
        for (const bool use_softmax : {false, true}) {
          SCOPED_TRACE(test.dims.to_string() + (soft ? " soft" : " hard") +
                       (use_softmax ? "" : " probabilities"));
          CrossEntropy<T>(test, soft, use_softmax, &view).check();
          CrossEntropy<T>(test, soft, use_softmax, &view).check_gradient();
        }
      }
    }
  });
}

// Of which this rank has some: -inf alone, which counts as nothing beside others' logits, inf, NaN.
TEST(GpuCrossEntropy, RareNumbersAmongShardedClasses) {
  const double inf = INFINITY;
  for (const Values& row : {Values{-inf, -inf, -inf, -inf}, Values{-inf, NAN, -inf, -inf},
                            Values{inf, 0, -inf, 1}, Values{-inf, 2, 5, -inf}}) {
    for (const int64_t length : {4, 80, 16400}) {
      Values logits;
      for (int64_t i = 0; i < length; ++i) logits.push_back(row[i * 4 / length]);
      const Dims dims{1, length};
      const ClassesFrom16 view(dims, 1);
      expect_same_on_gpu(
          {tensor<float>(logits, dims), tensor<int64_t>({17}, {1, 1})},
          {{dims, DataType::FLOAT32}, {{1, 1}, DataType::FLOAT32}},
          [](const KernelContext& ctx, Arrays& in, Arrays& out) {
            registered<kernels::cross_entropy_with_softmax, float>(ctx, in[0], in[1], false, true,
                                                                   true, -100, 1, &out[0], &out[1]);
          },
          1, &view);
    }
  }
}

TEST(GpuCrossEntropy, ALabelThatIsNoClassIsRefused) {
  const DenseTensor x = uploaded(drawn(DataType::FLOAT32, {3, 4}, 1));
  const DenseTensor label = uploaded(tensor<int32_t>({3, -7, 4}, {3, 1}));
  DenseTensor softmax = DenseTensor::empty(x.meta(), GPUPlace(0));
  DenseTensor loss = DenseTensor::empty({{3, 1}, DataType::FLOAT32}, GPUPlace(0));
  const KernelContext ctx(GPUPlace(0));
  registered<kernels::cross_entropy_with_softmax, float>(ctx, x, label, false, true, true, -100, 1,
                                                         &softmax, &loss);
  EXPECT_THAT([] { gpu::GpuDevice::of(GPUPlace(0)).wait(); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "label of row 1 is -7, but input has 4 classes; it must be in [0, 4) or "
                          "ignore_index (-100)."));
}

}  // namespace
}  // namespace phi::testing
