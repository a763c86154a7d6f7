// Reductions on GPUs, beside the CPU's.
#include "phi/generated/kernels/reduction.h"
#include "phi/infermeta/axes.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

struct Space {
  Dims dims;
  std::vector<int64_t> axes;
};

// Nothing, one element; warps, blocks and parts of a row; columns, few and many; gaps between.
const std::vector<Space> kSpaces = {{{}, {}},
                                    {{1}, {0}},
                                    {{0, 3}, {0}},
                                    {{3, 0}, {0}},
                                    {{7}, {}},
                                    {{5, 33}, {1}},
                                    {{2, 700}, {-1}},
                                    {{20000}, {0}},
                                    {{5, 33}, {0}},
                                    {{3000, 3}, {0}},
                                    {{2, 3, 4, 5}, {1}},
                                    {{6, 3, 40}, {0, 2}},
                                    {{3, 1000, 2}, {1}},
                                    {{2, 300, 3}, {0, 1, 2}}};

Dims kept_dims(const Space& space) {
  const AxisSet axes = normalise_axes(IntArray(space.axes), space.dims);
  Dims kept;
  for (int d = 0; d < space.dims.ndim(); ++d) {
    if (!axes.has(d)) kept.push_back(space.dims[d]);
  }
  return kept;
}

/// Of numbers in [-within, within].
template <typename T, typename Call>
void expect_same_reductions(DataType out, const Call& call, double roundings = 1,
                            double within = 3) {
  for (const Space& space : kSpaces) {
    SCOPED_TRACE(space.dims.to_string() + " to " + kept_dims(space).to_string() + " of " +
                 std::string(name_of(dtype_of<T>())));
    const DenseTensor x = drawn(dtype_of<T>(), space.dims, 3, -within, within);
    expect_same_on_gpu(
        {x}, {{kept_dims(space), out}},
        [&](const KernelContext& ctx, Arrays& in, Arrays& result) {
          call(ctx, in[0], space.axes, &result[0]);
        },
        roundings);
  }
}

template <typename Name, typename T>
void expect_same(DataType out, double roundings = 1) {
  expect_same_reductions<T>(
      out,
      [](const KernelContext& ctx, const DenseTensor& x, const std::vector<int64_t>& axes,
         DenseTensor* result) { registered<Name, T>(ctx, x, axes, result); },
      roundings);
}

TEST(GpuReduce, Sums) {
  for_each_type(AllTypes(), []<typename T>() {
    expect_same<kernels::sum, T>(std::is_integral_v<T> ? DataType::INT64 : dtype_of<T>());
  });
  for_each_type(Complexes(), []<typename T>() { expect_same<kernels::sum, T>(dtype_of<T>()); });
}

TEST(GpuReduce, SumsOfCasts) {
  for (const DataType to :
       {DataType::FLOAT64, DataType::FLOAT32, DataType::BFLOAT16, DataType::FLOAT16,
        DataType::INT32, DataType::INT16, DataType::INT8, DataType::UINT8, DataType::BOOL}) {
    expect_same<kernels::sum, float>(to);
    expect_same<kernels::sum, bfloat16>(to);
    expect_same<kernels::sum, float16>(to);
    expect_same<kernels::sum, int32_t>(to);
    expect_same<kernels::sum, bool>(to);
  }
}

TEST(GpuReduce, Means) {
  for_each_type(SignedNumbers(), []<typename T>() {
    for (const Space& space : kSpaces) {
      if (std::is_integral_v<T> && space.dims.numel() == 0) continue;  // refused before
      const DenseTensor x = drawn(dtype_of<T>(), space.dims, 3, -30, 30);
      expect_same_on_gpu({x}, {{kept_dims(space), dtype_of<T>()}},
                         [&](const KernelContext& ctx, Arrays& in, Arrays& result) {
                           registered<kernels::mean, T>(ctx, in[0], space.axes, &result[0]);
                         });
    }
  });
  for_each_type(Complexes(), []<typename T>() { expect_same<kernels::mean, T>(dtype_of<T>()); });
}

TEST(GpuReduce, MeansOfShards) {
  FakeView view;
  view.inputs = {part({40, 6}, 0, 10, 20)};
  const Space space{{10, 6}, {0}};
  for (const DataType dtype : {DataType::FLOAT32, DataType::INT64}) {
    const auto call = [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
      if (dtype == DataType::INT64) {
        registered<kernels::mean, int64_t>(ctx, in[0], space.axes, &out[0]);
      } else {
        registered<kernels::mean, float>(ctx, in[0], space.axes, &out[0]);
      }
    };
    expect_same_on_gpu({drawn(dtype, space.dims, 1, -90, 90)}, {{{6}, dtype}}, call, 1, &view);
  }
}

TEST(GpuReduce, ByReducer) {
  for_each_type(AllTypes(), []<typename T>() {
    expect_same<kernels::max, T>(dtype_of<T>());
    expect_same<kernels::min, T>(dtype_of<T>());
  });
  for_each_type(join_t<AllTypes, Complexes>(), []<typename T>() {
    expect_same<kernels::all, T>(DataType::BOOL);
    expect_same<kernels::any, T>(DataType::BOOL);
    const auto prod = [](const KernelContext& ctx, const DenseTensor& x,
                         const std::vector<int64_t>& axes, DenseTensor* out) {
      registered<kernels::prod, T>(ctx, x, axes, false, out);
    };
    // What is infinite on the way depends on the order, of complex numbers whether it stays so,
    // too.
    expect_same_reductions<T>(dtype_of<T>(), prod, 1, kIsComplex<T> ? 1.2 : 3);
  });
}

TEST(GpuReduce, NanAndInfinities) {
  const DenseTensor x = rare_tensor<float>({9, 70});
  for (const std::vector<int64_t>& axes :
       {std::vector<int64_t>{}, std::vector<int64_t>{0}, std::vector<int64_t>{1}}) {
    const TensorMeta meta{kept_dims({x.dims(), axes}), DataType::FLOAT32};
    expect_same_on_gpu({x}, {meta, meta, {meta.dims, DataType::BOOL}},
                       [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::max, float>(ctx, in[0], axes, &out[0]);
                         registered<kernels::min, float>(ctx, in[0], axes, &out[1]);
                         registered<kernels::all, float>(ctx, in[0], axes, &out[2]);
                       });
  }
}

TEST(GpuReduce, ToTheDimsOfAnother) {
  const auto check = []<typename T>() {
    constexpr bool kWidens = std::is_integral_v<T> && (sizeof(T) > 2 || std::is_same_v<T, bool>);
    const DataType out = kWidens ? DataType::INT64 : dtype_of<T>();
    for (const Dims& dims : {Dims{4, 1, 40}, Dims{40}, Dims{}, Dims{4, 9, 40}, Dims{1, 9, 1}}) {
      expect_same_on_gpu({drawn(dtype_of<T>(), {4, 9, 40}, 2)}, {{dims, out}},
                         [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                           registered<kernels::reduce_as, T>(ctx, in[0], &out[0]);
                         });
    }
  };
  for_each_type(EveryType(), check);
}

TEST(GpuReduce, SumOfSquares) {
  for_each_type(Floats(), []<typename T>() {
    const DataType out = std::is_same_v<T, double> ? DataType::FLOAT64 : DataType::FLOAT32;
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}, Dims{257}, Dims{30, 1000}, Dims{20000}}) {
      expect_same_on_gpu({drawn(dtype_of<T>(), dims, 2)}, {{{}, out}},
                         [](const KernelContext& ctx, Arrays& in, Arrays& result) {
                           registered<kernels::squared_l2_norm, T>(ctx, in[0], &result[0]);
                         });
    }
  });
}

}  // namespace
}  // namespace phi::testing
