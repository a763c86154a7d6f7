// Softmax with cross entropy and its gradient on GPUs, beside the CPU's.
#include <gmock/gmock.h>

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
                                  {{2, 2056}, -1}, {{1, 16400}, 1}};

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

// Of a rank that holds classes 16 to 49 of 60; what it would combine stays its own.
TEST(GpuCrossEntropy, ShardedClasses) {
  FakeView view;
  view.inputs = {part({5, 60}, 1, 16, 49), part({5, 60}, 1, 16, 49)};
  const Case test{{5, 33}, 1};
  for (const bool soft : {false, true}) {
    for (const bool use_softmax : {false, true}) {
      CrossEntropy<float>(test, soft, use_softmax, &view).check();
      CrossEntropy<float>(test, soft, use_softmax, &view).check_gradient();
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
