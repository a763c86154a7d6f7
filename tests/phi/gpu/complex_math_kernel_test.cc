// Functions of complex numbers on GPUs, beside the CPU's, and both beside the standard library's.
#include <complex>

#include "phi/generated/kernels/complex.h"
#include "phi/generated/kernels/unary.h"
#include "phi/generated/kernels/unary_math.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

/// Numbers of all quadrants, and on the axes, at their branch points, large, small and not finite.
template <typename C>
DenseTensor many_numbers() {
  using Part = typename C::value_type;
  const auto parts = random_values(4, 3, -4, 4);
  std::vector<Part> each = {0, -Part(0), 1, -1, Part(0.5), Part(-2), INFINITY, -INFINITY, NAN};
  each.insert(each.end(), {Part(80), Part(-1e-5), Part(0x1p63), Part(-0x1p-63), Part(1.25e3)});
  for (const double part : parts) each.push_back(static_cast<Part>(part));
  const auto n = static_cast<int64_t>(each.size());
  DenseTensor x = DenseTensor::empty({{n, n}, dtype_of<C>()}, CPUPlace());
  C* to = x.mutable_data<C>();
  for (const Part re : each) {
    for (const Part im : each) *to++ = C(re, im);
  }
  return x;
}

template <typename Kernel, typename C>
void expect_same(DataType out) {
  const DenseTensor x = many_numbers<C>();
  SCOPED_TRACE(Kernel::kName);
  expect_same_on_gpu({x}, {{x.dims(), out}}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<Kernel, C>(ctx, in[0], &out[0]);
  });
}

template <typename Kernel, typename C>
void expect_same_gradient() {
  const DenseTensor x = drawn(dtype_of<C>(), {7, 9}, 1, -2.5, 2.5);
  SCOPED_TRACE(Kernel::kName);
  expect_same_on_gpu({x, drawn(dtype_of<C>(), {7, 9}, 2)}, {x.meta()},
                     [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                       registered<Kernel, C>(ctx, in[0], in[1], &out[0]);
                     });
}

template <typename C, typename... Kernels>
void expect_all_same(DataType out) {
  (expect_same<Kernels, C>(out), ...);
}

template <typename C, typename... Kernels>
void expect_same_gradients() {
  (expect_same_gradient<Kernels, C>(), ...);
}

TEST(GpuComplex, FunctionsAreTheCpus) {
  for_each_type(Complexes(), []<typename C>() {
    using namespace kernels;  // NOLINT: a list of operators
    const DataType t = dtype_of<C>();
    expect_all_same<C, acos, acosh, asin, asinh, atan, atanh, cos, cosh, exp, expm1, log, log10,
                    log1p, log2, reciprocal, rsqrt, sigmoid, silu, sin, sinh, sqrt, square, tan,
                    tanh>(t);
    expect_all_same<C, kernels::abs, angle>(real_part_of(t));
    expect_all_same<C, isfinite, isinf, isnan, logical_not>(DataType::BOOL);
  });
}

TEST(GpuComplex, GradientsAreTheCpus) {
  for_each_type(Complexes(), []<typename C>() {
    using namespace kernels;  // NOLINT: a list of operators
    expect_same_gradients<C, acos_grad, acosh_grad, asin_grad, asinh_grad, cosh_grad, expm1_grad,
                          silu_grad, sinh_grad, tan_grad>();
    const DataType part = real_part_of(dtype_of<C>());
    DenseTensor x = drawn(dtype_of<C>(), {5, 6}, 1);
    x.mutable_data<C>()[3] = C(0);
    expect_same_on_gpu({x, drawn(part, {5, 6}, 2)}, {x.meta()},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::abs_grad, C>(ctx, in[0], in[1], &out[0]);
                       });
  });
}

}  // namespace
}  // namespace phi::testing
