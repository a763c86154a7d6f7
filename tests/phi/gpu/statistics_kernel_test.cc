// Histograms, medians, searches and other statistics on GPUs, beside the CPU's.
#include "phi/generated/kernels/activation.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/generated/kernels/loss_scaling.h"
#include "phi/generated/kernels/sampling.h"
#include "phi/generated/kernels/sequence.h"
#include "phi/generated/kernels/sort.h"
#include "phi/generated/kernels/statistics.h"
#include "phi/generated/kernels/updates.h"
#include "tests/phi/gpu/same_refusal.h"

namespace phi::testing {
namespace {

template <typename T>
constexpr bool kIsFloat = kIs16Bit<T> || std::is_floating_point_v<T>;

/// Some elements become these.
template <typename T>
DenseTensor with(DenseTensor x, const std::vector<float>& rare) {
  for (int64_t i = 0; i < x.numel(); i += 3) {
    x.mutable_data<T>()[i] = T(rare[static_cast<size_t>(i / 3) % rare.size()]);
  }
  return x;
}

TEST(GpuStatistics, Histograms) {
  for_each_type(SignedNumbers(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{700}, Dims{5, 9}, Dims{20000}}) {
      const Arrays in = {drawn(t, dims, 1, -8, 8), drawn(t, dims, 2)};
      for (const auto& [min, max] : {std::pair{0, 0}, std::pair{-5, 3}}) {
        expect_same_on_gpu(
            in, {{{13}, DataType::INT64}, {{13}, DataType::FLOAT32}},
            [&, min = min, max = max](const KernelContext& ctx, Arrays& in, Arrays& out) {
              registered<kernels::histogram, T>(ctx, in[0], nullptr, 13, min, max, false, &out[0]);
              registered<kernels::histogram, T>(ctx, in[0], &in[1], 13, min, max, false, &out[1]);
            },
            0);
        expect_same_on_gpu(
            in, {{{13}, DataType::FLOAT32}},
            [&, min = min, max = max](const KernelContext& ctx, Arrays& in, Arrays& out) {
              registered<kernels::histogram, T>(ctx, in[0], nullptr, 13, min, max, true, &out[0]);
            });
      }
    }
    // One value alone.
    expect_same_on_gpu({drawn(t, {50}, 1, 1, 1)}, {{{4}, DataType::INT64}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::histogram, T>(ctx, in[0], nullptr, 4, 0, 0, false,
                                                           &out[0]);
                       });
  });
  const DenseTensor wrong = tensor<float>({1, NAN, INFINITY}, {3});
  expect_same_refusal(
      {wrong}, {{{4}, DataType::INT64}}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::histogram, float>(ctx, in[0], nullptr, 4, 0, 0, false, &out[0]);
      });
  expect_same_on_gpu(
      {wrong}, {{{4}, DataType::INT64}}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::histogram, float>(ctx, in[0], nullptr, 4, 0, 2, false, &out[0]);
      });
}

// Their differences are out of range.
TEST(GpuStatistics, HistogramsOfHugeFloats) {
  for_each_type(TypeList<float, double>(), []<typename T>() {
    const double most = static_cast<double>(std::numeric_limits<T>::max());
    const Arrays left = left_on_gpu(
        {tensor<T>({-most, -most / 4, 0, most / 4, most}, {5})}, {{{4}, DataType::INT64}},
        [](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::histogram, T>(ctx, in[0], nullptr, 4, 0, 0, false, &out[0]);
        });
    EXPECT_EQ(to_doubles(left[1]), (std::vector<double>{1, 1, 2, 1}));
    expect_same_on_gpu(
        {left[0]}, {{{4}, DataType::INT64}}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::histogram, T>(ctx, in[0], nullptr, 4, 0, 0, false, &out[0]);
        });
  });
}

TEST(GpuStatistics, Medians) {
  for_each_type(SignedNumbers(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    DenseTensor x = drawn(t, {4, 5, 6}, 1, -3, 3);
    if constexpr (kIsFloat<T>) {
      x = with<T>(x, {NAN, -0.0f, 0.0f, INFINITY});
      for (int64_t i = 0; i < 30; ++i) x.mutable_data<T>()[i] = T(NAN);  // a row of nothing else
    }
    for (const std::vector<int64_t>& axes :
         {std::vector<int64_t>{}, {0}, {1}, {2}, {1, 2}, {0, 2}}) {
      const IntArray axis(axes);
      int64_t rows = 120;
      for (const int64_t a : axes) rows /= x.dims()[static_cast<int>(a)];
      if (axes.empty()) rows = 1;
      for (const auto& [mode, each] : {std::pair{"avg", 2}, std::pair{"min", 1}}) {
        const std::string name = mode;
        const TensorMeta medians{{rows, each}, DataType::INT64};
        const auto find = [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::nanmedian, T>(ctx, in[0], axis, name, &out[0], &out[1]);
        };
        expect_same_on_gpu({x}, {{{rows}, t}, medians}, find);
        if constexpr (kIsFloat<T>) {
          const DenseTensor places = left_on_cpu({x}, {{{rows}, t}, medians}, find).back();
          expect_same_on_gpu({places, drawn(t, {rows}, 2)}, {x.meta()},
                             [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                               registered<kernels::nanmedian_grad, T>(ctx, in[0], in[1], axis,
                                                                      &out[0]);
                             });
        }
      }
    }
  });
  expect_same_refusal({tensor<int64_t>({0, 4}, {2}), drawn(DataType::FLOAT32, {2}, 1)},
                      {{{2, 4}, DataType::FLOAT32}},
                      [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                        registered<kernels::nanmedian_grad, float>(
                            ctx, in[0], in[1], IntArray(std::vector<int64_t>{1}), &out[0]);
                      });
}

TEST(GpuStatistics, Searches) {
  for_each_type(Numbers(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    DenseTensor values = drawn(t, {3, 40}, 2, 0, 8);
    if constexpr (kIsFloat<T>) values = with<T>(values, {NAN, -0.0f, INFINITY});
    Values rising;
    for (int row = 0; row < 3; ++row) {
      for (int k = 0; k < 17; ++k) {
        const int step = k / 3;
        rising.push_back(row + step);
      }
    }
    DenseTensor rows = tensor<T>(rising, {3, 17});
    if constexpr (kIsFloat<T>) rows.mutable_data<T>()[16] = T(NAN);
    const DenseTensor row = tensor<T>(Values(rising.begin(), rising.begin() + 17), {17});
    for (const bool right : {false, true}) {
      for (const DenseTensor& sequence : {rows, row, tensor<T>({}, {0})}) {
        expect_same_on_gpu(
            {sequence, values}, {{{3, 40}, DataType::INT32}, {{3, 40}, DataType::INT64}},
            [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
              for (DenseTensor& places : out) {
                registered<kernels::searchsorted, T>(ctx, in[0], in[1], right, &places);
              }
            });
      }
    }
  });
}

TEST(GpuStatistics, CrossProducts) {
  for_each_type(join_t<SignedNumbers, Complexes>(), []<typename T>() {
    const DataType t = dtype_of<T>();
    const Arrays in = {drawn(t, {4, 3, 5}, 1), drawn(t, {4, 3, 5}, 2), drawn(t, {4, 3, 5}, 3)};
    const TensorMeta meta{{4, 3, 5}, t};
    expect_same_on_gpu(in, {meta}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::cross, T>(ctx, in[0], in[1], 1, &out[0]);
    });
    if constexpr (!std::is_integral_v<T>) {
      expect_same_on_gpu(in, {meta, meta}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::cross_grad, T>(ctx, in[0], in[1], in[2], 9, &out[0], &out[1]);
      });
    }
  });
}

TEST(GpuStatistics, Accuracy) {
  const Arrays in = {
      drawn(DataType::FLOAT32, {9000, 3}, 1), drawn(DataType::INT64, {9000, 3}, 2, 0, 9),
      drawn(DataType::INT64, {9000, 1}, 3, 0, 9), drawn(DataType::INT32, {9000, 3}, 2, 0, 9),
      drawn(DataType::INT32, {9000, 1}, 3, 0, 9)};
  FakeView view;
  view.inputs = {part({20000, 3}, 0, 100, 9100)};
  for (const LaunchView* where :
       {static_cast<const LaunchView*>(nullptr), static_cast<const LaunchView*>(&view)}) {
    expect_same_on_gpu(
        in, {{{}, DataType::FLOAT32}, {{}, DataType::INT32}, {{}, DataType::INT32}},
        [](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::accuracy, float>(ctx, in[0], in[1], in[2], &out[0], &out[1], &out[2]);
          registered<kernels::accuracy, float>(ctx, in[0], in[3], in[4], &out[0], &out[1], &out[2]);
        },
        1, where);
  }
}

TEST(GpuStatistics, ChecksOfNumbers) {
  for_each_type(Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    const std::vector<TensorMeta> outputs = {{{3}, DataType::INT64}, {{3}, DataType::FLOAT32}};
    const auto check = [](int level) {
      return [level](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::check_numerics, T>(ctx, in[0], std::string("relu"), std::string("w"),
                                               level, -1, std::string(), &out[0], &out[1]);
      };
    };
    const DenseTensor x = drawn(t, {700}, 1);
    const DenseTensor wrong = with<T>(drawn(t, {9, 70}, 2), {NAN, INFINITY, 0.0f, -INFINITY});
    for (const DenseTensor& good : {x, drawn(t, {}, 1), drawn(t, {20000}, 1)})
      expect_same_on_gpu({good}, outputs, check(0));
    for (const DenseTensor& any : {wrong, tensor<T>({NAN, NAN}, {2}), drawn(t, {0}, 1)}) {
      expect_same_on_gpu({any}, outputs, check(1));
    }
    expect_same_refusal({wrong}, outputs, check(0));
  });
}

TEST(GpuStatistics, AveragesOfWeights) {
  for_each_type(Floats(), []<typename T>() {
    using C = compute_t<T>;
    const TensorMeta sum{{300}, dtype_of<C>()};
    const TensorMeta count{{1}, DataType::INT64};
    // A step among others, one that moves a sum on, one that begins anew, and both.
    for (const auto& [terms, updates] :
         {std::pair<double, double>{2, 5}, {2, 16383}, {30, 40}, {50, 32767}}) {
      const Arrays in = {drawn(dtype_of<T>(), {300}, 1), drawn(sum.dtype, {300}, 2),
                         drawn(sum.dtype, {300}, 3),     drawn(sum.dtype, {300}, 4),
                         tensor<int64_t>({terms}, {1}),  tensor<int64_t>({7}, {1}),
                         tensor<int64_t>({updates}, {1})};
      const auto step = [](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::average_accumulates, T>(ctx, in[0], in[1], in[2], in[3], in[4], in[5],
                                                    in[6], 0.5f, 30, 10, &out[0], &out[1], &out[2],
                                                    &out[3], &out[4], &out[5]);
      };
      expect_same_on_gpu(in, {sum, sum, sum, count, count, count}, step);
      expect_same_on_gpu(in, {}, [](const KernelContext& ctx, Arrays& in, Arrays&) {
        registered<kernels::average_accumulates, T>(ctx, in[0], in[1], in[2], in[3], in[4], in[5],
                                                    in[6], 0.5f, 30, 10, &in[1], &in[2], &in[3],
                                                    &in[4], &in[5], &in[6]);
      });
    }
  });
}

TEST(GpuStatistics, PathsOfBeams) {
  for_each_type(SignedIntegers(), []<typename T>() {
    const TensorMeta meta{{6, 5, 3}, dtype_of<T>()};
    const Arrays in = {drawn(meta.dtype, meta.dims, 1, 0, 90),
                       drawn(meta.dtype, meta.dims, 2, 0, 2.4)};
    const auto follow = [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::gather_tree, T>(ctx, in[0], in[1], &out[0]);
    };
    expect_same_on_gpu(in, {meta}, follow);
    expect_same_on_gpu({drawn(meta.dtype, {0, 2, 3}, 1), drawn(meta.dtype, {0, 2, 3}, 1)},
                       {{{0, 2, 3}, meta.dtype}}, follow);
    // A parent that is no beam: off all paths it is none's, in the first step nobody asks.
    DenseTensor unused = in[1].clone();
    for (int64_t i = 15; i < 30; i += 3) unused.mutable_data<T>()[i + 1] = 1;
    for (int64_t i = 30; i < 45; ++i) unused.mutable_data<T>()[i] = 1;
    for (int64_t i = 15; i < 30; i += 3) unused.mutable_data<T>()[i] = 9;
    for (int64_t i = 0; i < 15; ++i) unused.mutable_data<T>()[i] = -4;
    expect_same_on_gpu({in[0], unused}, {meta}, follow);
    DenseTensor wrong = unused.clone();
    wrong.mutable_data<T>()[75] = 3;
    expect_same_refusal({in[0], wrong}, {meta}, follow);
  });
}

TEST(GpuSampling, Choices) {
  for_each_type(Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    DenseTensor weights = drawn(t, {6, 70}, 1, 0, 4);
    for (int64_t i = 0; i < weights.numel(); i += 3) weights.mutable_data<T>()[i] = T(0.0f);
    FakeView view;
    view.outputs = {part({18, 9}, 0, 6, 12)};
    for (const bool replacement : {false, true}) {
      const auto choose = [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::multinomial, T>(ctx, in[0], replacement, -7, &out[0]);
      };
      expect_same_on_gpu({weights}, {{{6, 9}, DataType::INT64}}, choose);
      expect_same_on_gpu({weights}, {{{6, 9}, DataType::INT64}}, choose, 1, &view);
      expect_same_on_gpu({drawn(t, {70}, 2, 0, 4)}, {{{5}, DataType::INT64}}, choose);
      expect_same_on_gpu({drawn(t, {9000}, 2, 0, 4)}, {{{5}, DataType::INT64}}, choose);
      for (const Values& wrong : {Values{1, -1}, {NAN, 1}, {INFINITY, 1}, {0, 0}}) {
        expect_same_refusal({tensor<T>(wrong, {2})}, {{{1}, DataType::INT64}}, choose);
      }
    }
  });
  const DenseTensor few = tensor<float>({1, 1, 1, 0, 0, 1}, {2, 3});
  expect_same_refusal({few}, {{{2, 2}, DataType::INT64}},
                      [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                        registered<kernels::multinomial, float>(ctx, in[0], false, 3, &out[0]);
                      });
}

TEST(GpuSampling, Permutations) {
  for_each_type(join_t<AllIntegers, Floats>(), []<typename T>() {
    const auto permute = [](const KernelContext& ctx, Arrays&, Arrays& out) {
      registered<kernels::randperm, T>(ctx, 12, &out[0]);
    };
    for (const Dims& dims : {Dims{0}, Dims{1}, Dims{700}, Dims{1500}}) {
      expect_same_on_gpu({}, {{dims, dtype_of<T>()}}, permute);
    }
    FakeView view;
    view.outputs = {part({100}, 0, 37, 70)};
    expect_same_on_gpu({}, {{{33}, dtype_of<T>()}}, permute, 0, &view);
  });
}

TEST(GpuSampling, ClassCentres) {
  for_each_type(SignedIntegers(), []<typename T>() {
    const DataType t = dtype_of<T>();
    const auto sample = [](int classes, int samples) {
      return [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
        registered<kernels::class_center_sample, T>(ctx, in[0], classes, samples, true, 5, &out[0],
                                                    &out[1]);
      };
    };
    const std::vector<TensorMeta> outputs = {{{0}, t}, {{0}, t}};
    for (const int samples : {1, 12, 40}) {
      expect_same_on_gpu({drawn(t, {30}, 1, 0, 39)}, outputs, sample(40, samples));
    }
    expect_same_on_gpu({drawn(t, {0}, 1)}, outputs, sample(9, 4));
    if (t != DataType::INT8) {  // so many that several blocks count them
      expect_same_on_gpu({drawn(t, {30}, 1, 0, 8999)}, outputs, sample(9000, 40));
    }
    expect_same_refusal({tensor<T>({3, 9, -1}, {3})}, outputs, sample(9, 4));
  });
}

TEST(GpuSampling, DrawnSlopes) {
  for_each_type(Floats(), []<typename T>() {
    const TensorMeta meta{{6, 7, 4}, dtype_of<T>()};
    const DenseTensor x = with<T>(drawn(meta.dtype, meta.dims, 1), {NAN, -0.0f, -INFINITY});
    FakeView view;
    view.outputs = {part({6, 21, 4}, 1, 7, 14), part({6, 21, 4}, 1, 7, 14)};
    for (const LaunchView* where :
         {static_cast<const LaunchView*>(nullptr), static_cast<const LaunchView*>(&view)}) {
      for (const bool is_test : {false, true}) {
        expect_same_on_gpu(
            {x}, {meta, meta},
            [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
              registered<kernels::rrelu, T>(ctx, in[0], 0.1f, 0.4f, is_test, 9, &out[0], &out[1]);
            },
            0, where);
      }
    }
  });
}

}  // namespace
}  // namespace phi::testing
