// Kernels that make, copy and move elements on GPUs, beside the CPU's.
#include "phi/generated/kernels/channels.h"
#include "phi/generated/kernels/concat.h"
#include "phi/generated/kernels/creation.h"
#include "phi/generated/kernels/data_movement.h"
#include "phi/generated/kernels/diagonal.h"
#include "phi/generated/kernels/filling.h"
#include "phi/generated/kernels/shape.h"
#include "phi/generated/kernels/views.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

/// One dtype of each width.
using Widths = TypeList<bool, bfloat16, float, int64_t, complex128>;

/// Moves of one array of `from` to one of `to`, of each width.
template <typename Name, typename Types = Widths, typename... Args>
void expect_moves(const Dims& from, const Dims& to, const Args&... args) {
  for_each_type(Types(), [&]<typename T>() {
    SCOPED_TRACE(std::string(Name::kName) + " " + std::string(name_of(dtype_of<T>())) +
                 from.to_string());
    expect_same_on_gpu({drawn(dtype_of<T>(), from, 1)}, {{to, dtype_of<T>()}},
                       [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<Name, T>(ctx, in[0], args..., &out[0]);
                       });
  });
}

/// The gradients, of each dtype that has one.
template <typename Name, typename... Args>
void expect_gradient(const Dims& from, const Dims& to, const Args&... args) {
  expect_moves<Name, TypeList<float16, float, double, complex64>>(from, to, args...);
}

using Ints = std::vector<int>;
using Longs = std::vector<int64_t>;

TEST(GpuMoves, Transposes) {
  expect_moves<kernels::transpose>({3, 5, 7}, {7, 3, 5}, Ints{2, 0, 1});
  expect_moves<kernels::transpose>({40, 33}, {33, 40}, Ints{1, 0});
  expect_moves<kernels::transpose>({2, 3, 4, 16}, {2, 4, 3, 16}, Ints{0, 2, 1, 3});
  expect_moves<kernels::transpose>({0, 3}, {3, 0}, Ints{1, 0});
  expect_moves<kernels::transpose>({}, {}, Ints{});
}

TEST(GpuMoves, ExpandsAndTiles) {
  expect_moves<kernels::expand>({1, 3, 1}, {4, 2, 3, 5});
  expect_moves<kernels::expand>({}, {1000});
  expect_moves<kernels::expand>({1, 0}, {3, 0});
  expect_moves<kernels::tile>({2, 3}, {4, 4, 9});
  expect_moves<kernels::tile>({}, {7});
  expect_moves<kernels::repeat_interleave>({2, 3, 5}, {2, 12, 5}, 4, 1);
}

TEST(GpuMoves, SlicesAndTheirGradients) {
  const Longs axes{0, -1};
  const IntArray starts(Longs{1, 2});
  const IntArray ends(Longs{3, 6});
  expect_moves<kernels::slice>({4, 3, 9}, {2, 3, 4}, axes, starts, ends);
  expect_gradient<kernels::slice_grad>({2, 3, 4}, {4, 3, 9}, axes, starts, ends);
  expect_moves<kernels::strided_slice>({7, 9}, {3, 4}, Ints{0, 1}, IntArray(Longs{6, 1}),
                                       IntArray(Longs{0, 8}), IntArray(Longs{-2, 2}));
  expect_gradient<kernels::strided_slice_grad>({3, 4}, {7, 9}, Ints{0, 1}, IntArray(Longs{6, 1}),
                                               IntArray(Longs{0, 8}), IntArray(Longs{-2, 2}));
  expect_moves<kernels::crop>({5, 6}, {2, 3}, IntArray(Longs{3, 1}));
}

TEST(GpuMoves, SlicesAreReplaced) {
  for_each_type(Widths(), []<typename T>() {
    const DenseTensor x = drawn(dtype_of<T>(), {5, 8}, 1);
    expect_same_on_gpu({x, drawn(dtype_of<T>(), {5, 3}, 2)}, {x.meta()},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::slice_scatter, T>(ctx, in[0], in[1], Longs{1},
                                                               IntArray(Longs{4}),
                                                               IntArray(Longs{7}), &out[0]);
                       });
  });
}

TEST(GpuMoves, TurnsAndShifts) {
  expect_moves<kernels::flip>({3, 4, 5}, {3, 4, 5}, Ints{0, 2});
  expect_moves<kernels::reverse>({301}, {301}, IntArray(Longs{0}));
  expect_moves<kernels::roll>({5, 6}, {5, 6}, IntArray(Longs{2, -1}), Longs{0, 1});
  expect_moves<kernels::roll>({1037}, {1037}, IntArray(Longs{36}), Longs{});
}

TEST(GpuMoves, PadsInAllModes) {
  expect_moves<kernels::pad>({2, 3}, {5, 4}, Ints{1, 2, 0, 1}, Scalar(3));
  const IntArray paddings(Longs{2, 1, 1, 0, 0, 1});
  for (const std::string mode : {"constant", "reflect", "replicate", "circular"}) {
    expect_moves<kernels::pad3d>({2, 2, 3, 4, 5}, {2, 2, 4, 5, 8}, paddings, mode, 1.0,
                                 std::string("NCDHW"));
    expect_gradient<kernels::pad3d_grad>({2, 2, 4, 5, 8}, {2, 2, 3, 4, 5}, paddings, mode,
                                         std::string("NCDHW"));
  }
}

TEST(GpuMoves, TablesOfRunsAreCutWhereTheyAreLong) {
  // A circle of one element that is read 160 times has as many runs.
  const IntArray paddings(Longs{80, 79, 0, 0, 0, 0});
  expect_moves<kernels::pad3d>({1, 1, 1, 2, 1}, {1, 1, 1, 2, 160}, paddings,
                               std::string("circular"), 0.0, std::string("NCDHW"));
  expect_moves<kernels::pad3d>({1, 1, 1, 2, 2}, {1, 1, 1, 2, 161}, paddings,
                               std::string("circular"), 0.0, std::string("NCDHW"));
  expect_gradient<kernels::pad3d_grad>({1, 1, 1, 2, 161}, {1, 1, 1, 2, 2}, paddings,
                                       std::string("circular"), std::string("NCDHW"));
}

TEST(GpuMoves, Windows) {
  expect_moves<kernels::tensor_unfold>({4, 11}, {4, 4, 5}, int64_t{1}, int64_t{2});
  expect_gradient<kernels::tensor_unfold_grad>({4, 4, 5}, {4, 11}, int64_t{1}, int64_t{2});
  expect_moves<kernels::as_strided>({40}, {4, 5}, Longs{3, 2}, int64_t{1});
  expect_gradient<kernels::as_strided_grad>({4, 5}, {40}, Longs{3, 2}, int64_t{1});
  expect_moves<kernels::view_slice>({6, 4}, {2, 4}, int64_t{3});
}

TEST(GpuMoves, Channels) {
  const std::string nchw = "NCHW";
  const std::string nhwc = "NHWC";
  expect_moves<kernels::channel_shuffle>({2, 6, 3, 2}, {2, 6, 3, 2}, 3, nchw);
  expect_moves<kernels::pixel_shuffle>({2, 8, 3, 2}, {2, 2, 6, 4}, 2, nchw);
  expect_moves<kernels::pixel_shuffle>({2, 3, 2, 8}, {2, 6, 4, 2}, 2, nhwc);
  expect_moves<kernels::pixel_unshuffle>({2, 2, 6, 4}, {2, 8, 3, 2}, 2, nchw);
  using Real = TypeList<float16, double>;
  expect_moves<kernels::temporal_shift, Real>({6, 8, 2, 2}, {6, 8, 2, 2}, 3, 0.25f, nchw);
  expect_moves<kernels::temporal_shift_grad, Real>({6, 2, 2, 8}, {6, 2, 2, 8}, 3, 0.25f, nhwc);
}

TEST(GpuMoves, DiagonalsAndTriangles) {
  for (const int offset : {-2, 0, 1}) {
    expect_moves<kernels::tril>({3, 5, 7}, {3, 5, 7}, offset);
    expect_moves<kernels::triu>({3, 5, 7}, {3, 5, 7}, offset);
  }
  expect_moves<kernels::diag>({4}, {5, 5}, 1, 2.0f);
  expect_moves<kernels::diag>({4, 5}, {4}, 1, 0.0f);
  expect_gradient<kernels::diag_grad>({4}, {4, 5}, 1);
  expect_moves<kernels::diagonal>({3, 4, 5}, {4, 3}, -1, 2, 0);
  expect_gradient<kernels::diagonal_grad>({4, 3}, {3, 4, 5}, -1, 2, 0);
  expect_moves<kernels::diag_embed>({2, 3}, {2, 4, 4}, 1, -2, -1);
  for_each_type(Widths(), []<typename T>() {
    const DenseTensor x = drawn(dtype_of<T>(), {4, 6}, 1);
    expect_same_on_gpu({x, drawn(dtype_of<T>(), {4}, 2)}, {x.meta()},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::fill_diagonal_tensor, T>(ctx, in[0], in[1], 1, 0, 1,
                                                                      &out[0]);
                       });
  });
}

TEST(GpuMoves, ListsAreJoinedAndTakenApart) {
  for_each_type(Widths(), []<typename T>() {
    const DataType dtype = dtype_of<T>();
    const DenseTensor a = drawn(dtype, {3, 2, 5}, 1);
    const DenseTensor b = drawn(dtype, {3, 4, 5}, 2);
    expect_same_on_gpu({a, b}, {{{3, 6, 5}, dtype}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         const std::array<const DenseTensor*, 2> parts = {&in[0], &in[1]};
                         registered<kernels::concat, T>(ctx, parts, Scalar(1), &out[0]);
                       });
    expect_same_on_gpu({drawn(dtype, {3, 6, 5}, 3)}, {a.meta(), b.meta()},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         const std::array<DenseTensor*, 2> parts = {&out[0], &out[1]};
                         registered<kernels::split, T>(ctx, in[0], Scalar(1), parts);
                       });
    expect_same_on_gpu({a, a}, {{{3, 2, 2, 5}, dtype}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         const std::array<const DenseTensor*, 2> parts = {&in[0], &in[1]};
                         registered<kernels::stack, T>(ctx, parts, 1, &out[0]);
                       });
    expect_same_on_gpu({a}, {{{3, 5}, dtype}, {{3, 5}, dtype}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         const std::array<DenseTensor*, 2> parts = {&out[0], &out[1]};
                         registered<kernels::unbind, T>(ctx, in[0], 1, parts);
                       });
  });
}

TEST(GpuMoves, ListsAreChosenFromAndAddedUp) {
  for_each_type(Numbers(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    const Arrays in = {drawn(t, {4, 9}, 1), drawn(t, {4, 9}, 2), drawn(t, {4, 9}, 3),
                       tensor<int32_t>({2, 0, 1, 2}, {4, 1})};
    expect_same_on_gpu(in, {in[0].meta(), {{4, 3}, t}, {{4, 9}, t}},
                       [](const KernelContext& ctx, Arrays& x, Arrays& out) {
                         const std::array<const DenseTensor*, 3> list = {&x[0], &x[1], &x[2]};
                         registered<kernels::multiplex, T>(ctx, list, x[3], &out[0]);
                         registered<kernels::partial_sum, T>(ctx, list, -5, &out[1]);
                         registered<kernels::partial_concat, T>(ctx, list, 2, &out[2]);
                       });
  });
}

TEST(GpuCreation, FullAndArange) {
  for_each_type(EveryType(), []<typename T>() {
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{1025}}) {
      expect_same_on_gpu({}, {{dims, dtype_of<T>()}},
                         [](const KernelContext& ctx, Arrays&, Arrays& out) {
                           registered<kernels::full, T>(ctx, Scalar(2.75), &out[0]);
                         });
    }
  });
  for_each_type(Numbers(), []<typename T>() {
    for (const auto& [start, step] :
         {std::pair{Scalar(-3), Scalar(2)}, std::pair{Scalar(0.5), Scalar(0.3)}}) {
      expect_same_on_gpu(
          {}, {{{301}, dtype_of<T>()}},
          [start = start, step = step](const KernelContext& ctx, Arrays&, Arrays& out) {
            registered<kernels::arange, T>(ctx, start, step, &out[0]);
          });
    }
  });
}

TEST(GpuCreation, CastsBetweenAllDtypes) {
  for_each_type(EveryType(), []<typename From>() {
    const DenseTensor x = drawn(dtype_of<From>(), {517}, 3, -100, 100);
    std::vector<TensorMeta> outputs;
    for_each_type(EveryType(), [&]<typename To>() { outputs.push_back({{517}, dtype_of<To>()}); });
    expect_same_on_gpu({x}, outputs, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      for (DenseTensor& each : out) registered<kernels::cast, From>(ctx, in[0], &each);
    });
  });
}

TEST(GpuCreation, ValuesOfAttributesAndPositions) {
  for_each_type(EveryType(), []<typename T>() {
    const DataType t = dtype_of<T>();
    SCOPED_TRACE(name_of(t));
    expect_same_on_gpu({tensor<float>({2.5}, {1})}, {{{3}, t}, {{2, 2}, t}, {{7, 5}, t}, {{33}, t}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::full_int_array, T>(ctx, Longs{3, 0, 1}, &out[0]);
                         registered<kernels::assign_value, T>(
                             ctx, std::vector<Scalar>{Scalar(1), Scalar(2), Scalar(0), Scalar(4)},
                             &out[1]);
                         registered<kernels::eye, T>(ctx, &out[2]);
                         registered<kernels::full_with_tensor, T>(ctx, in[0], &out[3]);
                       });
    expect_same_on_gpu({drawn(t, {4, 0, 3}, 1)},
                       {{{}, DataType::INT64}, {{3}, DataType::INT32}, {{}, DataType::BOOL}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::numel, T>(ctx, in[0], &out[0]);
                         registered<kernels::shape, T>(ctx, in[0], &out[1]);
                         registered<kernels::is_empty, T>(ctx, in[0], &out[2]);
                       });
  });
  for_each_type(Numbers(), []<typename T>() {
    expect_same_on_gpu({}, {{{301}, dtype_of<T>()}, {{17}, dtype_of<T>()}},
                       [](const KernelContext& ctx, Arrays&, Arrays& out) {
                         registered<kernels::linspace, T>(ctx, Scalar(-3), Scalar(40.5), &out[0]);
                         registered<kernels::logspace, T>(ctx, Scalar(0), Scalar(4), Scalar(2),
                                                          &out[1]);
                       });
  });
  for_each_type(AllIntegers(), []<typename T>() {
    const TensorMeta meta{{100}, dtype_of<T>()};
    expect_same_on_gpu({drawn(meta.dtype, meta.dims, 1, 0, 90)}, {meta},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::shard_index, T>(ctx, in[0], 91, 4, 2, 7, &out[0]);
                       });
    expect_same_on_gpu({}, {{{2, 10}, meta.dtype}, {{2, 6}, meta.dtype}},
                       [](const KernelContext& ctx, Arrays&, Arrays& out) {
                         registered<kernels::tril_indices, T>(ctx, 4, 5, 0, &out[0]);
                         registered<kernels::triu_indices, T>(ctx, 3, 5, 2, &out[1]);
                       });
  });
}

TEST(GpuCreation, CopiesKeepWhatTheyAre) {
  expect_moves<kernels::assign, EveryType>({33, 5}, {33, 5});
  expect_moves<kernels::reshape, EveryType>({33, 5}, {165});
}

}  // namespace
}  // namespace phi::testing
