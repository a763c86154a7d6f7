// Gradients of complex matrices, products and transforms, which no recorded call has: for a random
// direction D the derivative of L(x + e D) is the real part of the sum of conj(gradient) D.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/fft.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/cpu/linalg/matrix.h"

namespace phi {
namespace {

using C = complex128;
using Tensors = std::vector<DenseTensor>;
const KernelContext kHere;

template <typename T = C>
DenseTensor blank(const Dims& dims) {
  return DenseTensor::empty({dims, dtype_of<T>()}, CPUPlace());
}

template <typename T = C>
DenseTensor random(const Dims& dims, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  DenseTensor x = blank<T>(dims);
  for (int64_t i = 0; i < x.numel(); ++i) {
    if constexpr (kIsComplex<T>) {
      x.mutable_data<T>()[i] = {normal(generator), normal(generator)};
    } else {
      x.mutable_data<T>()[i] = normal(generator);
    }
  }
  return x;
}

/// Re of the sum of conj(a) b.
template <typename T>
double inner(const DenseTensor& a, const DenseTensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    sum += real_part(conjugate(a.data<T>()[i]) * b.data<T>()[i]);
  }
  return sum;
}
double inner(const DenseTensor& a, const DenseTensor& b) {
  return a.dtype() == DataType::FLOAT64 ? inner<double>(a, b) : inner<C>(a, b);
}

template <typename T>
DenseTensor moved(const DenseTensor& x, const DenseTensor& direction, double step) {
  DenseTensor y = x.clone();
  for (int64_t i = 0; i < x.numel(); ++i) {
    y.mutable_data<T>()[i] += step * direction.data<T>()[i];
  }
  return y;
}

/// a + a^H, and of positive definite matrices a a^H + 1.
DenseTensor hermitian(const DenseTensor& a, bool definite) {
  DenseTensor x = blank(a.dims());
  for (int64_t b = 0; b < linalg::matrices_in(a.dims()); ++b) {
    const auto m = linalg::matrix_of<C>(a, b);
    const auto one = linalg::Matrix<C>::identity(m.rows());
    linalg::put_matrix(definite ? m * adjoint(m) + one : m + adjoint(m), b, &x);
  }
  return x;
}

using Forward = std::function<Tensors(const DenseTensor&)>;
/// From the input, the outputs and their gradients.
using Backward = std::function<DenseTensor(const DenseTensor&, const Tensors&, const Tensors&)>;

void check(const char* what, const DenseTensor& x, const DenseTensor& direction,
           const Forward& forward, const Backward& backward) {
  const Tensors outs = forward(x);
  Tensors grads;
  for (const DenseTensor& out : outs) {
    const auto seed = static_cast<uint32_t>(50 + grads.size());
    grads.push_back(out.dtype() == DataType::FLOAT64 ? random<double>(out.dims(), seed)
                                                     : random(out.dims(), seed));
  }
  const auto loss_at = [&](double step) {
    const Tensors at = forward(x.dtype() == DataType::FLOAT64 ? moved<double>(x, direction, step)
                                                              : moved<C>(x, direction, step));
    double sum = 0;
    for (size_t i = 0; i < at.size(); ++i) sum += inner(grads[i], at[i]);
    return sum;
  };
  constexpr double kStep = 1e-6;
  const double expected = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
  const double got = inner(backward(x, outs, grads), direction);
  EXPECT_NEAR(got, expected, 1e-6 * (1 + std::abs(expected))) << what;
}

void check(const char* what, const Dims& dims, const Forward& forward, const Backward& backward) {
  check(what, random(dims, 1), random(dims, 2), forward, backward);
}

TEST(ComplexGradients, OfMatrices) {
  const Dims square{2, 3, 3};
  const auto like = [](const DenseTensor& x) { return blank(x.dims()); };
  check(
      "inverse", square,
      [&](const DenseTensor& x) {
        Tensors out{like(x)};
        registered<kernels::inverse, C>(kHere, x, &out[0]);
        return out;
      },
      [&](const DenseTensor& x, const Tensors& out, const Tensors& g) {
        DenseTensor grad = like(x);
        registered<kernels::inverse_grad, C>(kHere, out[0], g[0], &grad);
        return grad;
      });
  check(
      "det", square,
      [&](const DenseTensor& x) {
        Tensors out{blank({2})};
        registered<kernels::det, C>(kHere, x, &out[0]);
        return out;
      },
      [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
        DenseTensor grad = like(x);
        registered<kernels::det_grad, C>(kHere, x, g[0], &grad);
        return grad;
      });
  check(
      "slogdet", square,
      [&](const DenseTensor& x) {
        Tensors out{blank({2, 2})};
        registered<kernels::slogdet, C>(kHere, x, &out[0]);
        return out;
      },
      [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
        DenseTensor grad = like(x);
        registered<kernels::slogdet_grad, C>(kHere, x, g[0], &grad);
        return grad;
      });
  for (int n : {3, -2}) {
    check(
        "matrix_power", square,
        [&](const DenseTensor& x) {
          Tensors out{like(x)};
          registered<kernels::matrix_power, C>(kHere, x, n, &out[0]);
          return out;
        },
        [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
          DenseTensor grad = like(x);
          registered<kernels::matrix_power_grad, C>(kHere, x, g[0], n, &grad);
          return grad;
        });
  }
}

TEST(ComplexGradients, OfFactors) {
  for (const Dims& dims : {Dims{2, 3, 3}, Dims{2, 4, 2}, Dims{2, 2, 4}}) {
    const int64_t k = std::min(dims[1], dims[2]);
    check(
        "qr", dims,
        [&](const DenseTensor& x) {
          Tensors out{blank({2, dims[1], k}), blank({2, k, dims[2]})};
          registered<kernels::qr, C>(kHere, x, std::string("reduced"), &out[0], &out[1]);
          return out;
        },
        [&](const DenseTensor& x, const Tensors& out, const Tensors& g) {
          DenseTensor grad = blank(dims);
          registered<kernels::qr_grad, C>(kHere, x, out[0], out[1], g[0], g[1], &grad);
          return grad;
        });
    DenseTensor pivots = blank<int>({2, k}), infos = blank<int>({2});
    check(
        "lu", dims,
        [&](const DenseTensor& x) {
          Tensors out{blank(dims)};
          registered<kernels::lu, C>(kHere, x, &out[0], &pivots, &infos);
          return out;
        },
        [&](const DenseTensor&, const Tensors& out, const Tensors& g) {
          DenseTensor grad = blank(dims);
          registered<kernels::lu_grad, C>(kHere, out[0], pivots, g[0], &grad);
          return grad;
        });
    check(
        "svdvals", dims,
        [&](const DenseTensor& x) {
          Tensors out{blank<double>({2, k})};
          registered<kernels::svdvals, C>(kHere, x, &out[0]);
          return out;
        },
        [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
          DenseTensor grad = blank(dims);
          registered<kernels::svdvals_grad, C>(kHere, x, g[0], &grad);
          return grad;
        });
  }
  const Dims square{2, 3, 3};
  for (bool upper : {false, true}) {
    check(
        "cholesky", hermitian(random(square, 1), true), hermitian(random(square, 2), false),
        [&](const DenseTensor& x) {
          Tensors out{blank(square)};
          registered<kernels::cholesky, C>(kHere, x, upper, &out[0]);
          return out;
        },
        [&](const DenseTensor&, const Tensors& out, const Tensors& g) {
          DenseTensor grad = blank(square);
          registered<kernels::cholesky_grad, C>(kHere, out[0], g[0], upper, &grad);
          return grad;
        });
  }
}

/// Vectors are found up to a phase, and w v v^H does not change with it: its gradient by v, for
/// vectors in the columns.
DenseTensor phaseless(const DenseTensor& v, DenseTensor* v_grad, const DenseTensor& g) {
  DenseTensor out = blank({v.dims()[0], v.dims()[1], v.dims()[1]});
  for (int64_t b = 0; b < v.dims()[0]; ++b) {
    const auto m = linalg::matrix_of<C>(v, b), cotangent = linalg::matrix_of<C>(g, b);
    std::vector<double> weights;
    for (int64_t j = 0; j < m.columns(); ++j) weights.push_back(1.0 + 0.5 * static_cast<double>(j));
    linalg::put_matrix(scale_columns(m, weights) * adjoint(m), b, &out);
    if (v_grad) {
      linalg::put_matrix((cotangent + adjoint(cotangent)) * scale_columns(m, weights), b, v_grad);
    }
  }
  return out;
}

TEST(ComplexGradients, OfEigenvectors) {
  const Dims square{2, 3, 3};
  DenseTensor w = blank({2, 3}), real_w = blank<double>({2, 3}), v = blank(square);
  check(
      "eig", square,
      [&](const DenseTensor& x) {
        registered<kernels::eig, C>(kHere, x, &w, &v);
        return Tensors{w.clone(), phaseless(v, nullptr, v)};
      },
      [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
        DenseTensor grad = blank(square), v_grad = blank(square);
        registered<kernels::eig, C>(kHere, x, &w, &v);
        phaseless(v, &v_grad, g[1]);
        registered<kernels::eig_grad, C>(kHere, w, v, g[0], v_grad, &grad);
        return grad;
      });
  check(
      "eigh", hermitian(random(square, 1), false), hermitian(random(square, 2), false),
      [&](const DenseTensor& x) {
        registered<kernels::eigh, C>(kHere, x, std::string("L"), &real_w, &v);
        return Tensors{real_w.clone(), phaseless(v, nullptr, v)};
      },
      [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
        DenseTensor grad = blank(square), v_grad = blank(square);
        registered<kernels::eigh, C>(kHere, x, std::string("L"), &real_w, &v);
        phaseless(v, &v_grad, g[1]);
        registered<kernels::eigh_grad, C>(kHere, real_w, v, g[0], v_grad, &grad);
        return grad;
      });
}

TEST(ComplexGradients, OfSingularVectors) {
  for (const Dims& dims : {Dims{2, 3, 3}, Dims{2, 4, 2}, Dims{2, 2, 4}}) {
    const int64_t k = std::min(dims[1], dims[2]);
    DenseTensor u = blank({2, dims[1], k}), s = blank<double>({2, k}), vh = blank({2, k, dims[2]});
    check(
        "svd", dims,
        [&](const DenseTensor& x) {
          registered<kernels::svd, C>(kHere, x, false, &u, &s, &vh);
          return Tensors{phaseless(u, nullptr, blank({2, dims[1], dims[1]})), s.clone()};
        },
        [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
          DenseTensor grad = blank(dims), u_grad = blank(u.dims()), vh_grad = blank(vh.dims());
          registered<kernels::svd, C>(kHere, x, false, &u, &s, &vh);
          phaseless(u, &u_grad, g[0]);
          std::fill_n(vh_grad.mutable_data<C>(), vh_grad.numel(), C(0));
          registered<kernels::svd_grad, C>(kHere, u, s, vh, u_grad, g[1], vh_grad, &grad);
          return grad;
        });
  }
}

TEST(ComplexGradients, OfTransforms) {
  const std::vector<int64_t> axes{2, 0};
  for (const std::string& norm : {std::string("backward"), std::string("ortho")}) {
    check(
        "fft_c2c", {3, 2, 5},
        [&](const DenseTensor& x) {
          Tensors out{blank(x.dims())};
          registered<kernels::fft_c2c, C>(kHere, x, axes, norm, false, &out[0]);
          return out;
        },
        [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
          DenseTensor grad = blank(x.dims());
          registered<kernels::fft_c2c_grad, C>(kHere, g[0], axes, norm, false, &grad);
          return grad;
        });
    for (int64_t n : {4, 5}) {
      check(
          "fft_c2r", {n / 2 + 1, 2, 3},
          [&](const DenseTensor& x) {
            Tensors out{blank<double>({n, 2, 3})};
            registered<kernels::fft_c2r, C>(kHere, x, axes, norm, true, &out[0]);
            return out;
          },
          [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
            DenseTensor grad = blank(x.dims());
            registered<kernels::fft_c2r_grad, C>(kHere, g[0], axes, norm, true, &grad);
            return grad;
          });
      for (int64_t kept : {n, n / 2 + 1}) {
        check(
            "fft_r2c", random<double>({n, 2, 3}, 1), random<double>({n, 2, 3}, 2),
            [&](const DenseTensor& x) {
              Tensors out{blank({kept, 2, 3})};
              registered<kernels::fft_r2c, double>(kHere, x, axes, norm, true, &out[0]);
              return out;
            },
            [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
              DenseTensor grad = blank<double>(x.dims());
              registered<kernels::fft_r2c_grad, double>(kHere, g[0], axes, norm, true, &grad);
              return grad;
            });
      }
    }
  }
  const DenseTensor window = random<double>({6}, 3);
  check(
      "stft", random<double>({2, 17}, 1), random<double>({2, 17}, 2),
      [&](const DenseTensor& x) {
        Tensors out{blank({2, 4, 3})};
        registered<kernels::stft, double>(kHere, x, window, 4, true, &out[0]);
        return out;
      },
      [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
        DenseTensor grad = blank<double>(x.dims());
        registered<kernels::stft_grad, double>(kHere, window, g[0], 4, true, &grad);
        return grad;
      });
}

TEST(ComplexGradients, OfProducts) {
  const DenseTensor y = random({3, 4}, 5);
  check(
      "matmul", {2, 3},
      [&](const DenseTensor& x) {
        Tensors out{blank({2, 4})};
        registered<kernels::matmul, C>(kHere, x, y, false, false, &out[0]);
        return out;
      },
      [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
        DenseTensor grad = blank(x.dims());
        registered<kernels::matmul_grad, C>(kHere, x, y, g[0], false, false, &grad, nullptr);
        return grad;
      });
  const DenseTensor vectors = random({2, 3}, 6);
  check(
      "cross", {2, 3},
      [&](const DenseTensor& x) {
        Tensors out{blank(x.dims())};
        registered<kernels::cross, C>(kHere, x, vectors, 9, &out[0]);
        return out;
      },
      [&](const DenseTensor& x, const Tensors&, const Tensors& g) {
        DenseTensor grad = blank(x.dims());
        registered<kernels::cross_grad, C>(kHere, x, vectors, g[0], 9, &grad, nullptr);
        return grad;
      });
}

}  // namespace
}  // namespace phi
