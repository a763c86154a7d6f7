// BlockFunction: an elementwise functor as a loop over a block of its inputs, the only part of an
// elementwise kernel that is compiled per functor.
//
//   const AddFunctor<float> functor;
//   const BlockFunction<float, float, 2, true> add(functor);
//   add({xs, ys}, 0, out, n);
//   add({xs, ys}, 0, out, n, {.count = 4, .strides = {n, 0}});  // 4 rows and the one of ys
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/loops/avx512_version.h"
#include "phi/kernels/cpu/loops/fast_path.h"
#include "phi/kernels/functors/slow_path.h"

namespace phi {

namespace detail {

/// Sets out[i] = f(in(i)...) for begin <= i < end.
template <typename R, typename F, typename... In>
inline void map_all(R* out, int64_t begin, int64_t end, F f, In... in) {
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) out[i] = f(in(i)...);
}

/// map_all for functors with a slow path, which is used for a block only if one of its elements
/// needs it.
template <typename R, typename F, typename... In>
inline void map_block_with_slow_path(R* out, int64_t begin, int64_t end, F f, In... in) {
  // As wide as the numbers: g++ 12 does not vectorise a loop that folds bools.
  using Word = std::conditional_t<sizeof(R) == sizeof(uint64_t), uint64_t, uint32_t>;
  Word rare = 0;
  for (int64_t i = begin; i < end; ++i) rare |= F::takes_fast_path(in(i)...) ? Word{0} : Word{1};
  if (rare == 0) return map_all(out, begin, end, f, in...);
  for (int64_t i = begin; i < end; ++i) out[i] = apply(f, in(i)...);
}

/// map_all for functors with a FastPath; it is computed again by `f` if an element was not
/// common. With `looks_first`, elements are tested before results are written, as is necessary if
/// `out` is an input. Returns whether all elements were common.
template <typename R, typename F, typename... In>
inline bool map_block_with_fast_path(bool looks_first, R* out, int64_t begin, int64_t end, F f,
                                     In... in) {
  using Fast = FastPath<F>;
  decltype(Fast::rank(in(begin)...)) highest = 0;
  if (looks_first) {
    for (int64_t i = begin; i < end; ++i) highest = std::max(highest, Fast::rank(in(i)...));
    if (highest <= Fast::kMost) map_all(out, begin, end, Fast(), in...);
  } else {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      highest = std::max(highest, Fast::rank(in(i)...));
      out[i] = Fast()(in(i)...);
    }
  }
  if (highest > Fast::kMost) map_all(out, begin, end, f, in...);
  return highest <= Fast::kMost;
}

/// Number of elements for which one form of a functor is chosen.
inline constexpr int64_t kPathBlock = 256;

/// Sets out[i] = f(in(i)...).
template <typename R, typename F, typename... In>
inline void map_run(R* out, int64_t n, F f, In... in) {
  const auto for_each_block = [n](auto map) {
    for (int64_t begin = 0; begin < n; begin += kPathBlock)
      map(begin, std::min(begin + kPathBlock, n));
  };
  if constexpr (HasSlowPath<F, std::invoke_result_t<In, int64_t>...>) {
    for_each_block(
        [=](int64_t begin, int64_t end) { map_block_with_slow_path(out, begin, end, f, in...); });
  } else if constexpr (HasFastPath<F>) {
    // After a block that was not common, the next one hardly ever is.
    const bool in_place = (... || (static_cast<const void*>(in.x) == out));
    bool looks_first = in_place;
    for_each_block([&](int64_t begin, int64_t end) {
      looks_first = !map_block_with_fast_path(looks_first, out, begin, end, f, in...) || in_place;
    });
  } else {
    map_all(out, 0, n, f, in...);
  }
}

/// Still inputs of a loop: bit k is set if input k is a single element, repeated for all i.
using ScalarInputs = unsigned;

/// Returns element i of an input, or the only one of a still input.
template <typename C, bool kIsScalar>
struct InputElement {
  explicit InputElement(const C* input) : x(input), first(kIsScalar ? *input : C()) {}
  C operator()(int64_t i) const { return kIsScalar ? first : x[i]; }
  const C* x;
  C first;
};

/// Rows that are contiguous in the output: their number, and the row stride of each input.
template <size_t kInputs>
struct BlockRows {
  int64_t count = 1;
  std::array<int64_t, kInputs> strides{};
};

template <ScalarInputs kStill, typename C, typename R, typename F, size_t... k>
inline void map_rows(std::array<const C*, sizeof...(k)> in, R* out, int64_t n,
                     const BlockRows<sizeof...(k)>& rows, F f, std::index_sequence<k...>) {
  for (int64_t row = 0; row < rows.count; ++row, out += n) {
    map_run(out, n, f, InputElement<C, (kStill >> k & 1) != 0>(in[k])...);
    ((in[k] += rows.strides[k]), ...);
  }
}

/// Sets out[i] = f(in[0][i], in[1][i], ..) in each row. `out` may be an input, element for element.
template <bool kTakesScalars, typename C, typename R, typename F, size_t kInputs>
inline void run_rows(const std::array<const C*, kInputs>& in, ScalarInputs still, R* out, int64_t n,
                     const BlockRows<kInputs>& rows, F f) {
  constexpr auto kAll = std::make_index_sequence<kInputs>();
  if constexpr (kTakesScalars) {
    if (still == 1) return map_rows<1>(in, out, n, rows, f, kAll);
    if (still == 2) return map_rows<2>(in, out, n, rows, f, kAll);
  }
  map_rows<0>(in, out, n, rows, f, kAll);
}

}  // namespace detail

/// A type-erased functor. Loops over rows and conversions around a block do not depend on the
/// functor and are instantiated once; 16-bit floats share float's loop. `kBroadcasts`: inputs may
/// be broadcast.
template <typename C, typename R, size_t kInputs, bool kBroadcasts>
class BlockFunction {
 public:
  /// Whether there are instantiations for a still input. Other functions receive copies of it:
  /// broadcasts of types other than float are too rare to pay for their compile time.
  static constexpr bool kTakesScalars = kBroadcasts && kInputs == 2 && std::is_same_v<C, float>;
  using Inputs = std::array<const C*, kInputs>;
  using RowShape = detail::BlockRows<kInputs>;

  /// Keeps a pointer to `functor`, which must outlive this object.
  template <typename F>
  explicit BlockFunction(const F& functor) : functor_(&functor) {
    run_ = [](const void* of, const Inputs& in, detail::ScalarInputs still, R* out, int64_t n,
              const RowShape& rows) {
      detail::run_rows<kTakesScalars>(in, still, out, n, rows, *static_cast<const F*>(of));
    };
    if constexpr (kHasAvx512Version<C>) {
      if (!has_avx512()) return;
      run_ = [](const void* of, const Inputs& in, detail::ScalarInputs still, R* out, int64_t n,
                const RowShape& rows) {
        if constexpr (detail::HasAvx512Version<F>) {
          static_assert(kInputs == 1 && !kBroadcasts);
          detail::Avx512Version<F>::run(in[0], out, n);
        } else {
          detail::run_avx512([=, f = *static_cast<const F*>(of)] {
            detail::run_rows<kTakesScalars>(in, still, out, n, rows, f);
          });
        }
      };
    }
  }

  /// Sets out[i] = f(in[0][i], in[1][i], ..) in rows of n elements. `still` must be 0 unless
  /// kTakesScalars.
  void operator()(const Inputs& in, detail::ScalarInputs still, R* out, int64_t n,
                  const RowShape& rows = {}) const {
    run_(functor_, in, still, out, n, rows);
  }

 private:
  const void* functor_;
  void (*run_)(const void* functor, const Inputs& in, detail::ScalarInputs still, R* out, int64_t n,
               const RowShape& rows);
};

}  // namespace phi
