// Orders along an axis, choices between arrays, gates and rotations on GPUs, beside the CPU's.
#include "phi/generated/kernels/activation.h"
#include "phi/generated/kernels/attention.h"
#include "phi/generated/kernels/closeness.h"
#include "phi/generated/kernels/complex.h"
#include "phi/generated/kernels/elementwise.h"
#include "phi/generated/kernels/sort.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

/// Few values, so that many are equal; floats have NaN, infinities and both zeros among them.
template <typename T>
DenseTensor with_ties(const Dims& dims) {
  DenseTensor x = drawn(dtype_of<T>(), dims, 5, -3, 3);
  if constexpr (!std::is_integral_v<T>) {
    const float rare[] = {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(), -0.0f, 0.0f,
                          -std::numeric_limits<float>::infinity()};
    for (int64_t i = 0; i < x.numel(); i += 3) {
      x.mutable_data<T>()[i] = T(rare[static_cast<size_t>(i / 3) % std::size(rare)]);
    }
  }
  return x;
}

TEST(GpuOrder, LinesAreOrdered) {
  for_each_type(Numbers(), []<typename T>() {
    SCOPED_TRACE(name_of(dtype_of<T>()));
    const auto with = [](Dims dims) {
      return std::vector<TensorMeta>{{dims, dtype_of<T>()}, {dims, DataType::INT64}};
    };
    for (const bool descending : {false, true}) {
      for (const Dims& dims : {Dims{3, 700}, Dims{5, 9}, Dims{1}, Dims{}}) {
        expect_same_on_gpu({with_ties<T>(dims)}, with(dims),
                           [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                             registered<kernels::argsort, T>(ctx, in[0], -1, descending, &out[0],
                                                             &out[1]);
                           });
      }
      expect_same_on_gpu({with_ties<T>({4, 31, 3})}, with({4, 5, 3}),
                         [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
                           registered<kernels::topk, T>(ctx, in[0], Scalar(5), 1, descending, true,
                                                        &out[0], &out[1]);
                         });
    }
    expect_same_on_gpu({with_ties<T>({4, 31, 3})}, with({4, 1, 3}),
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::kthvalue, T>(ctx, in[0], 7, 1, &out[0], &out[1]);
                       });
    expect_same_on_gpu({with_ties<T>({4, 31, 3})}, with({4, 1, 3}),
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::mode, T>(ctx, in[0], 1, &out[0], &out[1]);
                       });
  });
}

TEST(GpuOrder, GradientsGoBack) {
  for_each_type(Floats(), []<typename T>() {
    Values places(24);
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i * 5 % 7);
    expect_same_on_gpu({tensor<int64_t>(places, {2, 4, 3}), drawn(dtype_of<T>(), {2, 4, 3}, 1)},
                       {{{2, 7, 3}, dtype_of<T>()}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::put_back, T>(ctx, in[0], in[1], 1, &out[0]);
                       });
  });
}

TEST(GpuSelect, Choices) {
  for_each_type(EveryType(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    expect_same_on_gpu(
        {drawn(DataType::BOOL, {4, 1, 7}, 1, 0, 2), drawn(t, {5, 7}, 2), drawn(t, {4, 5, 1}, 3)},
        {{{4, 5, 7}, t}}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::where, T>(ctx, in[0], in[1], in[2], &out[0]);
        });
  });
}

// Whole packs, and some elements more.
constexpr int64_t kSizes[] = {96, 67};

TEST(GpuSelect, ChoicesOfEqualDims) {
  for_each_type(EveryType(), []<typename T>() {
    for (const int64_t n : kSizes) {
      const DataType t = dtype_of<T>();
      SCOPED_TRACE(std::to_string(n) + " of " + std::string(name_of(t)));
      const Arrays in = {drawn(DataType::BOOL, {n}, 1, 0, 2), drawn(t, {n}, 2), drawn(t, {n}, 3)};
      const auto choose = [](const KernelContext& ctx, Arrays& own, Arrays& out) {
        registered<kernels::where, T>(ctx, own[0], own[1], own[2], &out[0]);
        registered<kernels::where, T>(ctx, moved_by_one(own[0]), own[1], own[2], &out[1]);
      };
      expect_same_on_gpu(in, {{{n}, t}, {{n}, t}}, choose);
    }
  });
}

TEST(GpuSelect, Sums) {
  for_each_type(EveryType(), []<typename T>() {
    const DataType t = dtype_of<T>();
    for (const int64_t n : kSizes) {
      Arrays terms;
      for (uint32_t k = 0; k < 70; ++k) terms.push_back(drawn(t, {n}, k));
      for (const size_t count : {1u, 2u, 32u, 70u}) {
        SCOPED_TRACE(std::to_string(count) + " arrays of " + std::string(name_of(t)));
        const auto add = [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
          std::vector<const DenseTensor*> list;
          for (size_t k = 0; k < count; ++k) list.push_back(&in[k]);
          registered<kernels::add_n, T>(ctx, list, &out[0]);
          const DenseTensor apart = moved_by_one(in[0]);
          list[0] = &apart;
          registered<kernels::add_n, T>(ctx, list, &out[1]);
        };
        expect_same_on_gpu(terms, {{{n}, t}, {{n}, t}}, add);
      }
    }
  });
}

TEST(GpuSelect, Gates) {
  for_each_type(Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    const TensorMeta meta{{5, 33}, t};
    const DenseTensor x = drawn(t, meta.dims, 1);
    const DenseTensor y = drawn(t, meta.dims, 2);
    const DenseTensor g = drawn(t, meta.dims, 3);
    expect_same_on_gpu(
        {x, y, g}, {meta, meta, meta, meta}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::swiglu, T>(ctx, in[0], &in[1], &out[0]);
          registered<kernels::swiglu_grad, T>(ctx, in[0], &in[1], in[2], &out[1], &out[2]);
          registered<kernels::lerp, T>(ctx, in[0], in[1], in[2], &out[3]);
        });
    const DenseTensor both = drawn(t, {5, 66}, 4);
    expect_same_on_gpu(
        {both, g}, {meta, both.meta()}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
          registered<kernels::swiglu, T>(ctx, in[0], nullptr, &out[0]);
          registered<kernels::swiglu_grad, T>(ctx, in[0], nullptr, in[1], &out[1], nullptr);
        });
  });
}

TEST(GpuSelect, Maxout) {
  for_each_type(Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    const DenseTensor x = with_ties<T>({3, 12, 5});
    const TensorMeta meta{{3, 4, 5}, t};
    expect_same_on_gpu({x, drawn(t, meta.dims, 2)}, {meta, x.meta()},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::maxout, T>(ctx, in[0], 3, 1, &out[0]);
                         registered<kernels::maxout_grad, T>(ctx, in[0], out[0], in[1], 3, 1,
                                                             &out[1]);
                       });
    expect_same_on_gpu({drawn(t, {6, 9}, 1), drawn(t, {9}, 2)}, {{{6, 9}, t}, {{6, 9}, t}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::label_smooth, T>(ctx, in[0], &in[1], 0.1f, &out[0]);
                         registered<kernels::label_smooth, T>(ctx, in[0], nullptr, 0.1f, &out[1]);
                       });
  });
}

TEST(GpuSelect, LearnedSlopes) {
  for_each_type(Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    const DenseTensor x = drawn(t, {3, 4, 5, 2}, 1);
    const DenseTensor g = drawn(t, {3, 4, 5, 2}, 2);
    for (const auto& [mode, format, weights] :
         {std::tuple<std::string, std::string, Dims>{"all", "NCHW", {1}},
          {"channel", "NCHW", {4}},
          {"channel", "NHWC", {2}},
          {"element", "NCHW", {1, 4, 5, 2}}}) {
      const DenseTensor alpha = drawn(t, weights, 3);
      expect_same_on_gpu(
          {x, alpha, g}, {x.meta(), x.meta(), alpha.meta()},
          [mode = mode, format = format](const KernelContext& ctx, Arrays& in, Arrays& out) {
            registered<kernels::prelu, T>(ctx, in[0], in[1], format, mode, &out[0]);
            registered<kernels::prelu_grad, T>(ctx, in[0], in[1], in[2], format, mode, &out[1],
                                               &out[2]);
          });
    }
  });
}

TEST(GpuSelect, Closeness) {
  for_each_type(AllTypes(), []<typename T>() {
    for (const int64_t n : {0, 1, 700}) {
      const DenseTensor x = drawn(dtype_of<T>(), {n}, 1);
      DenseTensor y = x.clone();
      if (n > 1) y.mutable_data<T>()[n - 1] = T(1.0f) + T(6.0f);
      const TensorMeta one{{}, DataType::BOOL};
      expect_same_on_gpu({x, y}, {{{n}, DataType::BOOL}, one, one, one},
                         [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                           registered<kernels::isclose, T>(ctx, in[0], in[1], Scalar(1e-5),
                                                           Scalar(1e-8), false, &out[0]);
                           registered<kernels::allclose, T>(ctx, in[0], in[1], Scalar(1e-5),
                                                            Scalar(1e-8), false, &out[1]);
                           registered<kernels::equal_all, T>(ctx, in[0], in[1], &out[2]);
                           registered<kernels::equal_all, T>(ctx, in[0], in[0], &out[3]);
                         });
    }
  });
}

TEST(GpuComplex, PartsAndConjugates) {
  for_each_type(Complexes(), []<typename T>() {
    using Part = typename T::value_type;
    const DenseTensor x = drawn(dtype_of<T>(), {7, 11}, 1);
    const TensorMeta part{{7, 11}, dtype_of<Part>()};
    expect_same_on_gpu({x}, {part, part, x.meta(), x.meta()},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::real, T>(ctx, in[0], &out[0]);
                         registered<kernels::imag, T>(ctx, in[0], &out[1]);
                         registered<kernels::conj, T>(ctx, in[0], &out[2]);
                         registered<kernels::complex, Part>(ctx, out[0], out[1], &out[3]);
                       });
  });
}

TEST(GpuRope, PairsAreRotatedAndBack) {
  for_each_type(Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    for (const bool adjacent : {false, true}) {
      for (const bool time_major : {false, true}) {
        for (const int kind :
             {0, 1, 2, 3}) {  // angles; those of ids; tables with ids of each dtype
          const Dims dims = time_major ? Dims{9, 2, 3, 8} : Dims{2, 9, 3, 8};
          const Dims few = time_major ? Dims{9, 2, 1, 8} : Dims{2, 9, 1, 8};
          Values ids(18);
          for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<double>(i * 7 % 12);
          const Arrays in = {drawn(t, dims, 1), drawn(t, few, 2),
                             kind >= 2 ? drawn(t, {12, 8}, 3) : DenseTensor(),
                             kind >= 2 ? drawn(t, {12, 8}, 4) : DenseTensor(),
                             kind == 0   ? DenseTensor()
                             : kind == 3 ? tensor<int32_t>(ids, {2, 9})
                                         : tensor<int64_t>(ids, {2, 9})};
          const auto given = [](DenseTensor& x) { return x.defined() ? &x : nullptr; };
          expect_same_on_gpu(
              in, {in[0].meta(), in[1].meta(), in[0].meta(), in[1].meta()},
              [=](const KernelContext& ctx, Arrays& x, Arrays& out) {
                registered<kernels::fused_rotary_position_embedding, T>(
                    ctx, x[0], &x[1], nullptr, given(x[2]), given(x[3]), given(x[4]), adjacent,
                    time_major, 10000.0f, &out[0], &out[1], nullptr);
                registered<kernels::fused_rotary_position_embedding_grad, T>(
                    ctx, x[0], &x[1], nullptr, given(x[2]), given(x[3]), given(x[4]), adjacent,
                    time_major, 10000.0f, &out[2], &out[3], nullptr);
              },
              4);
        }
      }
    }
  });
}

}  // namespace
}  // namespace phi::testing
