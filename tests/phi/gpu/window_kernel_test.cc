// Convolutions, pooling, unpooling, unfold and fold on GPUs, beside the CPU's.
#include "phi/generated/kernels/conv.h"
#include "phi/generated/kernels/image.h"
#include "phi/generated/kernels/pool.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

using Ints = std::vector<int>;

struct Convolution {
  Dims image, filter, result;
  Ints strides, paddings, dilations;
  int groups = 1;
  std::string format = "NCHW";
};

const Convolution kConvolutions[] = {
    {{2, 3, 5, 6}, {4, 3, 3, 3}, {2, 4, 5, 6}, {1, 1}, {1, 1}, {1, 1}},
    {{2, 4, 7, 6}, {6, 2, 3, 2}, {2, 6, 3, 3}, {2, 2}, {0, 0}, {1, 1}, 2},
    {{1, 4, 6, 6}, {4, 1, 3, 3}, {1, 4, 4, 4}, {1, 1}, {1, 1}, {2, 2}, 4},  // depthwise
    {{3, 5, 4, 4}, {2, 5, 1, 1}, {3, 2, 4, 4}, {1, 1}, {0, 0}, {1, 1}},     // the image itself
    {{2, 5, 6, 3}, {4, 3, 3, 3}, {2, 3, 6, 4}, {2, 1}, {1, 1}, {1, 1}, 1, "NHWC"},
    {{2, 5, 6, 4}, {6, 2, 2, 3}, {2, 4, 4, 6}, {1, 1}, {0, 0}, {1, 1}, 2, "NHWC"},
    {{2, 4, 4, 4}, {2, 4, 1, 1}, {2, 4, 4, 2}, {1, 1}, {0, 0}, {1, 1}, 1, "NHWC"},
    {{2, 2, 3, 4, 5},
     {3, 2, 2, 2, 2},
     {2, 3, 2, 3, 4},
     {1, 1, 1},
     {0, 0, 0},
     {1, 1, 1},
     1,
     "NCDHW"},
    {{0, 3, 5, 5}, {4, 3, 3, 3}, {0, 4, 3, 3}, {1, 1}, {0, 0}, {1, 1}},
    {{2, 0, 5, 5}, {4, 0, 3, 3}, {2, 4, 3, 3}, {1, 1}, {0, 0}, {1, 1}},
};

constexpr double kRoundings = 4;  // the CPU's sums go another way

/// Image, filter, and what has the result's form.
template <typename T>
Arrays arrays_of(const Convolution& c) {
  return {drawn(dtype_of<T>(), c.image, 1), drawn(dtype_of<T>(), c.filter, 2),
          drawn(dtype_of<T>(), c.result, 3)};
}
template <typename T>
std::vector<TensorMeta> metas(const std::vector<Dims>& all) {
  std::vector<TensorMeta> metas;
  for (const Dims& dims : all) metas.push_back({dims, dtype_of<T>()});
  return metas;
}

template <typename T>
void expect_same_convolution(const Convolution& c) {
  SCOPED_TRACE(c.image.to_string() + " " + c.filter.to_string() + " " + c.format);
  expect_same_on_gpu(
      arrays_of<T>(c), metas<T>({c.result, c.image, c.filter}),
      [&](const KernelContext& ctx, Arrays& x, Arrays& out) {
        registered<kernels::conv, T>(ctx, x[0], x[1], c.strides, c.paddings, "EXPLICIT",
                                     c.dilations, c.groups, c.format, &out[0]);
        registered<kernels::conv_grad, T>(ctx, x[0], x[1], x[2], c.strides, c.paddings, "EXPLICIT",
                                          c.dilations, c.groups, c.format, &out[1], &out[2]);
      },
      kRoundings);
}

template <typename T>
void expect_same_transposed(const Convolution& c) {
  SCOPED_TRACE(c.image.to_string() + " " + c.filter.to_string() + " " + c.format + " transposed");
  expect_same_on_gpu(
      arrays_of<T>(c), metas<T>({c.image, c.result, c.filter}),
      [&](const KernelContext& ctx, Arrays& x, Arrays& out) {
        registered<kernels::conv_transpose, T>(ctx, x[2], x[1], c.strides, c.paddings, "EXPLICIT",
                                               c.dilations, c.groups, c.format, &out[0]);
        registered<kernels::conv_transpose_grad, T>(ctx, x[2], x[1], x[0], c.strides, c.paddings,
                                                    "EXPLICIT", c.dilations, c.groups, c.format,
                                                    &out[1], &out[2]);
      },
      kRoundings);
}

TEST(GpuWindows, ConvolutionsAreTheCpus) {
  for_each_type(Floats(), []<typename T>() {
    for (const Convolution& c : kConvolutions) {
      expect_same_convolution<T>(c);
      expect_same_transposed<T>(c);
    }
  });
}

// Columns of more images than are made at a time: 64 MiB of them.
TEST(GpuWindows, ManyImagesGoChunkByChunk) {
  expect_same_convolution<float>(
      {{26, 1, 300, 300}, {1, 1, 3, 3}, {26, 1, 300, 300}, {1, 1}, {1, 1}, {1, 1}});
}

TEST(GpuWindows, UnfoldAndFoldAreTheCpus) {
  for_each_type(join_t<Floats, Complexes>(), []<typename T>() {
    const TensorMeta image{{2, 3, 6, 5}, dtype_of<T>()};
    const TensorMeta columns{{2, 18, 9}, dtype_of<T>()};
    expect_same_on_gpu({drawn(image.dtype, image.dims, 1), drawn(image.dtype, columns.dims, 2)},
                       {columns, image}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::unfold, T>(ctx, in[0], Ints{3, 2}, Ints{2, 2},
                                                        Ints{1, 1, 1, 1}, Ints{1, 2}, &out[0]);
                         registered<kernels::fold, T>(ctx, in[1], Ints{6, 5}, Ints{3, 2},
                                                      Ints{2, 2}, Ints{1, 1, 1, 1}, Ints{1, 2},
                                                      &out[1]);
                       });
  });
}

struct Pool {
  Dims image, result;
  Ints kernel, strides, paddings;
  bool ceil = false, exclusive = true, global = false, adaptive = false;
  std::string format = "NCHW";
};

const Pool kPools[] = {
    {{2, 3, 6, 7}, {2, 3, 3, 3}, {2, 2}, {2, 2}, {0, 0}},
    {{2, 3, 6, 7}, {2, 3, 4, 4}, {3, 3}, {2, 2}, {1, 1}, /*ceil=*/true, /*exclusive=*/false},
    {{1, 2, 7, 5}, {1, 2, 7, 5}, {3, 3}, {1, 1}, {1, 1}, true},  // windows overlap
    {{2, 3, 6, 7}, {2, 3, 1, 1}, {9, 9}, {1, 1}, {0, 0}, false, true, /*global=*/true},
    {{2, 3, 7, 5}, {2, 3, 3, 4}, {3, 4}, {1, 1}, {0, 0}, false, true, false, /*adaptive=*/true},
    {{2, 6, 7, 3}, {2, 3, 3, 3}, {2, 2}, {2, 2}, {0, 0}, false, true, false, false, "NHWC"},
    {{0, 3, 6, 6}, {0, 3, 3, 3}, {2, 2}, {2, 2}, {0, 0}},
};

TEST(GpuWindows, PoolingIsTheCpus) {
  for_each_type(Floats(), []<typename T>() {
    for (const Pool& p : kPools) {
      for (const char* kind : {"max", "avg"}) {
        SCOPED_TRACE(p.image.to_string() + " " + kind);
        const TensorMeta image{p.image, dtype_of<T>()};
        const TensorMeta result{p.result, dtype_of<T>()};
        const IntArray sizes(std::vector<int64_t>(p.kernel.begin(), p.kernel.end()));
        // Few values: many windows have several largest ones.
        DenseTensor x = drawn(image.dtype, image.dims, 1, -0.05, 0.05);
        if (x.numel() > 9) x.mutable_data<T>()[9] = from_double<T>(NAN);
        expect_same_on_gpu(
            {x, drawn(image.dtype, result.dims, 2)}, {result, image},
            [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
              registered<kernels::pool2d, T>(ctx, in[0], sizes, p.strides, p.paddings, p.ceil,
                                             p.exclusive, p.format, kind, p.global, p.adaptive,
                                             "EXPLICIT", &out[0]);
              registered<kernels::pool2d_grad, T>(ctx, in[0], in[1], sizes, p.strides, p.paddings,
                                                  p.ceil, p.exclusive, p.format, kind, p.global,
                                                  p.adaptive, "EXPLICIT", &out[1]);
            });
      }
    }
  });
}

TEST(GpuWindows, PoolingOfThreeDimsIsTheCpus) {
  const TensorMeta image{{2, 2, 4, 5, 6}, DataType::FLOAT32};
  const TensorMeta result{{2, 2, 2, 2, 3}, DataType::FLOAT32};
  for (const char* kind : {"max", "avg"}) {
    expect_same_on_gpu(
        {drawn(image.dtype, image.dims, 1), drawn(image.dtype, result.dims, 2)}, {result, image},
        [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
          const Ints twos{2, 2, 2}, zeros{0, 0, 0};
          registered<kernels::pool3d, float>(ctx, in[0], twos, twos, zeros, false, true, "NCDHW",
                                             kind, false, false, "EXPLICIT", &out[0]);
          registered<kernels::pool3d_grad, float>(ctx, in[0], in[1], twos, twos, zeros, false, true,
                                                  "NCDHW", kind, false, false, "EXPLICIT", &out[1]);
        });
  }
}

TEST(GpuWindows, NormsOfWindowsAreTheCpus) {
  for_each_type(Floats(), []<typename T>() {
    for (const Pool& p : kPools) {
      for (const float norm : {1.0f, 2.0f, 3.0f}) {
        SCOPED_TRACE(p.image.to_string() + " " + std::to_string(norm));
        const TensorMeta image{p.image, dtype_of<T>()};
        const TensorMeta result{p.result, dtype_of<T>()};
        const IntArray sizes(std::vector<int64_t>(p.kernel.begin(), p.kernel.end()));
        const auto pool = [&](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
          registered<kernels::lp_pool, T>(ctx, x, sizes, p.strides, p.paddings, p.ceil, p.format,
                                          p.global, p.adaptive, "EXPLICIT", norm, out);
        };
        DenseTensor x = drawn(image.dtype, image.dims, 1, 0, 2);
        for (int64_t i = 0; i < x.numel() / 2; ++i) x.mutable_data<T>()[i] = T(0.0f);
        const Arrays made = left_on_cpu(
            {x}, {result},
            [&](const KernelContext& ctx, Arrays& in, Arrays& out) { pool(ctx, in[0], &out[0]); });
        expect_same_on_gpu(
            {x, made[1], drawn(image.dtype, result.dims, 2)}, {result, image},
            [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
              pool(ctx, in[0], &out[0]);
              registered<kernels::lp_pool_grad, T>(ctx, in[0], in[1], in[2], sizes, p.strides,
                                                   p.paddings, p.ceil, p.format, p.global,
                                                   p.adaptive, "EXPLICIT", norm, &out[1]);
            },
            kRoundings);
      }
    }
  });
}

TEST(GpuWindows, PlacesOfMaximaAreTheCpus) {
  for_each_type(Floats(), []<typename T>() {
    for (const Pool& p : kPools) {
      if (p.format != "NCHW") continue;
      SCOPED_TRACE(p.image.to_string());
      const TensorMeta image{p.image, dtype_of<T>()};
      const TensorMeta result{p.result, dtype_of<T>()};
      const TensorMeta mask{p.result, DataType::INT32};
      // Few values: many windows have several largest ones.
      DenseTensor x = drawn(image.dtype, image.dims, 1, -0.05, 0.05);
      if (x.numel() > 9) x.mutable_data<T>()[9] = from_double<T>(NAN);
      expect_same_on_gpu(
          {x, drawn(image.dtype, result.dims, 2)}, {result, mask, image},
          [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
            registered<kernels::max_pool_with_index, T>(ctx, in[0], p.kernel, p.strides, p.paddings,
                                                        p.global, p.adaptive, p.ceil, &out[0],
                                                        &out[1]);
            registered<kernels::max_pool_with_index_grad, T>(ctx, out[1], in[1], &out[2]);
          });
    }
    const TensorMeta image{{2, 2, 7, 6, 5}, dtype_of<T>()};
    const TensorMeta result{{2, 2, 3, 2, 2}, dtype_of<T>()};
    expect_same_on_gpu({drawn(image.dtype, image.dims, 1), drawn(image.dtype, result.dims, 2)},
                       {result, {result.dims, DataType::INT32}, image},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::fractional_max_pool, T>(
                             ctx, in[0], Ints{3, 2, 2}, Ints{2, 2, 2}, 0.4f, &out[0], &out[1]);
                         registered<kernels::max_pool_with_index_grad, T>(ctx, out[1], in[1],
                                                                          &out[2]);
                       });
  });
}

/// Places of which several are one, and -1 for none.
template <typename Index>
DenseTensor indices(const Dims& dims, int64_t size) {
  Values values(static_cast<size_t>(dims.numel()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(i % 5 == 4 ? -1 : static_cast<int64_t>(i * 7 % 11) % size);
  return tensor<Index>(values, dims);
}

TEST(GpuWindows, UnpoolingIsTheCpus) {
  for_each_type(SignedNumbers(), []<typename T>() {
    const auto call = [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::unpool, T>(ctx, in[0], in[1], &out[0]);
      registered<kernels::unpool_grad, T>(ctx, in[1], in[2], &out[1]);
    };
    struct Shape {
      Dims x, out;
    };
    for (const Shape& s : {Shape{{2, 3, 4, 3}, {2, 3, 5, 4}},
                           {{1, 2, 2, 3, 2}, {1, 2, 4, 3, 5}},
                           {{0, 3, 2, 2}, {0, 3, 4, 4}}}) {
      const TensorMeta x{s.x, dtype_of<T>()};
      const TensorMeta out{s.out, dtype_of<T>()};
      const int64_t size = s.out.numel(2, s.out.ndim());
      expect_same_on_gpu(
          {drawn(x.dtype, s.x, 1), indices<int32_t>(s.x, size), drawn(x.dtype, s.out, 2)}, {out, x},
          call);
      expect_same_on_gpu(
          {drawn(x.dtype, s.x, 1), indices<int64_t>(s.x, size), drawn(x.dtype, s.out, 2)}, {out, x},
          call);
    }
  });
}

TEST(GpuWindows, PlacesOutsideOfTheirImagesAreRefused) {
  const TensorMeta x{{1, 2, 2, 2}, DataType::FLOAT32};
  const TensorMeta out{{1, 2, 3, 3}, DataType::FLOAT32};
  for (const double place : {9.0, -2.0}) {
    const DenseTensor places = tensor<int32_t>({0, 1, 2, 3, 0, place, 2, 3}, x.dims);
    const Arrays in{drawn(x.dtype, x.dims, 1), places, drawn(x.dtype, out.dims, 2)};
    const std::string text =
        " holds " + std::to_string(static_cast<int>(place)) +
        " at flat position 5, but the image that it indexes has 9 elements; it must be in [0, 9).";
    const auto expect_refused = [&](const std::string& name, const std::vector<TensorMeta>& outputs,
                                    const KernelCall& call, const LaunchView* view) {
      expect_error(name + text, [&] { left_on_cpu(in, outputs, call, view); });
      expect_error(name + text, [&] { left_on_gpu(in, outputs, call, view); });
    };
    FakeView view;
    for (const LaunchView* each :
         {static_cast<const LaunchView*>(nullptr), static_cast<const LaunchView*>(&view)}) {
      expect_refused(
          "indices", {out},
          [](const KernelContext& ctx, Arrays& all, Arrays& to) {
            registered<kernels::unpool, float>(ctx, all[0], all[1], &to[0]);
          },
          each);
      expect_refused(
          "indices", {x},
          [](const KernelContext& ctx, Arrays& all, Arrays& to) {
            registered<kernels::unpool_grad, float>(ctx, all[1], all[2], &to[0]);
          },
          each);
    }
    expect_refused(
        "mask", {out},
        [](const KernelContext& ctx, Arrays& all, Arrays& to) {
          registered<kernels::max_pool_with_index_grad, float>(ctx, all[1], all[0], &to[0]);
        },
        nullptr);
  }
}

/// Another rank's flag.
class ElsewhereView : public FakeView {
 public:
  void combine_over(int, int, CombineKind, DenseTensor* flag) const override {
    *flag = flag->place().kind == DeviceKind::CPU ? tensor<int64_t>({1}, {1})
                                                  : uploaded(tensor<int64_t>({1}, {1}));
  }
};

TEST(GpuWindows, PlacesThatAnotherRankRefusesAreRefusedHere) {
  const Dims x{1, 2, 2, 2};
  const Arrays in{drawn(DataType::FLOAT32, x, 1), indices<int32_t>(x, 9)};
  const ElsewhereView view;
  const auto call = [](const KernelContext& ctx, Arrays& all, Arrays& out) {
    registered<kernels::unpool, float>(ctx, all[0], all[1], &out[0]);
  };
  const std::vector<TensorMeta> outputs{{{1, 2, 3, 3}, DataType::FLOAT32}};
  const std::string text = "on another rank";
  expect_error(text, [&] { left_on_cpu(in, outputs, call, &view); });
  expect_error(text, [&] { left_on_gpu(in, outputs, call, &view); });
}

}  // namespace
}  // namespace phi::testing
