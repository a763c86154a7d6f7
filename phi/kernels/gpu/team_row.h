// Rows: lines that a team of threads reads, possibly more than once, and writes. Accesses are packs
// of 16 bytes if alignment and strides permit, else single elements.
//
//   struct Softmax {
//     const float* x;
//     float* out;
//     template <typename Row>
//     __device__ void operator()(const Row& row) const {
//       const auto own = row.read(x);
//       const float most = row.largest(own);
//       const auto power = [=](float v) { return std::exp(v - most); };
//       const float sum = row.sum(power, own);
//       row.write(out, [=](float v) { return power(v) / sum; }, own);
//     }
//   };
//   for_each_row<float>(ctx, lines, Softmax{x, out}, x, out);
//
// Functors receive elements in their compute type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "phi/gpu/pack.h"
#include "phi/kernels/gpu/lines.h"

namespace phi::gpu {

template <typename T, int kWidth>
__device__ Pack<compute_t<T>, kWidth> wide(const Pack<T, kWidth>& pack) {
  Pack<compute_t<T>, kWidth> result;
  PHI_UNROLL(16)
  for (int e = 0; e < kWidth; ++e) result.element[e] = static_cast<compute_t<T>>(pack.element[e]);
  return result;
}

/// One weight per column, the same for all rows: from `narrow` or `wide`, else `otherwise`.
template <typename T>
struct ColumnWeights {
  using C = compute_t<T>;
  const T* narrow = nullptr;
  const C* wide = nullptr;
  C otherwise{};
};

/// One row of AxisLines as a team of `threads` threads sees it. The team processes it in packs of
/// `width` elements (1: any stride; else all arrays are aligned to packs). If `held` > 0, each
/// thread keeps its packs, at most `held`, in registers. If `held` is 0, a row may have any length
/// and is read from memory at each use. All threads must call the members that combine values, and
/// all receive the result.
template <int threads, int width, int held>
class TeamRow {
 public:
  static constexpr int kThreads = threads;
  static constexpr int kBlockThreads = threads > kWarp ? threads : kBlock;
  /// Minimum blocks per multiprocessor for __launch_bounds__. It is 1 for packs, because ptxas
  /// would spill registers to reach more.
  static constexpr int kLeastBlocks = width == 1 ? 3 : 1;
  /// Whether each pass over the elements reads memory again. Then one pass with a sum in double is
  /// cheaper than two passes.
  static constexpr bool kReadsAgain = width > 1 && held == 0;

  __device__ TeamRow(const AxisLines& lines, int64_t line)
      : line_(line), n_(lines.n), first_(lines.start(line)), inner_(lines.inner) {}

  __device__ int64_t line() const { return line_; }
  __device__ int64_t size() const { return n_; }
  /// Offset of the row's element k in an array.
  __device__ int64_t at(int64_t k) const { return first_ + (width == 1 ? k * inner_ : k); }
  /// True on one thread of the team, for work that is done once.
  __device__ static bool is_first_thread() { return Team<threads>::index() == 0; }

  /// The row's elements of `array`. If they are held, this loads them into registers; else each use
  /// loads them.
  template <typename T>
  __device__ auto read(const T* array) const {
    const MemoryPacks<T> elements{array + first_, inner_};
    if constexpr (held == 0) {
      return elements;
    } else {
      RegisterPacks<T> packs;
      each_slot([&](int slot, int64_t k) { packs.at[slot] = elements.pack(k); });
      return packs;
    }
  }
  template <typename T>
  __device__ auto weights(const ColumnWeights<T>& weights) const {
    return ColumnWeightPacks<T>{weights};
  }
  /// The index of each element within the row.
  __device__ auto numbers() const { return ColumnIndices(); }

  template <typename Elements>
  __device__ auto largest(const Elements& elements) const {
    using R = MaxIgnoringNan<decltype(elements.values(0, 0).element[0] + 0)>;
    auto most = R::kIdentity;
    each([&](auto value) { most = R::join(most, value); }, [] {}, elements);
    return join<R>(most);
  }

  /// The sum of term(elements..), which returns a number or a Two. Held rows are summed in the
  /// terms' own type, because a thread has few terms. Other rows add a few terms in that type and
  /// carry into double.
  template <typename Term, typename... Elements>
  __device__ auto sum(const Term& term, const Elements&... elements) const {
    using Terms = decltype(term(elements.values(0, 0).element[0]...));
    using Many = std::conditional_t<(held > 0), Terms, double_sum_t<Terms>>;
    Terms few{};
    Many many{};
    const auto carry = [&] {
      many += to<Many>(few);
      few = Terms{};
    };
    each([&](auto... values) { few += term(values...); }, carry, elements...);
    return to<Terms>(join<PlainSum<Many>>(many));
  }

  /// Calls f(pack) for each of the thread's packs of elements.
  template <typename F, typename Elements>
  __device__ void each_of_packs(const F& f, const Elements& elements) const {
    each_pack([&](int64_t, const auto& pack) { f(pack); }, [] {}, elements);
  }
  /// Combines the threads' values of type R::State.
  template <typename R>
  __device__ static typename R::State join(typename R::State value) {
    return Team<threads>::template join<R>(value);
  }

  /// Writes f(elements..) to this row of `out`. `out` may be an array whose elements f reads.
  template <typename T, typename F, typename... Elements>
  __device__ void write(T* out, const F& f, const Elements&... elements) const {
    const auto make = [&](int64_t k, const auto&... packs) {
      Pack<T, width> result;
      each_element([&](int e, auto... values) { result.element[e] = static_cast<T>(f(values...)); },
                   packs...);
      *reinterpret_cast<Pack<T, width>*>(out + at(k)) = result;
    };
    each_pack(
        make, [] {}, elements...);
  }

  /// One value per column of a held row, in registers.
  template <typename C>
  struct ColumnValues {
    Pack<C, width> at[held] = {};
    __device__ Pack<C, width> values(int slot, int64_t) const { return at[slot]; }
    /// Mutable access to the values, for functors that update them.
    __device__ auto places() { return ColumnValuePointers<C>{this}; }
  };

 private:
  template <typename T>
  struct MemoryPacks {
    const T* first;
    int64_t inner;
    __device__ Pack<T, width> pack(int64_t k) const {
      if constexpr (width == 1) {
        return {first[k * inner]};
      } else {
        return pack_at<width>(first + k, 0);
      }
    }
    __device__ auto values(int, int64_t k) const { return wide(pack(k)); }
  };

  template <typename T>
  struct RegisterPacks {
    Pack<T, width> at[held];
    __device__ auto values(int slot, int64_t) const { return wide(at[slot]); }
  };

  template <typename T>
  struct ColumnWeightPacks {
    using C = compute_t<T>;
    ColumnWeights<T> weights;
    __device__ Pack<C, width> values(int, int64_t k) const {
      if (weights.wide) return pack_at<width>(weights.wide + k, 0);
      if (weights.narrow) return wide(pack_at<width>(weights.narrow + k, 0));
      Pack<C, width> same;
      PHI_UNROLL(16)
      for (int e = 0; e < width; ++e) same.element[e] = weights.otherwise;
      return same;
    }
  };

  struct ColumnIndices {
    __device__ Pack<int64_t, width> values(int, int64_t k) const {
      Pack<int64_t, width> numbers;
      PHI_UNROLL(16)
      for (int e = 0; e < width; ++e) numbers.element[e] = k + e;
      return numbers;
    }
  };

  template <typename C>
  struct ColumnValuePointers {
    ColumnValues<C>* columns;
    __device__ Pack<C*, width> values(int slot, int64_t) const {
      Pack<C*, width> places;
      PHI_UNROLL(16)
      for (int e = 0; e < width; ++e) places.element[e] = &columns->at[slot].element[e];
      return places;
    }
  };

  template <typename F, typename... C>
  __device__ static void each_element(const F& f, const Pack<C, width>&... packs) {
    PHI_UNROLL(16)
    for (int e = 0; e < width; ++e) f(e, packs.element[e]...);
  }

  /// Calls f(slot, k) for each of the thread's packs of a held row; k is the index of the pack's
  /// first element.
  template <typename F>
  __device__ void each_slot(const F& f) const {
    const int index = Team<threads>::index();
    const int n = static_cast<int>(n_);
    PHI_UNROLL(16)
    for (int slot = 0; slot < held; ++slot) {
      const int k = (slot * threads + index) * width;
      if (k < n) f(slot, int64_t{k});
    }
  }

  /// Calls f(k, packs..) for each of the thread's packs, where k is the index of their first
  /// element. Calls carry() at the end, and also between groups of packs if the row is not held.
  template <typename F, typename Carry, typename... Elements>
  __device__ void each_pack(const F& f, const Carry& carry, const Elements&... elements) const {
    if constexpr (width == 1) {
      in_runs(
          Team<threads>::index(), n_, threads, [&](int64_t k) { f(k, elements.values(0, k)...); },
          carry);
    } else if constexpr (held > 0) {
      each_slot([&](int slot, int64_t k) { f(k, elements.values(slot, k)...); });
      carry();
    } else {
      each_two(f, carry, elements...);
    }
  }

  /// Loads two packs of each array before `f` may write. More would use registers that other blocks
  /// need.
  template <typename F, typename Carry, typename... Elements>
  __device__ void each_two(const F& f, const Carry& carry, const Elements&... elements) const {
    constexpr int64_t kStep = int64_t{threads} * width;
    const auto use = [&](int64_t k, const auto& packs) {
      std::apply([&](const auto&... pack) { f(k, pack...); }, packs);
    };
    int64_t k = int64_t{Team<threads>::index()} * width;
    PHI_UNROLL(1)
    for (; k + kStep < n_; k += 2 * kStep) {
      const auto first = std::make_tuple(elements.values(0, k)...);
      const auto second = std::make_tuple(elements.values(0, k + kStep)...);
      use(k, first);
      use(k + kStep, second);
      carry();
    }
    if (k < n_) use(k, std::make_tuple(elements.values(0, k)...));
    carry();
  }

  /// Calls f(values..) for each of the thread's elements.
  template <typename F, typename Carry, typename... Elements>
  __device__ void each(const F& f, const Carry& carry, const Elements&... elements) const {
    const auto visit = [&](int64_t, const auto&... packs) {
      each_element([&](int, auto... values) { f(values...); }, packs...);
    };
    each_pack(visit, carry, elements...);
  }

  int64_t line_;
  int64_t n_;
  int64_t first_;
  int64_t inner_;
};

template <typename TeamRow, typename Op>
__global__ void __launch_bounds__(TeamRow::kBlockThreads, TeamRow::kLeastBlocks)
    run_rows(AxisLines lines, Op op) {
  constexpr int64_t kTeams = TeamRow::kBlockThreads / TeamRow::kThreads;
  for (int64_t line = blockIdx.x * kTeams + threadIdx.x / TeamRow::kThreads; line < lines.count;
       line += gridDim.x * kTeams) {
    op(TeamRow(lines, line));
  }
}

/// Whether each row of all arrays consists of whole aligned packs and is long enough for a warp.
template <int kWidth, typename... Arrays>
bool are_packed_rows(const AxisLines& lines, const Arrays*... arrays) {
  return lines.n > kMaxSerialLine && lines.is_contiguous() && lines.n % kWidth == 0 &&
         are_pack_aligned<kWidth>(arrays...);
}

/// Calls f.template operator()<Row>() with held rows of at most `held` packs per thread. Returns
/// false, without a call, if the rows are too long, or if `arrays` (T and the dtypes that accompany
/// it) are not aligned to packs.
template <typename T, int held, typename F, typename... Arrays>
bool with_register_rows(const AxisLines& lines, const F& f, const Arrays*... arrays) {
  constexpr int kWidth = pack_width(sizeof(T));
  if constexpr (sizeof(T) < sizeof(double)) {  // doubles would spill
    if (!are_packed_rows<kWidth>(lines, arrays...)) return false;
    const auto with = [&]<int threads, int packs = held>() {
      if (lines.n > int64_t{threads} * kWidth * packs) return false;
      f.template operator()<TeamRow<threads, kWidth, packs>>();
      return true;
    };
    return with.template operator()<kWarp, 1>() || with.template operator()<kWarp>() ||
           with.template operator()<kBlock / 2>() || with.template operator()<kBlock>() ||
           with.template operator()<2 * kBlock>();
  }
  return false;
}

/// Calls op(row) for each row of arrays of T and of the dtypes that accompany it. The team and the
/// access pattern depend on shapes and on whether all `arrays` are aligned to packs; so do the last
/// bits of sums.
template <typename T, typename Op, typename... Arrays>
void for_each_row(const GpuContext& ctx, const AxisLines& lines, const Op& op,
                  const Arrays*... arrays) {
  constexpr int kWidth = pack_width(sizeof(T));
  const auto run = [&]<typename TeamRow>() {
    launch(ctx, run_rows<TeamRow, Op>,
           blocks_for_lines(ctx, lines.count, TeamRow::kThreads, TeamRow::kBlockThreads),
           TeamRow::kBlockThreads, lines, op);
  };
  constexpr int kHeld = 4;  // 64 bytes of each array per thread
  if (lines.count == 0 || with_register_rows<T, kHeld>(lines, run, arrays...)) return;
  if constexpr (sizeof(T) < sizeof(double)) {
    if (are_packed_rows<kWidth>(lines, arrays...))
      return run.template operator()<TeamRow<2 * kBlock, kWidth, 0>>();
  }
  const int threads = threads_for_lines(lines);
  if (threads == 1) return run.template operator()<TeamRow<1, 1, 0>>();
  if (threads == kWarp) return run.template operator()<TeamRow<kWarp, 1, 0>>();
  run.template operator()<TeamRow<kBlock, 1, 0>>();
}

}  // namespace phi::gpu
