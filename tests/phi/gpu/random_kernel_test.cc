// Random values on GPUs: the CPU's words, whatever part of a tensor is drawn.
#include "phi/generated/kernels/random.h"
#include "phi/generated/kernels/sampling.h"
#include "tests/phi/gpu/same_refusal.h"

namespace phi::testing {
namespace {

/// A part of a tensor, of 72 elements.
class Part final : public LaunchView {
 public:
  explicit Part(const ShardBox& box) : box_(box) {}
  const ShardBox& input_box(int) const override { return box_; }
  const ShardBox& output_box(int) const override { return box_; }
  void combine_over(int, int, CombineKind, DenseTensor*) const override {}

 private:
  ShardBox box_;
};

/// Rows that are not whole blocks of four; blocks one behind the other; and neighbours that begin
/// within a block.
const Part kParts[] = {Part({{5, 9, 7}, {{1, 2, 3}, {3, 6, 4}}}),
                       Part({{5, 6, 4}, {{2, 0, 0}, {3, 6, 4}}}),
                       Part({{1, 3, 77}, {{0, 0, 3}, {1, 1, 72}}})};

template <typename T, typename Call>
void expect_draws(const Call& call, double roundings) {
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}, Dims{1027}, Dims{5, 9, 7}}) {
    expect_same_on_gpu({}, {{dims, dtype_of<T>()}}, call, roundings);
  }
  for (const Part& part : kParts) {
    expect_same_on_gpu({}, {{part.output_box(0).box.size, dtype_of<T>()}}, call, roundings, &part);
  }
}

TEST(GpuRandom, UniformValuesAreTheCpusBits) {
  for_each_type(Floats(), []<typename T>() {
    expect_draws<T>(
        [](const KernelContext& ctx, Arrays&, Arrays& out) {
          registered<kernels::uniform, T>(ctx, Scalar(-1.25), Scalar(3.1), 77, &out[0]);
        },
        0);
  });
}

TEST(GpuRandom, GaussianValuesAreTheCpusWithinRounding) {
  for_each_type(Floats(), []<typename T>() {
    // Normal numbers are floats, whatever they are added to.
    const double roundings = std::is_same_v<T, double> ? tolerance<float>() / tolerance<T>() : 1;
    expect_draws<T>(
        [](const KernelContext& ctx, Arrays&, Arrays& out) {
          registered<kernels::gaussian, T>(ctx, 0.5f, 2.0f, -3, &out[0]);
        },
        roundings);
  });
}

TEST(GpuRandom, DropoutKeepsTheSameElements) {
  for_each_type(Floats(), []<typename T>() {
    const TensorMeta meta{{3, 6, 4}, dtype_of<T>()};
    const DenseTensor x = drawn(meta.dtype, meta.dims, 1);
    const std::vector<TensorMeta> outputs = {meta, {meta.dims, DataType::UINT8}};
    for (const bool is_test : {false, true}) {
      for (const LaunchView* view :
           {static_cast<const LaunchView*>(nullptr), static_cast<const LaunchView*>(&kParts[0]),
            static_cast<const LaunchView*>(&kParts[1])}) {
        expect_same_on_gpu(
            {x, tensor<int32_t>({-12}, {1})}, outputs,
            [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
              registered<kernels::dropout, T>(ctx, in[0], &in[1], Scalar(0.4), is_test,
                                              std::string("downscale_in_infer"), 5, false, &out[0],
                                              &out[1]);
            },
            0, view);
      }
    }
    expect_same_on_gpu({x}, outputs, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::dropout, T>(ctx, moved_by_one(in[0]), nullptr, Scalar(0.4), false,
                                      std::string("upscale_in_train"), 5, false, &out[0], &out[1]);
    });
    const DenseTensor mask = drawn(DataType::UINT8, meta.dims, 4);
    expect_same_on_gpu({mask, x}, {meta}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::dropout_grad, T>(ctx, in[0], in[1], Scalar(0.25), false,
                                           std::string("upscale_in_train"), &out[0]);
    });
  });
}

TEST(GpuRandom, DrawsOfAWordEach) {
  for_each_type(Floats(), []<typename T>() {
    const TensorMeta meta{{5, 9, 7}, dtype_of<T>()};
    expect_same_on_gpu({drawn(meta.dtype, meta.dims, 1, 0, 1)}, {meta, meta},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::bernoulli, T>(ctx, in[0], 12, &out[0]);
                         registered<kernels::exponential, T>(ctx, in[0], 0.5f, 13, &out[1]);
                       });
  });
  for_each_type(AllIntegers(), []<typename T>() {
    expect_draws<T>([](const KernelContext& ctx, Arrays&,
                       Arrays& out) { registered<kernels::randint, T>(ctx, 3, 120, -8, &out[0]); },
                    0);
  });
}

// Draws that take as many words as it happens, small and large parameters, and a part of a tensor.
TEST(GpuSampling, DistributionsAreTheCpus) {
  for_each_type(Floats(), []<typename T>() {
    const Dims dims{6, 5, 4};
    const TensorMeta meta{dims, dtype_of<T>()};
    DenseTensor parameters = drawn(meta.dtype, dims, 1, 0.25, 30);
    const DenseTensor chances = drawn(meta.dtype, {5, 1}, 2, 0, 1);
    const DenseTensor trials = drawn(DataType::INT32, dims, 3, 0, 200);
    FakeView view;
    view.outputs = {part({18, 5, 4}, 0, 6, 12)};
    const LaunchView* const whole_or_part[] = {nullptr, &view};
    for (const LaunchView* where : whole_or_part) {
      expect_same_on_gpu(
          {parameters, trials, chances}, {meta, meta, meta, {dims, DataType::INT64}, meta},
          [](const KernelContext& ctx, Arrays& in, Arrays& out) {
            registered<kernels::poisson, T>(ctx, in[0], 7, &out[0]);
            registered<kernels::standard_gamma, T>(ctx, in[0], 8, &out[1]);
            registered<kernels::dirichlet, T>(ctx, in[0], -9, &out[2]);
            registered<kernels::binomial, T>(ctx, in[1], in[2], 10, &out[3]);
            registered<kernels::truncated_gaussian_random, T>(ctx, 1.0f, 2.0f, 11, -1.0f, 2.5f,
                                                              &out[4]);
          },
          1, where);
    }
  });
}

// Of lines that a warp has, and a block.
TEST(GpuSampling, SharesOfMany) {
  for_each_type(Floats(), []<typename T>() {
    for (const int64_t n : {40, 1100}) {
      const TensorMeta meta{{2, n}, dtype_of<T>()};
      expect_same_on_gpu({drawn(meta.dtype, meta.dims, 1, 1, 30)}, {meta},
                         [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                           registered<kernels::dirichlet, T>(ctx, in[0], -9, &out[0]);
                         });
    }
  });
}

TEST(GpuSampling, TruncatedTailsAreTheCpus) {
  struct Range {
    float mean, std, a, b;
  };
  for (const Range& r : {Range{0, 1, 4, 9}, {0, 1, -9, -4}, {5, 0, 4, 6}, {0, 1, -0.5f, 0.5f}}) {
    expect_same_on_gpu({}, {{{9, 7}, DataType::FLOAT64}},
                       [&](const KernelContext& ctx, Arrays&, Arrays& out) {
                         registered<kernels::truncated_gaussian_random, double>(
                             ctx, r.mean, r.std, 3, r.a, r.b, &out[0]);
                       });
  }
}

// What no distribution has is refused with the CPU's words, and the draw ends.
TEST(GpuSampling, WrongParametersAreRefused) {
  for (const double wrong : {-1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    const DenseTensor x = tensor<float>({1, wrong}, {2});
    const DenseTensor half = tensor<float>({0.5, 0.5}, {2});
    const auto expect_refusal = [&](const TensorMeta& out, const KernelCall& call) {
      expect_same_refusal({x, half}, {out}, call);
    };
    expect_refusal(x.meta(), [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::poisson, float>(ctx, in[0], 1, &out[0]);
    });
    expect_refusal(x.meta(), [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::standard_gamma, float>(ctx, in[0], 1, &out[0]);
    });
    expect_refusal(x.meta(), [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::dirichlet, float>(ctx, in[0], 1, &out[0]);
    });
    expect_refusal({{2}, DataType::INT64}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::binomial, float>(ctx, in[0], in[1], 1, &out[0]);
    });
    expect_refusal({{2}, DataType::INT64}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::binomial, float>(ctx, in[1], in[0], 1, &out[0]);
    });
  }
}

}  // namespace
}  // namespace phi::testing
