// Elementwise kernels whose inputs broadcast, on GPUs, beside the CPU's.
#include "phi/generated/kernels/binary.h"
#include "phi/generated/kernels/elementwise.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

struct Case {
  Dims x;
  Dims y;
  Dims out;
};

// One element, rows and columns in whole packs and not, both stretched, gaps between what is; many.
const std::vector<Case> kCases = {
    {{1}, {1, 1}, {1, 1}},
    {{0, 4}, {4}, {0, 4}},
    {{6, 16}, {16}, {6, 16}},
    {{6, 16}, {6, 1}, {6, 16}},
    {{16}, {6, 1}, {6, 16}},
    {{5, 7}, {7}, {5, 7}},
    {{5, 7}, {5, 1}, {5, 7}},
    {{3, 1, 32}, {4, 1}, {3, 4, 32}},
    {{2, 3, 1, 16}, {3, 5, 1}, {2, 3, 5, 16}},
    {{2, 1, 4, 8}, {3, 1, 1}, {2, 3, 4, 8}},
    {{}, {3, 40}, {3, 40}},
    {{300, 64}, {64}, {300, 64}},
};

template <typename T>
void check(const DenseTensor& x, const DenseTensor& y, const Dims& out) {
  expect_same_on_gpu({x, y}, {{out, dtype_of<T>()}, {out, DataType::BOOL}},
                     [](const KernelContext& ctx, Arrays& in, Arrays& result) {
                       registered<kernels::subtract, T>(ctx, in[0], in[1], &result[0]);
                       registered<kernels::less_than, T>(ctx, in[0], in[1], &result[1]);
                     });
}

TEST(GpuBroadcast, OfTwo) {
  for_each_type(Numbers(), []<typename T>() {
    for (const Case& test : kCases) {
      SCOPED_TRACE(test.x.to_string() + " and " + test.y.to_string() + " of " +
                   std::string(name_of(dtype_of<T>())));
      check<T>(drawn(dtype_of<T>(), test.x, 1), drawn(dtype_of<T>(), test.y, 2), test.out);
    }
  });
}

/// y broadcasts to x's dims, or has them.
template <typename T>
void check_apart(const Dims& y_dims) {
  const DenseTensor x = drawn(dtype_of<T>(), {6, 16}, 1);
  const Arrays in = {x, drawn(dtype_of<T>(), y_dims, 2)};
  for (const bool first : {true, false}) {
    expect_same_on_gpu(in, {x.meta()}, [&](const KernelContext& ctx, Arrays& own, Arrays& out) {
      const DenseTensor a = first ? moved_by_one(own[0]) : own[0];
      const DenseTensor b = first ? own[1] : moved_by_one(own[1]);
      registered<kernels::subtract, T>(ctx, a, b, &out[0]);
    });
  }
  // The array of results.
  expect_same_on_gpu(in, {x.meta()}, [](const KernelContext& ctx, Arrays& own, Arrays& out) {
    DenseTensor apart = moved_by_one(own[0]);
    registered<kernels::subtract, T>(ctx, own[0], own[1], &apart);
    registered<kernels::subtract, T>(ctx, apart, own[1], &out[0]);
  });
}

TEST(GpuBroadcast, OfArraysThatBeginWhereNoPackDoes) {
  for_each_type(join_t<Floats, Complexes>(), []<typename T>() {
    for (const Dims& y : {Dims{16}, Dims{6, 16}}) check_apart<T>(y);
  });
}

TEST(GpuBroadcast, OfThree) {
  for_each_type(Floats(), []<typename T>() {
    for (const Dims& weight : {Dims{}, Dims{16}, Dims{5, 1}, Dims{3, 5, 16}}) {
      SCOPED_TRACE(weight.to_string());
      expect_same_on_gpu({drawn(dtype_of<T>(), {3, 5, 16}, 1), drawn(dtype_of<T>(), {5, 16}, 2),
                          drawn(dtype_of<T>(), weight, 3)},
                         {{{3, 5, 16}, dtype_of<T>()}},
                         [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                           registered<kernels::lerp, T>(ctx, in[0], in[1], in[2], &out[0]);
                         });
    }
  });
}

}  // namespace
}  // namespace phi::testing
