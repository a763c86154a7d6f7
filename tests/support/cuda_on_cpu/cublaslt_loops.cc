// GEMM as plain loops: float sums, or double sums for doubles; rounded once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cstddef>
#include <vector>

#include "support/cuda_on_cpu/cublaslt_types.h"

namespace cuda_on_cpu {
namespace {

// Rounds to TF32, which has 10 of a float's 23 mantissa bits; to nearest, ties away from zero.
float as_tf32(float x) {
  constexpr uint32_t kDropped = 13;
  const uint32_t bits = std::bit_cast<uint32_t>(x) + (1u << (kDropped - 1));
  return std::bit_cast<float>(bits >> kDropped << kDropped);
}

// op(matrix) of one batch member, column-major and contiguous.
template <class Sum, class T>
std::vector<Sum> plain(const MatrixLayout& layout, const std::byte* matrix, int batch,
                       bool transposed, bool tf32) {
  const T* from = reinterpret_cast<const T*>(matrix) + batch * layout.stride;
  const size_t rows = transposed ? layout.columns : layout.rows;
  const size_t columns = transposed ? layout.rows : layout.columns;
  const auto ld = static_cast<size_t>(layout.ld);
  std::vector<Sum> values(rows * columns);
  for (size_t column = 0; column < columns; ++column) {
    for (size_t row = 0; row < rows; ++row) {
      Sum value = static_cast<Sum>(transposed ? from[row * ld + column] : from[column * ld + row]);
      if constexpr (std::is_same_v<Sum, float>) value = tf32 ? as_tf32(value) : value;
      values[column * rows + row] = value;
    }
  }
  return values;
}

template <class Sum>
Sum scale_as(std::complex<double> scale) {
  if constexpr (std::is_arithmetic_v<Sum>) {
    return static_cast<Sum>(scale.real());
  } else {
    return Sum(scale);
  }
}

template <class In, class Out, class Sum>
void multiply_as(const Matmul& problem, bool rounds_halves, std::complex<double> given_alpha,
                 std::complex<double> given_beta, const std::array<std::byte*, 4>& matrices) {
  const auto& [la, lb, lc, ld] = problem.layouts;
  const bool tf32 = problem.description.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const size_t m = ld.rows;
  const size_t n = ld.columns;
  const size_t k = problem.depth();
  const auto& [transposed_a, transposed_b, none] = problem.description.transposed;
  std::vector<Sum> sums(m);
  const Sum alpha = scale_as<Sum>(given_alpha);
  const Sum beta = scale_as<Sum>(given_beta);
  for (int batch = 0; batch < ld.batches; ++batch) {
    const auto a = plain<Sum, In>(la, matrices[0], batch, transposed_a != CUBLAS_OP_N, tf32);
    const auto b = plain<Sum, In>(lb, matrices[1], batch, transposed_b != CUBLAS_OP_N, tf32);
    const Out* c = reinterpret_cast<const Out*>(matrices[2]) + batch * lc.stride;
    Out* d = reinterpret_cast<Out*>(matrices[3]) + batch * ld.stride;
    for (size_t column = 0; column < n; ++column) {
      sums.assign(m, Sum{0});
      for (size_t i = 0; i < k; ++i) {
        if (rounds_halves && i == k / 2) {
          for (Sum& sum : sums) sum = static_cast<Sum>(static_cast<Out>(sum));
        }
        const Sum right = b[column * k + i];
        for (size_t row = 0; row < m; ++row) sums[row] += a[i * m + row] * right;
      }
      for (size_t row = 0; row < m; ++row) {
        Sum value = alpha * sums[row];
        if (beta != Sum{0}) {  // else c is not read and may be uninitialised
          value += beta * static_cast<Sum>(c[column * static_cast<size_t>(lc.ld) + row]);
        }
        d[column * static_cast<size_t>(ld.ld) + row] = static_cast<Out>(value);
      }
    }
  }
}

}  // namespace

void multiply(const Matmul& problem, bool rounds_halves, std::complex<double> alpha,
              std::complex<double> beta, const std::array<std::byte*, 4>& matrices) {
  const cudaDataType in = problem.layouts[0].type;
  const bool same = problem.layouts[3].type == in;
  if (in == CUDA_C_64F) {
    using C = std::complex<double>;
    multiply_as<C, C, C>(problem, rounds_halves, alpha, beta, matrices);
  } else if (in == CUDA_C_32F) {
    using C = std::complex<float>;
    multiply_as<C, C, C>(problem, rounds_halves, alpha, beta, matrices);
  } else if (in == CUDA_R_64F) {
    multiply_as<double, double, double>(problem, rounds_halves, alpha, beta, matrices);
  } else if (in == CUDA_R_32F) {
    multiply_as<float, float, float>(problem, rounds_halves, alpha, beta, matrices);
  } else if (in == CUDA_R_16F && same) {
    multiply_as<__half, __half, float>(problem, rounds_halves, alpha, beta, matrices);
  } else if (in == CUDA_R_16F) {
    multiply_as<__half, float, float>(problem, rounds_halves, alpha, beta, matrices);
  } else if (same) {
    multiply_as<__nv_bfloat16, __nv_bfloat16, float>(problem, rounds_halves, alpha, beta, matrices);
  } else {
    multiply_as<__nv_bfloat16, float, float>(problem, rounds_halves, alpha, beta, matrices);
  }
}

}  // namespace cuda_on_cpu
