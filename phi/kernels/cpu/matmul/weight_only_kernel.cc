// 8-bit weights on the CPU: quantisation, dequantisation and matmuls.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "phi/core/device/scratch_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/quantized.h"
#include "phi/kernels/cpu/check_elements.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/matmul/gemm_scratch.h"
#include "phi/kernels/cpu/matmul/weight_rows.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/quantize.h"

namespace phi {
namespace {

/// Elements [begin, end) of each column, which share scale number `index`.
struct ScaleGroup {
  int64_t index;
  int64_t begin;
  int64_t end;
};

template <typename F>
void for_each_scale_group(int64_t k, int group_size, F f) {
  const int64_t size = group_rows(k, group_size);
  for (int64_t begin = 0; begin < k; begin += size)
    f(ScaleGroup{begin / size, begin, std::min(begin + size, k)});
}

/// The extents of a weight of weight_only_linear, whose numbers are [n, k].
struct WeightExtents {
  int64_t n;
  int64_t k;
  int group_size;

  WeightExtents(const DenseTensor& weight, int size)
      : n(weight.dims()[0]), k(weight.dims()[1]), group_size(size) {}
};

/// A weight: int8 numbers [n, k] and scales [groups, n].
template <typename C>
struct Weight : WeightExtents {
  const int8_t* data;
  const C* scales;

  Weight(const DenseTensor& weight, const DenseTensor& scale, int size)
      : WeightExtents(weight, size), data(weight.data<int8_t>()), scales(scale.data<C>()) {}
};

/// Number of rows of x up to which multiply_few_rows is faster. bfloat16 matmuls have their own
/// instructions, and double is not limited by memory, so their limit is lower.
template <typename T>
constexpr int64_t kFewRows = std::is_same_v<T, bfloat16> || std::is_same_v<T, double> ? 16 : 32;

/// Whether multiply_few_rows multiplies m rows of x, or else multiply_blocks.
template <typename T>
bool has_few_rows(const WeightExtents& w, int64_t m) {
  const bool is_short = group_rows(w.k, w.group_size) < kWeightLanes;  // too short to vectorise
  return w.k == 0 || (m <= kFewRows<T> && !is_short);
}

/// Computes columns [begin, end) of out for kRows rows of x.
template <int kRows, typename T, typename C>
inline void multiply_rows(const Weight<C>& w, int64_t begin, int64_t end, const C* x, const T* bias,
                          T* out) {
  for (int64_t c = begin; c < end; ++c) {
    RowDotProducts<kRows, C> products;
    for_each_scale_group(w.k, w.group_size, [&](const ScaleGroup& group) {
      add_row_dot_products(group.end - group.begin, x + group.begin, w.k,
                           w.data + c * w.k + group.begin, w.scales[group.index * w.n + c],
                           &products);
    });
    const C shift = bias ? static_cast<C>(bias[c]) : C(0);
    for (int r = 0; r < kRows; ++r) out[r * w.n + c] = convert_value<T>(products.sum(r) + shift);
  }
}

/// out [m, n] = x [m, k] times the weight, plus bias unless it is null. Some rows of the weight
/// stay in the L2 cache for all rows of x, and rows of x stay in the L1 cache for these.
template <typename T, typename C>
void multiply_few_rows(const Weight<C>& w, int64_t m, const C* x, const T* bias, T* out) {
  constexpr int64_t kColumns = 32;
  run_best_isa<C>([=] {
    for (int64_t begin = 0; begin < w.n; begin += kColumns) {
      const int64_t end = std::min(begin + kColumns, w.n);
      for (int64_t r = 0; r < m; r += kWeightRows) {
        const C* rows = x + r * w.k;
        T* to = out + r * w.n;
        switch (m - r) {
          case 1:
            multiply_rows<1>(w, begin, end, rows, bias, to);
            break;
          case 2:
            multiply_rows<2>(w, begin, end, rows, bias, to);
            break;
          case 3:
            multiply_rows<3>(w, begin, end, rows, bias, to);
            break;
          default:
            multiply_rows<kWeightRows>(w, begin, end, rows, bias, to);
        }
      }
    }
  });
}

/// Converts int8 numbers to T. Integers below 256 are exact in all floats, so the matmul rounds as
/// a matmul with x's precision.
template <typename T>
void widen(const int8_t* from, int64_t count, T* to) {
  if constexpr (kIs16Bit<T>) {
    float floats[kConvertBlock];
    for (int64_t i = 0; i < count; i += kConvertBlock) {
      const int64_t size = std::min(kConvertBlock, count - i);
      convert(from + i, floats, size);
      convert(floats, to + i, size);
    }
  } else {
    convert(from, to, count);
  }
}

/// Rows [row, row + rows) of the weight, elements [begin, end) of each, all in group `group`.
struct WeightTile {
  int64_t row;
  int64_t rows;
  int64_t group;
  int64_t begin;
  int64_t end;
  int64_t size() const { return end - begin; }
};

/// Most elements of a row of a tile. A tile of kRows rows stays in the L2 cache for its matmuls.
template <int64_t kRows, typename T>
int64_t longest_tile(const WeightExtents& w) {
  constexpr int64_t kElements = (1 << 20) / (kRows * sizeof(T));
  return std::min(kElements, group_rows(w.k, w.group_size));
}

/// Calls f for tiles of kRows rows of the weight, each row from its first to its last element.
template <int64_t kRows, typename T, typename F>
void for_each_weight_tile(const WeightExtents& w, F f) {
  const int64_t longest = longest_tile<kRows, T>(w);
  for (int64_t row = 0; row < w.n; row += kRows) {
    const int64_t rows = std::min(kRows, w.n - row);
    for_each_scale_group(w.k, w.group_size, [&](const ScaleGroup& group) {
      for (int64_t begin = group.begin; begin < group.end; begin += longest)
        f(WeightTile{row, rows, group.index, begin, std::min(begin + longest, group.end)});
    });
  }
}

/// for_each_weight_tile, with the tile's numbers as T.
template <int64_t kRows, typename T, typename C, typename F>
void for_each_weight_block(const Weight<C>& w, F f) {
  std::vector<T> wide(static_cast<size_t>(std::min(kRows, w.n) * longest_tile<kRows, T>(w)));
  for_each_weight_tile<kRows, T>(w, [&](const WeightTile& block) {
    for (int64_t r = 0; r < block.rows; ++r) {
      widen(w.data + (block.row + r) * w.k + block.begin, block.size(),
            wide.data() + r * block.size());
    }
    f(block, wide.data());
  });
}

/// The matmul of a tile by multiply_blocks.
GemmShape tile_shape(int64_t m, const WeightTile& tile) {
  return {.m = m, .n = tile.rows, .k = tile.size(), .trans_b = true};
}

constexpr int64_t kTileRows = 128;  // of multiply_blocks; fewer make matmuls slow

/// Same result as multiply_few_rows, for any number of rows, by matmuls.
template <typename T, typename C>
void multiply_blocks(const Weight<C>& w, int64_t m, const T* x, const T* bias, T* out) {
  std::vector<C> product;
  std::vector<C> sum;
  for_each_weight_block<kTileRows, T>(w, [&](const WeightTile& block, const T* wide) {
    const int64_t n = block.rows;
    if (block.begin == 0) sum.assign(static_cast<size_t>(m * n), C(0));
    product.resize(sum.size());
    gemm<T>(tile_shape(m, block), 1, x + block.begin, w.k, wide, block.size(), 0, product.data(),
            n);
    const C* factors = w.scales + block.group * w.n + block.row;
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) sum[r * n + c] += product[r * n + c] * factors[c];
    }
    if (block.end < w.k) return;
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        const C shift = bias ? static_cast<C>(bias[block.row + c]) : C(0);
        out[r * w.n + block.row + c] = convert_value<T>(sum[r * n + c] + shift);
      }
    }
  });
}

}  // namespace

/// Errors   InvalidArgument with the position of an element that is not finite.
template <typename T, typename Context>
void WeightQuantizeKernel(const Context& ctx, const DenseTensor& x, int group_size,
                          DenseTensor* out, DenseTensor* scale) {
  check_elements<T>(ctx, x, IsNotFinite(), not_finite());
  const int64_t k = x.dims()[0];
  const int64_t n = x.dims()[1];
  const T* from = x.data<T>();
  int8_t* to = out->mutable_data<int8_t>();
  using C = compute_t<T>;
  C* scales = scale->mutable_data<C>();
  std::fill_n(scales, scale->numel(), C(0));
  for_each_scale_group(k, group_size, [&](const ScaleGroup& group) {
    for (int64_t c = 0; c < n; ++c) {
      double most = 0;
      for (int64_t r = group.begin; r < group.end; ++r)
        most = std::max(most, std::abs(static_cast<double>(from[r * n + c])));
      scales[group.index * n + c] = static_cast<C>(most / kLargestQuantized);
      for (int64_t r = group.begin; r < group.end; ++r)
        to[c * k + r] = quantized(static_cast<double>(from[r * n + c]), most);
    }
  });
}

template <typename T, typename Context>
void WeightDequantizeKernel(const Context&, const DenseTensor& x, const DenseTensor& scale,
                            int group_size, DenseTensor* out) {
  const int64_t n = x.dims()[0];
  const int64_t k = x.dims()[1];
  using C = compute_t<T>;
  const int8_t* from = x.data<int8_t>();
  const C* scales = scale.data<C>();
  T* to = out->mutable_data<T>();
  for_each_scale_group(k, group_size, [&](const ScaleGroup& group) {
    for (int64_t r = group.begin; r < group.end; ++r) {
      for (int64_t c = 0; c < n; ++c)
        to[r * n + c] =
            convert_value<T>(static_cast<C>(from[c * k + r]) * scales[group.index * n + c]);
    }
  });
}

/// out = the sum over groups of (x's group times the int8 numbers) times scale, plus bias. Sums
/// stay in the compute type until the end.
template <typename T, typename Context>
void WeightOnlyLinearKernel(const Context&, const DenseTensor& x, const DenseTensor& weight,
                            const DenseTensor* bias, const DenseTensor& weight_scale,
                            int group_size, DenseTensor* out) {
  using C = compute_t<T>;
  const Weight<C> w(weight, weight_scale, group_size);
  const int64_t m = x.dims().numel(0, x.ndim() - 1);
  const T* shifts = bias ? bias->data<T>() : nullptr;
  T* to = out->mutable_data<T>();
  if (has_few_rows<T>(w, m)) {
    const ComputeArray<C> rows(&x);
    return multiply_few_rows(w, m, rows.data(), shifts, to);
  }
  multiply_blocks(w, m, x.data<T>(), shifts, to);
}

template <typename T, typename Context>
void WeightOnlyLinearScratch(const Context& ctx, const DenseTensor& x, const DenseTensor& weight,
                             const DenseTensor* /*bias*/, const DenseTensor& /*weight_scale*/,
                             int group_size, DenseTensor* /*out*/) {
  const WeightExtents w(weight, group_size);
  const int64_t m = x.dims().numel(0, x.ndim() - 1);
  if (has_few_rows<T>(w, m)) return;
  for_each_weight_tile<kTileRows, T>(w, [&](const WeightTile& tile) {
    plan_gemm_scratch<T, compute_t<T>>(tile_shape(m, tile), &ctx.scratch());
  });
}

/// x_grad = (out_grad * scale) times the int8 numbers, for each group of x_grad's columns.
template <typename T, typename Context>
void WeightOnlyLinearGradKernel(const Context&, const DenseTensor& weight,
                                const DenseTensor& weight_scale, const DenseTensor& out_grad,
                                int group_size, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const Weight<C> w(weight, weight_scale, group_size);
  const int64_t m = out_grad.dims().numel(0, out_grad.ndim() - 1);
  const T* grads = out_grad.data<T>();
  constexpr int64_t kRows = 512;  // fewer load the sums from memory more often
  std::vector<C> scaled;
  std::vector<C> sum(static_cast<size_t>(m * w.k));
  for_each_weight_block<kRows, C>(w, [&](const WeightTile& block, const C* wide) {
    const int64_t n = block.rows;
    scaled.resize(static_cast<size_t>(m * n));
    const C* factors = w.scales + block.group * w.n + block.row;
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c)
        scaled[r * n + c] = static_cast<C>(grads[r * w.n + block.row + c]) * factors[c];
    }
    const GemmShape shape{.m = m, .n = block.size(), .k = n};
    gemm<C>(shape, 1, scaled.data(), n, wide, block.size(), block.row == 0 ? 0 : 1,
            sum.data() + block.begin, w.k);
  });
  convert(sum.data(), x_grad->mutable_data<T>(), m * w.k);
}

PHI_REGISTER_KERNEL(weight_quantize, CPU, WeightQuantizeKernel, Floats);
PHI_REGISTER_KERNEL(weight_dequantize, CPU, WeightDequantizeKernel, Floats);
PHI_REGISTER_KERNEL(weight_only_linear, CPU, WeightOnlyLinearKernel, Floats);
PHI_REGISTER_SCRATCH(weight_only_linear, WeightOnlyLinearScratch, Halves);
PHI_REGISTER_KERNEL(weight_only_linear_grad, CPU, WeightOnlyLinearGradKernel, Floats);
PHI_REGISTER_NO_SCRATCH(weight_only_linear_grad, Halves);

}  // namespace phi
