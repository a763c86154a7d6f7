// norm and renorm against plain loops in double, along every axis, in every floating dtype and at
// the ends of float.
#include <functional>
#include <limits>
#include <map>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/norms.h"
#include "phi/infermeta/axes.h"
#include "tests/phi/kernels/gradient_check.h"

namespace phi::testing {
namespace {

/// f(its elements) for each slice of values over the dims in `axes`; puts back what f makes of
/// them.
Values map_slices(const Values& values, const Dims& dims, AxisSet axes,
                  const std::function<void(Values*)>& f) {
  const Dims strides = dims.strides();
  std::map<int64_t, std::vector<size_t>> slices;
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t key = 0;
    for (int d = 0; d < dims.ndim(); ++d) {
      const int64_t at = static_cast<int64_t>(i) / strides[d] % dims[d];
      key = key * dims[d] + (axes.has(d) ? 0 : at);
    }
    slices[key].push_back(i);
  }
  Values result(values.size());
  for (const auto& [key, places] : slices) {
    Values slice;
    for (const size_t i : places) slice.push_back(values[i]);
    f(&slice);
    for (size_t k = 0; k < places.size(); ++k) result[places[k]] = slice[k];
  }
  return result;
}

double norm_of(const Values& slice, double p) {
  double sum = 0;
  for (const double v : slice) {
    if (std::isinf(p)) {
      sum = std::max(sum, std::abs(v));
    } else {
      sum += std::pow(std::abs(v), p);
    }
  }
  return std::isinf(p) ? sum : std::pow(sum, 1 / p);
}

void scale(Values* slice, double factor) {
  for (double& v : *slice) v *= factor;
}

AxisSet one(int axis) {
  AxisSet axes;
  axes.add(axis);
  return axes;
}

AxisSet others(int axis, int ndim) {
  AxisSet axes;
  for (int d = 0; d < ndim; ++d) {
    if (d != axis) axes.add(d);
  }
  return axes;
}

const std::vector<Dims> kDims = {{5}, {1, 1}, {3, 70}, {70, 3}, {2, 3, 5}, {4, 300, 2}, {2, 1, 33}};
constexpr float kEpsilon = 1e-10f;

template <typename T>
DenseTensor normalised(const DenseTensor& x, int axis, float epsilon, DenseTensor* norm) {
  DenseTensor out = blank<T>(x.dims());
  registered<kernels::norm, T>(KernelContext(), x, axis, epsilon, false, &out, norm);
  return out;
}

template <typename T>
void check_norm() {
  for (const Dims& dims : kDims) {
    for (int axis = 0; axis < dims.ndim(); ++axis) {
      const Values x = random_values(dims.numel(), 5, -2, 2);
      const Values expected = map_slices(x, dims, one(axis), [](Values* slice) {
        const double length = norm_of(*slice, 2);
        scale(slice, 1 / std::sqrt(length * length + double{kEpsilon}));
      });
      Dims left = dims;
      left[axis] = 1;
      DenseTensor norm = blank<T>(left);
      const DenseTensor out = normalised<T>(tensor<T>(x, dims), axis, kEpsilon, &norm);
      expect_close(to_doubles(out), expected, tolerance<T>(), "norm along " + std::to_string(axis));
    }
  }
}

TEST(UnitNormKernel, NormIsThatOfPlainLoops) {
  check_norm<float>();
  check_norm<double>();
  check_norm<float16>();
  check_norm<bfloat16>();
}

// Neither the squares nor 1 / length are floats.
TEST(UnitNormKernel, NormHasTheWholeRangeOfFloat) {
  for (const double size : {1e-44, 1e-30, 1e30, 3e38}) {
    for (const Dims& dims : {Dims{1, 4}, Dims{4, 1}}) {
      DenseTensor norm = blank<float>({1, 1});
      const int axis = dims[0] == 1 ? 1 : 0;
      const DenseTensor x = tensor<float>({size, -size, size, size}, dims);
      const Values out = to_doubles(normalised<float>(x, axis, 0, &norm));
      for (const double v : out) EXPECT_NEAR(std::abs(v), 0.5, 1e-6) << size;
      EXPECT_LT(out[1], 0);
    }
  }
}

template <typename T>
void check_renorm(float p) {
  constexpr float kMost = 1.5f;
  for (const Dims& dims : kDims) {
    for (int axis = 0; axis < dims.ndim(); ++axis) {
      const Values x = random_values(dims.numel(), 6, -2, 2);
      const Values expected = map_slices(x, dims, others(axis, dims.ndim()), [p](Values* slice) {
        const double norm = norm_of(*slice, p);
        if (norm > kMost) scale(slice, kMost / norm);
      });
      DenseTensor out = blank<T>(dims);
      registered<kernels::renorm, T>(KernelContext(), tensor<T>(x, dims), p, axis, kMost, &out);
      expect_close(to_doubles(out), expected, tolerance<T>(),
                   "renorm by " + std::to_string(p) + " along " + std::to_string(axis));
    }
  }
}

TEST(UnitNormKernel, RenormIsThatOfPlainLoops) {
  for (const float p : {1.0f, 2.0f, 3.0f, 0.5f, std::numeric_limits<float>::infinity()}) {
    check_renorm<float>(p);
    check_renorm<double>(p);
    check_renorm<float16>(p);
    check_renorm<bfloat16>(p);
  }
}

// 100^30 is no float.
TEST(UnitNormKernel, RenormTakesPowersBeyondFloat) {
  DenseTensor out = blank<float>({1, 2});
  registered<kernels::renorm, float>(KernelContext(), tensor<float>({100, 1}, {1, 2}), 30.0f, 0,
                                     1.0f, &out);
  expect_close(to_doubles(out), {1, 0.01}, 1e-6, "renorm by 30");
}

struct Norm {
  int axis;
  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    Dims left = in[0].dims();
    left[axis] = 1;
    DenseTensor norm = blank<T>(left);
    return normalised<T>(in[0], axis, kEpsilon, &norm);
  }
  template <typename T>
  Tensors gradients(const Tensors& in, const DenseTensor&, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(in[0].dims())};
    registered<kernels::norm_grad, T>(KernelContext(), in[0], out_grad, axis, kEpsilon, &grads[0]);
    return grads;
  }
};

struct Renorm {
  float p;
  int axis;
  static constexpr float kMost = 1.01f;  // no norm that is drawn
  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    DenseTensor out = blank<T>(in[0].dims());
    registered<kernels::renorm, T>(KernelContext(), in[0], p, axis, kMost, &out);
    return out;
  }
  template <typename T>
  Tensors gradients(const Tensors& in, const DenseTensor&, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(in[0].dims())};
    registered<kernels::renorm_grad, T>(KernelContext(), in[0], out_grad, p, axis, kMost,
                                        &grads[0]);
    return grads;
  }
};

TEST(UnitNormKernel, GradientsEqualFiniteDifferences) {
  for (const Dims& dims : {Dims{6}, Dims{3, 7}, Dims{2, 3, 4}}) {
    for (int axis = 0; axis < dims.ndim(); ++axis) {
      check_gradients(Norm{axis}, {{dims, 0.5, 2}}, "norm");
      check_gradients(Renorm{2, axis}, {{dims, 0.5, 2}}, "renorm by 2");
      check_gradients(Renorm{3, axis}, {{dims, 0.5, 2}}, "renorm by 3");
    }
  }
}

// Slices within the limit have the gradient as it is, whatever is in them.
TEST(UnitNormKernel, RenormLeavesGradientsOfShortSlices) {
  const DenseTensor x = tensor<float>({0, 0, 3, 4}, {2, 2});
  DenseTensor dx = blank<float>({2, 2});
  registered<kernels::renorm_grad, float>(KernelContext(), x, tensor<float>({5, 6, 7, 8}, {2, 2}),
                                          2.0f, 0, 5.0f, &dx);
  EXPECT_EQ(to_doubles(dx), (Values{5, 6, 7, 8}));
}

}  // namespace
}  // namespace phi::testing
