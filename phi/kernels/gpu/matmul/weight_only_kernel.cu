// Weight-only quantisation to 8 bits on GPUs: quantise, dequantise and matmul. The CPU kernels
// state the semantics. A matmul of a few rows, such as one token per sequence, reads the weight's
// bytes once and directly. A matmul of many rows calls cuBLASLt with a widened weight.
#include <algorithm>
#include <bit>

#include "phi/generated/kernels/quantized.h"
#include "phi/gpu/gemm.h"
#include "phi/gpu/pack.h"
#include "phi/kernels/functors/quantize.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/lines.h"

namespace phi {
namespace {

/// Quantises one column of a group of rows of x [rows, columns]; lines are [groups, columns].
template <typename T>
struct QuantizeLine {
  const T* x;
  int64_t rows;
  int64_t columns;
  int64_t of_group;  // rows per group; the last group may have fewer
  int8_t* out;       // [columns, rows]
  compute_t<T>* scale;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const int64_t column = line % columns;
    const int64_t begin = line / columns * of_group;
    const int64_t n = rows - begin < of_group ? rows - begin : of_group;
    const T* const first = x + begin * columns + column;
    const auto value = [&](int64_t k) { return gpu::number(first[k * columns]); };
    const double most =
        n > 0 ? team.template largest<double>(n, [&](int64_t k) { return std::fabs(value(k)); })
              : 0;
    if (team.index() == 0) scale[line] = static_cast<compute_t<T>>(most / kLargestQuantized);
    int8_t* const to = out + column * rows + begin;
    team.each(n, [&](int64_t k) { to[k] = quantized(value(k), most); });
  }
};

/// Element i of [rows, columns], from x [columns, rows].
template <typename T>
struct Dequantize {
  const int8_t* x;
  const compute_t<T>* scale;
  int64_t rows;
  int64_t columns;
  int64_t of_group;
  PHI_HD T operator()(int64_t i) const {
    using C = compute_t<T>;
    const int64_t r = i / columns;
    const int64_t c = i % columns;
    return static_cast<T>(static_cast<C>(x[c * rows + r]) * scale[r / of_group * columns + c]);
  }
};

/// Element i of the sum over groups: adds the scaled matmul of this group.
template <typename C>
struct AddScaled {
  const C* sum;  // null for the first group
  const C* product;
  const C* scale;
  int64_t columns;
  PHI_HD C operator()(int64_t i) const {
    const C scaled = product[i] * scale[i % columns];
    return sum ? sum[i] + scaled : scaled;
  }
};

template <typename T>
struct AddBias {
  const compute_t<T>* sum;
  const T* bias;  // null: no bias
  int64_t columns;
  PHI_HD T operator()(int64_t i) const {
    using C = compute_t<T>;
    return static_cast<T>(sum[i] + (bias ? static_cast<C>(bias[i % columns]) : C(0)));
  }
};

template <typename T>
struct TimesScale {
  const T* x;
  const compute_t<T>* scale;
  int64_t columns;
  PHI_HD compute_t<T> operator()(int64_t i) const {
    return static_cast<compute_t<T>>(x[i]) * scale[i % columns];
  }
};

/// The weight as floats. Integers below 256 are exact in all floating types, so this conversion
/// adds no rounding to the matmul.
template <typename T>
DenseTensor widened(const GpuContext& ctx, const DenseTensor& weight) {
  DenseTensor wide = DenseTensor::empty({weight.dims(), dtype_of<T>()}, ctx.place());
  convert(ctx, weight.data<int8_t>(), wide.mutable_data<T>(), weight.numel());
  return wide;
}

inline constexpr int kWeights = gpu::pack_width(sizeof(int8_t));  // weights per access
inline constexpr int kAtOnce = 4;                                 // rows per launch
inline constexpr int64_t kFewRows = 8;  // up to this many rows, such launches are used

/// Computes column `column` of up to kAtOnce rows of x [rows, k] times weight [n, k], plus the
/// bias. A pack of weights must be in one group.
template <typename T>
struct WeightColumn {
  using C = compute_t<T>;
  const T* x;
  const int8_t* weight;
  const C* scale;  // [groups, n]
  const T* bias;   // null: no bias
  T* out;          // [rows, n]
  int64_t n;
  int64_t k;
  int group_shift;  // a group has 2^group_shift packs; a division would be too slow
  int rows;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t column) const {
    C sums[kAtOnce] = {};
    team.each(k / kWeights, [&](int64_t at) { add_pack(column, at, sums); });
    const C start = bias ? static_cast<C>(bias[column]) : C(0);
    PHI_UNROLL(4)
    for (int r = 0; r < kAtOnce; ++r) {
      const C sum = team.template join<gpu::PlainSum<C>>(sums[r]);
      if (team.index() == 0 && r < rows) out[r * n + column] = static_cast<T>(sum + start);
    }
  }

 private:
  static constexpr int kWidth = gpu::pack_width(sizeof(T));

  __device__ void add_pack(int64_t column, int64_t at, C (&sums)[kAtOnce]) const {
    const gpu::Pack<int8_t, kWeights> weights = gpu::pack_at<kWeights>(weight + column * k, at);
    const C factor = scale[(at >> group_shift) * n + column];
    PHI_UNROLL(4)
    for (int r = 0; r < kAtOnce; ++r) {
      if (r < rows) sums[r] += factor * product(weights, x + r * k, at * (kWeights / kWidth));
    }
  }

  __device__ static C product(const gpu::Pack<int8_t, kWeights>& weights, const T* row,
                              int64_t first) {
    C sum = C(0);
    PHI_UNROLL(16)
    for (int p = 0; p < kWeights / kWidth; ++p) {
      const gpu::Pack<T, kWidth> xs = gpu::pack_at<kWidth>(row, first + p);
      PHI_UNROLL(16)
      for (int i = 0; i < kWidth; ++i) {
        sum += static_cast<C>(xs.element[i]) * static_cast<C>(weights.element[p * kWidth + i]);
      }
    }
    return sum;
  }
};

template <typename C>
DenseTensor matrix(const GpuContext& ctx, int64_t rows, int64_t columns) {
  return DenseTensor::empty({{rows, columns}, dtype_of<C>()}, ctx.place());
}

/// Calls f(number of the group, its first row, its number of rows).
template <typename F>
void for_each_group(int64_t rows, int group_size, const F& f) {
  const int64_t size = group_rows(rows, group_size);
  for (int64_t begin = 0; begin < rows; begin += size)
    f(begin / size, begin, std::min(size, rows - begin));
}

template <typename T>
void run_gemm(const GpuContext& ctx, gpu::GemmProblem product, const T* a, const T* b,
              compute_t<T>* c) {
  product.dtype = dtype_of<T>();
  product.out = dtype_of<compute_t<T>>();
  gpu::GpuDevice& device = gpu::GpuDevice::of(ctx.place());
  device.gemm_runner().run(device, product, 1.0, a, b, 0.0, c);
}

/// WeightColumn::group_shift for groups of `of_group` of k rows; -1 if WeightColumn does not
/// support them.
int group_shift_of(int64_t of_group, int64_t k) {
  constexpr int kNone = 62;  // no pack has such a number
  if (of_group >= k) return kNone;
  const auto packs = static_cast<uint64_t>(of_group / kWeights);
  return of_group % kWeights == 0 && std::has_single_bit(packs) ? std::countr_zero(packs) : -1;
}

/// Whether WeightColumn supports a matmul of m rows.
template <typename T>
bool is_of_few_rows(const DenseTensor& x, const DenseTensor& weight, int64_t m, int64_t of_group) {
  const int64_t k = weight.dims()[1];
  return m <= kFewRows && k % kWeights == 0 && group_shift_of(of_group, k) >= 0 &&
         gpu::are_pack_aligned<kWeights>(weight.data<int8_t>()) &&
         gpu::are_pack_aligned<gpu::pack_width(sizeof(T))>(x.data<T>());
}

template <typename T>
void run_weight_columns(const GpuContext& ctx, WeightColumn<T> op, int64_t m) {
  for (int64_t r = 0; r < m; r += kAtOnce, op.x += kAtOnce * op.k, op.out += kAtOnce * op.n) {
    op.rows = static_cast<int>(std::min<int64_t>(kAtOnce, m - r));
    gpu::launch(ctx, gpu::run_lines<gpu::kWarp, WeightColumn<T>>,
                gpu::blocks_for_lines(ctx, op.n, gpu::kWarp), gpu::kBlock, op.n, op);
  }
}

}  // namespace

template <typename T, typename Context>
void WeightQuantizeKernel(const Context& ctx, const DenseTensor& x, int group_size,
                          DenseTensor* out, DenseTensor* scale) {
  check_elements<T>(ctx, x, IsNotFinite(), not_finite());
  const int64_t rows = x.dims()[0];
  const int64_t columns = x.dims()[1];
  const int64_t of_group = group_rows(rows, group_size);
  const int64_t groups = columns == 0 ? 0 : scale->numel() / columns;
  gpu::for_each_line(
      ctx, gpu::AxisLines({groups, of_group, columns}, 1),
      QuantizeLine<T>{x.data<T>(), rows, columns, of_group, out->mutable_data<int8_t>(),
                      scale->mutable_data<compute_t<T>>()});
}

template <typename T, typename Context>
void WeightDequantizeKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& scale,
                            int group_size, DenseTensor* out) {
  const int64_t columns = x.dims()[0];
  const int64_t rows = x.dims()[1];
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             Dequantize<T>{x.data<int8_t>(), scale.data<compute_t<T>>(), rows, columns,
                           group_rows(rows, group_size)});
}

template <typename T, typename Context>
void WeightOnlyLinearKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& weight,
                            const DenseTensor* bias, const DenseTensor& weight_scale,
                            int group_size, DenseTensor* out) {
  using C = compute_t<T>;
  const int64_t n = weight.dims()[0];
  const int64_t k = weight.dims()[1];
  const int64_t m = x.dims().numel(0, x.ndim() - 1);
  if (m * n == 0) return;
  const T* const bias_data = bias ? bias->data<T>() : nullptr;
  const int64_t of_group = group_rows(k, group_size);
  if (k > 0 && is_of_few_rows<T>(x, weight, m, of_group)) {
    return run_weight_columns<T>(
        ctx,
        {x.data<T>(), weight.data<int8_t>(), weight_scale.data<C>(), bias_data,
         out->mutable_data<T>(), n, k, group_shift_of(of_group, k), 0},
        m);
  }
  const DenseTensor wide = widened<T>(ctx, weight);
  DenseTensor product = matrix<C>(ctx, m, n);
  DenseTensor sums = matrix<C>(ctx, m, n);
  C* const sum = sums.mutable_data<C>();
  if (k == 0) fill(ctx, sum, m * n, C(0));
  for_each_group(k, group_size, [&](int64_t group, int64_t begin, int64_t rows) {
    run_gemm<T>(ctx, {.m = m, .n = n, .k = rows, .trans_b = true, .lda = k, .ldb = k, .ldc = n},
                x.data<T>() + begin, wide.data<T>() + begin, product.mutable_data<C>());
    index_loop(ctx, sum, m * n,
               AddScaled<C>{group == 0 ? nullptr : sum, product.data<C>(),
                            weight_scale.data<C>() + group * n, n});
  });
  index_loop(ctx, out->mutable_data<T>(), m * n, AddBias<T>{sum, bias_data, n});
}

template <typename T, typename Context>
void WeightOnlyLinearGradKernel(const Context& ctx, const DenseTensor& weight,
                                const DenseTensor& weight_scale, const DenseTensor& out_grad,
                                int group_size, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const int64_t n = weight.dims()[0];
  const int64_t k = weight.dims()[1];
  const int64_t m = out_grad.dims().numel(0, out_grad.ndim() - 1);
  if (m * k == 0) return;
  if (n == 0) return fill(ctx, x_grad->mutable_data<T>(), m * k, T(0.0f));
  const DenseTensor wide = widened<C>(ctx, weight);
  DenseTensor scaled = matrix<C>(ctx, m, n);
  DenseTensor sum = matrix<C>(ctx, m, k);
  for_each_group(k, group_size, [&](int64_t group, int64_t begin, int64_t rows) {
    index_loop(ctx, scaled.mutable_data<C>(), m * n,
               TimesScale<T>{out_grad.data<T>(), weight_scale.data<C>() + group * n, n});
    run_gemm<C>(ctx, {.m = m, .n = rows, .k = n, .lda = n, .ldb = k, .ldc = k}, scaled.data<C>(),
                wide.data<C>() + begin, sum.mutable_data<C>() + begin);
  });
  convert(ctx, sum.data<C>(), x_grad->mutable_data<T>(), m * k);
}

PHI_REGISTER_KERNEL(weight_quantize, GPU, WeightQuantizeKernel, Floats);
PHI_REGISTER_KERNEL(weight_dequantize, GPU, WeightDequantizeKernel, Floats);
PHI_REGISTER_KERNEL(weight_only_linear, GPU, WeightOnlyLinearKernel, Floats);
PHI_REGISTER_KERNEL(weight_only_linear_grad, GPU, WeightOnlyLinearGradKernel, Floats);

}  // namespace phi
