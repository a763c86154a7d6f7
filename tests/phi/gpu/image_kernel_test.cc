// Interpolation, sampling at places, affine maps, and frames of signals on GPUs, beside the CPU's.
#include "phi/generated/kernels/fft.h"
#include "phi/generated/kernels/image.h"
#include "phi/generated/kernels/interpolate.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

struct Interpolation {
  std::string method;
  Dims x, out;
  std::string format = "NCHW";
  std::vector<float> scale = {};
  bool align_corners = false;
  int align_mode = 1;
};

const Interpolation kInterpolations[] = {
    {"nearest", {2, 3, 5, 4}, {2, 3, 10, 3}},
    {"nearest", {2, 5, 4, 3}, {2, 3, 9, 3}, "NHWC", {}, true},
    {"bilinear", {2, 3, 5, 4}, {2, 3, 10, 7}},
    {"bilinear", {2, 3, 5, 4}, {2, 3, 3, 9}, "NCHW", {}, true},
    {"bilinear", {1, 2, 4, 4}, {1, 2, 8, 8}, "NCHW", {2, 2}, false, 0},
    {"bilinear", {1, 2, 4, 4}, {1, 2, 4, 4}},  // nothing changes
    {"bicubic", {2, 3, 5, 4}, {2, 3, 11, 7}},
    {"bicubic", {2, 5, 4, 3}, {2, 3, 6, 3}, "NHWC", {}, true},
    {"linear", {2, 3, 5}, {2, 3, 9}, "NCW"},
    {"linear", {2, 5, 3}, {2, 2, 3}, "NWC", {}, true},
    {"trilinear", {1, 2, 3, 4, 5}, {1, 2, 5, 3, 7}, "NCDHW"},
    {"bilinear", {0, 3, 5, 4}, {0, 3, 10, 7}},
};

TEST(GpuImages, InterpolationsAreTheCpus) {
  for_each_type(Floats(), []<typename T>() {
    for (const Interpolation& p : kInterpolations) {
      SCOPED_TRACE(p.method + " " + p.x.to_string() + " " + p.out.to_string());
      const TensorMeta x{p.x, dtype_of<T>()};
      const TensorMeta out_meta{p.out, dtype_of<T>()};
      expect_same_on_gpu({drawn(x.dtype, p.x, 1), drawn(x.dtype, p.out, 2)}, {out_meta, x},
                         [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                           registered<kernels::interp, T>(
                               ctx, in[0], nullptr, std::vector<const DenseTensor*>(), nullptr,
                               p.format, p.scale, p.method, p.align_corners, p.align_mode, &out[0]);
                           registered<kernels::interp_grad, T>(ctx, nullptr, in[1], p.format,
                                                               p.scale, p.method, p.align_corners,
                                                               p.align_mode, &out[1]);
                         });
    }
  });
}

TEST(GpuImages, IntegersAreSampledByTheNearest) {
  for_each_type(Integers(), []<typename T>() {
    expect_same_on_gpu({drawn(dtype_of<T>(), {1, 2, 3, 4}, 1, -50, 50)},
                       {{{1, 2, 7, 3}, dtype_of<T>()}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::plane_interp, T>(
                             ctx, in[0], nullptr, std::vector<const DenseTensor*>(), nullptr,
                             "NCHW", std::vector<double>(), "nearest", false, 1, &out[0]);
                       });
  });
}

// Tensors say how large the result is.
TEST(GpuImages, SizesThatLieOnTheGpuCount) {
  const DenseTensor x = drawn(DataType::FLOAT32, {1, 2, 3, 4}, 1);
  const Arrays in{x, tensor<int32_t>({6, 5}, {2}), tensor<int64_t>({2}, {1}),
                  tensor<float>({1.5, 2}, {2})};
  for (const int kind : {0, 1, 2}) {
    const auto call = [&](const KernelContext& ctx, Arrays& all, Arrays& out) {
      std::vector<const DenseTensor*> sizes;
      if (kind == 1) sizes = {&all[2], &all[2]};
      registered<kernels::plane_interp, float>(
          ctx, all[0], kind == 0 ? &all[1] : nullptr, sizes, kind == 2 ? &all[3] : nullptr, "NCHW",
          std::vector<double>(), "bilinear", false, 1, &out[0]);
    };
    const std::vector<TensorMeta> unknown{{{0}, DataType::FLOAT32}};
    const Arrays got = left_on_gpu(in, unknown, call);
    const Arrays expected = left_on_cpu(in, unknown, call);
    EXPECT_EQ(got[4].dims(), expected[4].dims());
    expect_close(to_doubles(got[4]), to_doubles(expected[4]), 1e-5);
  }
}

TEST(GpuImages, SizesThatAreNoneAreRefused) {
  const Arrays in{drawn(DataType::FLOAT32, {1, 2, 3, 4}, 1), tensor<int32_t>({6, 0}, {2})};
  const auto call = [](const KernelContext& ctx, Arrays& all, Arrays& out) {
    registered<kernels::plane_interp, float>(ctx, all[0], &all[1],
                                             std::vector<const DenseTensor*>(), nullptr, "NCHW",
                                             std::vector<double>(), "bilinear", false, 1, &out[0]);
  };
  const std::vector<TensorMeta> unknown{{{0}, DataType::FLOAT32}};
  expect_error("a size tensor requests an extent of 0", [&] { left_on_cpu(in, unknown, call); });
  expect_error("a size tensor requests an extent of 0", [&] { left_on_gpu(in, unknown, call); });
}

/// Places of which some are outside, some on the edges, and some NaN.
template <typename T>
DenseTensor places(const Dims& dims) {
  DenseTensor grid = drawn(dtype_of<T>(), dims, 3, -1.5, 1.5);
  for (int64_t i = 0; i < grid.numel(); i += 7)
    grid.mutable_data<T>()[i] = from_double<T>(i % 2 == 0 ? -1 : 1);
  if (grid.numel() > 11) grid.mutable_data<T>()[11] = from_double<T>(NAN);
  return grid;
}

TEST(GpuImages, SamplesAreTheCpus) {
  for_each_type(Floats(), []<typename T>() {
    struct Shape {
      Dims x, grid, out;
    };
    const Shape shapes[] = {{{2, 3, 5, 4}, {2, 4, 6, 2}, {2, 3, 4, 6}},
                            {{1, 2, 3, 4, 2}, {1, 3, 2, 5, 3}, {1, 2, 3, 2, 5}},
                            {{1, 1, 1, 1}, {1, 3, 40, 2}, {1, 1, 3, 40}},  // all name one element
                            {{2, 3, 5, 4}, {2, 0, 6, 2}, {2, 3, 0, 6}},
                            {{0, 3, 5, 4}, {0, 4, 6, 2}, {0, 3, 4, 6}}};
    for (const Shape& s : shapes) {
      for (const char* mode : {"bilinear", "nearest"}) {
        for (const char* padding : {"zeros", "border", "reflection"}) {
          for (const bool align : {false, true}) {
            SCOPED_TRACE(s.x.to_string() + " " + mode + " " + padding);
            const DataType t = dtype_of<T>();
            expect_same_on_gpu(
                {drawn(t, s.x, 1), places<T>(s.grid), drawn(t, s.out, 2)},
                {{s.out, t}, {s.x, t}, {s.grid, t}},
                [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                  registered<kernels::grid_sample, T>(ctx, in[0], in[1], mode, padding, align,
                                                      &out[0]);
                  registered<kernels::grid_sample_grad, T>(ctx, in[0], in[1], in[2], mode, padding,
                                                           align, &out[1], &out[2]);
                },
                4);
          }
        }
      }
    }
  });
}

TEST(GpuImages, AffineMapsAreTheCpus) {
  for_each_type(Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    for (const Dims& grid : {Dims{2, 5, 4, 2}, Dims{1, 1, 3, 2}, Dims{2, 3, 4, 5, 3},
                             Dims{1, 40, 50, 2}, Dims{0, 3, 3, 2}}) {
      for (const bool align : {false, true}) {
        const Dims matrices{grid[0], grid.back(), grid.back() + 1};
        expect_same_on_gpu(
            {drawn(t, matrices, 1, -1, 1), drawn(t, grid, 2, -1, 1)}, {{grid, t}, {matrices, t}},
            [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
              registered<kernels::affine_grid, T>(ctx, in[0], align, &out[0]);
              registered<kernels::affine_grid_grad, T>(ctx, in[1], align, &out[1]);
            },
            4);
      }
    }
  });
}

struct Frames {
  Dims signal, frames;
  int hop, axis;
};

const Frames kFrames[] = {{{3, 11}, {3, 4, 3}, 3, -1},  // a rest belongs to none
                          {{2, 2, 9}, {2, 2, 4, 6}, 1, -1}, {{9}, {3, 4}, 2, -1},
                          {{11, 3}, {3, 4, 3}, 3, 0},       {{9}, {4, 3}, 2, 0},
                          {{8, 2, 2}, {1, 8, 2, 2}, 1, 0},  {{9, 1}, {4, 3, 1}, 2, 0},
                          {{4, 9}, {4, 2, 2}, 5, -1},  // gaps
                          {{0, 9}, {0, 3, 7}, 1, -1}};

template <typename T>
void expect_same_frames(const Frames& f, bool with_gradients) {
  const DataType t = dtype_of<T>();
  // What overlap_add gives is as long as the frames reach.
  const int64_t count = f.axis == 0 ? f.frames[0] : f.frames.back();
  const int64_t length = f.axis == 0 ? f.frames[1] : f.frames[f.frames.ndim() - 2];
  const int at = f.axis == 0 ? 0 : f.signal.ndim() - 1;
  const Dims added = with_extent(f.signal, at, (count - 1) * f.hop + length);
  const std::vector<TensorMeta> outputs{{f.frames, t}, {added, t}, {f.signal, t}, {f.frames, t}};
  expect_same_on_gpu({drawn(t, f.signal, 1), drawn(t, f.frames, 2), drawn(t, added, 3)}, outputs,
                     [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<kernels::frame, T>(ctx, in[0], f.hop, f.axis, &out[0]);
                       registered<kernels::overlap_add, T>(ctx, in[1], f.hop, f.axis, &out[1]);
                       if (!with_gradients) {
                         out[2] = out[3] = DenseTensor();
                         return;
                       }
                       registered<kernels::frame_grad, T>(ctx, in[1], f.hop, f.axis, &out[2]);
                       registered<kernels::overlap_add_grad, T>(ctx, in[2], f.hop, f.axis, &out[3]);
                     });
}

TEST(GpuImages, FramesAreTheCpus) {
  for (const Frames& f : kFrames) {
    SCOPED_TRACE(f.signal.to_string() + " " + f.frames.to_string());
    for_each_type(join_t<Floats, Complexes>(),
                  [&]<typename T>() { expect_same_frames<T>(f, true); });
    for_each_type(SignedIntegers(), [&]<typename T>() { expect_same_frames<T>(f, false); });
  }
}

}  // namespace
}  // namespace phi::testing
