// out[i] = f(a[i], b[i], c[i], ..): elementwise functors of any number of inputs that broadcast.
//
//   nary_loop<T>({&x, &y, &weight}, out, [](auto x, auto y, auto w) { return x + w * (y - x); });
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/elementwise/broadcast.h"
#include "phi/kernels/cpu/wide.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

namespace detail {

/// One input along a row, a block at a time, in the type that it is computed in. An element that
/// the row stays at is a block of copies, so that the loop over blocks has one form.
template <typename T>
class RowOperand {
 public:
  using C = compute_t<T>;
  void begin(const T* row, int64_t stride, int64_t count) {
    row_ = row;
    moves_ = stride != 0;
    if (!moves_) std::fill_n(buffer_, std::min(count, kConvertBlock), static_cast<C>(*row));
  }
  const C* block(int64_t at, int64_t count) {
    if (!moves_) return buffer_;
    if constexpr (kIs16Bit<T>) {
      convert(row_ + at, buffer_, count);
      return buffer_;
    } else {
      return row_ + at;
    }
  }

 private:
  const T* row_ = nullptr;
  bool moves_ = false;
  C buffer_[kConvertBlock];
};

/// 16-bit floats are made from float.
template <typename Out>
using made_from_t = std::conditional_t<kIs16Bit<Out>, float, Out>;

/// A functor as the loop over a block of its inputs. Nothing else depends on the functor: the walk
/// and the conversions around it are compiled once for all, and 16-bit floats share float's loop.
template <typename C, typename R, size_t kInputs>
struct BlockFunction {
  using Inputs = std::array<const C*, kInputs>;
  void (*run)(const void* functor, const Inputs& in, R* out, int64_t n);
  const void* functor;
};

template <typename C, typename R, typename F, size_t... k>
BlockFunction<C, R, sizeof...(k)> block_function(const F& functor, std::index_sequence<k...>) {
  const auto run = [](const void* of, const std::array<const C*, sizeof...(k)>& in, R* out,
                      int64_t n) {
    const F f = *static_cast<const F*>(of);
    run_widest<C>([=] {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(in[k][i]...);
    });
  };
  return {run, &functor};
}

template <typename T, size_t kInputs, typename Out>
void nary_run(const std::array<const T*, kInputs>& data, const Broadcast<kInputs>& walk, Out* out,
              const BlockFunction<compute_t<T>, made_from_t<Out>, kInputs>& block) {
  std::array<RowOperand<T>, kInputs> operands;
  walk.for_each_row([&](int64_t at, const std::array<int64_t, kInputs>& from, int64_t count) {
    for (size_t k = 0; k < kInputs; ++k)
      operands[k].begin(data[k] + from[k], walk.inner_stride(static_cast<int>(k)), count);
    for (int64_t i = 0; i < count; i += kConvertBlock) {
      const int64_t n = std::min(kConvertBlock, count - i);
      std::array<const compute_t<T>*, kInputs> in;
      for (size_t k = 0; k < kInputs; ++k) in[k] = operands[k].block(i, n);
      if constexpr (kIs16Bit<Out>) {
        float result[kConvertBlock];
        block.run(block.functor, in, result, n);
        convert(result, out + at + i, n);
      } else {
        block.run(block.functor, in, out + at + i, n);
      }
    }
  });
}

}  // namespace detail

/// `out`, of dims `out_dims` that all inputs broadcast to, holds elements of any type that f's
/// result converts to. It may be one of the inputs, element for element.
template <typename T, size_t kInputs, typename Out, typename F>
void nary_loop(const std::array<const DenseTensor*, kInputs>& inputs, Out* out,
               const Dims& out_dims, F f) {
  if (out_dims.numel() == 0) return;
  std::array<const T*, kInputs> data;
  std::array<const Dims*, kInputs> dims;
  for (size_t k = 0; k < kInputs; ++k) {
    data[k] = inputs[k]->template data<T>();
    dims[k] = &inputs[k]->dims();
  }
  const Broadcast<static_cast<int>(kInputs)> walk(out_dims, dims);
  detail::nary_run<T, kInputs, Out>(data, walk, out,
                                    detail::block_function<compute_t<T>, detail::made_from_t<Out>>(
                                        f, std::make_index_sequence<kInputs>()));
}

template <typename T, size_t kInputs, typename F>
void nary_loop(const DenseTensor* const (&inputs)[kInputs], DenseTensor* out, F f) {
  nary_loop<T>(std::to_array(inputs), out->mutable_data<T>(), out->dims(), f);
}

}  // namespace phi
