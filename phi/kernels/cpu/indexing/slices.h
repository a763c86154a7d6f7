// Slices of an array at given places: reading them, writing them and adding to them. All gathers
// and scatters are made of this, and of element_places.h where each element has its own place.
//
//   const Slices slices = Slices::along(x.dims(), axis);
//   read_slices(slices, places, x.data<T>(), out->mutable_data<T>());
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "phi/common/dims.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/binary.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// Which slice, counted from the first; a negative one is elsewhere, on another rank say.
using Places = std::span<const int64_t>;

/// A row-major array as [outer, extent, inner]: slice `i` is [:, i, :].
struct Slices {
  int64_t outer;
  int64_t extent;
  int64_t inner;

  /// Of one tensor dim.
  static Slices along(const Dims& dims, int axis) {
    return {dims.numel(0, axis), dims[axis], dims.numel(axis + 1, dims.ndim())};
  }
  /// Of the first `count` tensor dims, counted as one.
  static Slices of_first(const Dims& dims, int count) {
    return {1, dims.numel(0, count), dims.numel(count, dims.ndim())};
  }
};

/// to [outer, places, inner]: the slices of x, zeros for those elsewhere.
template <typename T>
void read_slices(const Slices& slices, Places places, const T* x, T* to) {
  const int64_t inner = slices.inner;
  for (int64_t outer = 0; outer < slices.outer; ++outer, x += slices.extent * inner) {
    if (inner == 1) {
      for (int64_t place : places) *to++ = place < 0 ? T{} : x[place];
      continue;
    }
    for (int64_t place : places) {
      to = place < 0 ? std::fill_n(to, inner, T{}) : std::copy_n(x + place * inner, inner, to);
    }
  }
}

/// The slices of x become those of `from` [outer, places, inner]; of several for one the last.
template <typename T>
void put_slices(const Slices& slices, Places places, const T* from, T* x) {
  const int64_t inner = slices.inner;
  for (int64_t outer = 0; outer < slices.outer; ++outer, x += slices.extent * inner) {
    for (int64_t place : places) {
      if (place >= 0) std::copy_n(from, inner, x + place * inner);
      from += inner;
    }
  }
}

/// The slices of x become `value`.
template <typename T>
void fill_slices(const Slices& slices, Places places, T value, T* x) {
  const int64_t inner = slices.inner;
  for (int64_t outer = 0; outer < slices.outer; ++outer, x += slices.extent * inner) {
    for (int64_t place : places) {
      if (place >= 0) std::fill_n(x + place * inner, inner, value);
    }
  }
}

/// For each slice the positions in a list of places that name it, in rising order.
class PositionsBySlice {
 public:
  PositionsBySlice(int64_t extent, Places places) : ends_(static_cast<size_t>(extent) + 1, 0) {
    for (int64_t place : places) {
      if (place >= 0) ++ends_[static_cast<size_t>(place) + 1];
    }
    for (size_t i = 1; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
    positions_.resize(static_cast<size_t>(ends_.back()));
    // Now the starts of the slices; filling moves each up to its end.
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0) continue;
      positions_[static_cast<size_t>(ends_[static_cast<size_t>(places[i])]++)] =
          static_cast<int64_t>(i);
    }
  }

  int64_t slices() const { return static_cast<int64_t>(ends_.size()) - 1; }
  std::span<const int64_t> of(int64_t slice) const {
    const auto at = static_cast<size_t>(slice);
    const int64_t begin = at == 0 ? 0 : ends_[at - 1];
    return {positions_.data() + begin, static_cast<size_t>(ends_[at] - begin)};
  }

 private:
  std::vector<int64_t> ends_;
  std::vector<int64_t> positions_;
};

/// What a slice is before something is added to it.
enum class SumsFrom : uint8_t {
  kZero,        // all slices become sums, of nothing: zeros
  kWritten,     // those that are named become sums, others stay
  kWhatIsThere  // sums are added to what is there
};

/// Adds slices up: each is written once, from float sums in rising order of positions where T is a
/// 16-bit float.
template <typename T>
class SliceSums {
 public:
  using C = compute_t<T>;
  SliceSums(const Slices& slices, Places places)
      : slices_(slices),
        places_(static_cast<int64_t>(places.size())),
        positions_(slices.extent, places),
        sum_(new C[static_cast<size_t>(slices.inner)]),
        term_(kIs16Bit<T> ? new C[static_cast<size_t>(slices.inner)] : nullptr) {}

  /// `from` is [outer, places, inner].
  void run(SumsFrom start, const T* from, T* x) {
    const int64_t inner = slices_.inner;
    for (int64_t outer = 0; outer < slices_.outer; ++outer, from += places_ * inner) {
      for (int64_t slice = 0; slice < slices_.extent; ++slice, x += inner) {
        const auto named = positions_.of(slice);
        if (!named.empty()) {
          add_up(start, named, from, x);
        } else if (start == SumsFrom::kZero) {
          std::fill_n(x, inner, T{});
        }
      }
    }
  }

 private:
  void add_up(SumsFrom start, std::span<const int64_t> named, const T* from, T* x) {
    const int64_t inner = slices_.inner;
    if (start != SumsFrom::kWhatIsThere) {
      const T* first = from + named[0] * inner;
      named = named.subspan(1);
      if (named.empty()) return void(std::copy_n(first, inner, x));
      convert(first, sum_.get(), inner);
    } else {
      convert(x, sum_.get(), inner);
    }
    for (int64_t position : named) add(from + position * inner);
    convert(sum_.get(), x, inner);
  }

  void add(const T* slice) {
    const C* term = term_.get();
    if constexpr (kIs16Bit<T>) {
      convert(slice, term_.get(), slices_.inner);
    } else {
      term = slice;
    }
    C* sum = sum_.get();
#pragma GCC ivdep
    for (int64_t i = 0; i < slices_.inner; ++i) sum[i] = AddFunctor<C>()(sum[i], term[i]);
  }

  Slices slices_;
  int64_t places_;
  PositionsBySlice positions_;
  std::unique_ptr<C[]> sum_;
  std::unique_ptr<C[]> term_;  // a slice of 16-bit T
};

}  // namespace phi
