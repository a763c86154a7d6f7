// Reads, writes and sums of an array's slices at given places. All gathers and scatters are built
// from these, or from element_positions.h if each element has its own place.
//
//   const Slices slices = Slices::along(x.dims(), axis);
//   read_slices(slices, indices, x.data<T>(), out->mutable_data<T>());
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "phi/core/device/device_context.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/elementwise/binary.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/slices.h"

namespace phi {

/// Slice numbers, counted from the first; a negative number is a slice that is not here, for
/// example on another rank.
using SliceIndices = std::span<const int64_t>;

/// Whether all slices are here.
inline bool are_here(SliceIndices places) {
  int64_t signs = 0;
  for (int64_t place : places) signs |= place;
  return signs >= 0;
}

/// Returns `places` with -1 for those that a later one repeats: the places whose values remain
/// after put_slices.
inline std::vector<int64_t> last_named(const Slices& slices, SliceIndices places) {
  std::vector<int64_t> last(places.begin(), places.end());
  std::vector<bool> is_named(static_cast<size_t>(slices.extent), false);
  for (size_t i = last.size(); i-- > 0;) {
    if (last[i] < 0) continue;
    const auto slice = static_cast<size_t>(last[i]);
    if (is_named[slice]) last[i] = -1;
    is_named[slice] = true;
  }
  return last;
}

/// read_slices for slices of one element.
template <typename T>
void read_elements(const Slices& slices, SliceIndices places, const T* x, T* to) {
  const auto count = static_cast<int64_t>(places.size());
  const int64_t* place = places.data();
  const bool here = are_here(places);
  for (int64_t outer = 0; outer < slices.outer; ++outer, x += slices.extent, to += count) {
    if (here) {
#pragma GCC unroll 8
      for (int64_t i = 0; i < count; ++i) to[i] = x[place[i]];
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = place[i] < 0 ? T{} : x[place[i]];
    }
  }
}

/// Sets `to` [outer, places, inner] to the slices of x, and to zeros for slices that are not here.
template <typename T>
void read_slices(const Slices& slices, SliceIndices places, const T* x, T* to) {
  const int64_t inner = slices.inner;
  if (inner == 1) return read_elements(slices, places, x, to);
  for (int64_t outer = 0; outer < slices.outer; ++outer, x += slices.extent * inner) {
    for (int64_t place : places) {
      to = place < 0 ? std::fill_n(to, inner, T{}) : std::copy_n(x + place * inner, inner, to);
    }
  }
}

/// Writes `from` [outer, places, inner] to the slices of x. If a slice is named several times, the
/// last value stays.
template <typename T>
void put_slices(const Slices& slices, SliceIndices places, const T* from, T* x) {
  const int64_t inner = slices.inner;
  for (int64_t outer = 0; outer < slices.outer; ++outer, x += slices.extent * inner) {
    for (int64_t place : places) {
      if (place >= 0) std::copy_n(from, inner, x + place * inner);
      from += inner;
    }
  }
}

/// Fills the slices of x with `value`.
template <typename T>
void fill_slices(const Slices& slices, SliceIndices places, T value, T* x) {
  const int64_t inner = slices.inner;
  for (int64_t outer = 0; outer < slices.outer; ++outer, x += slices.extent * inner) {
    for (int64_t place : places) {
      if (place >= 0) std::fill_n(x + place * inner, inner, value);
    }
  }
}

/// For each slice, the positions in a list of places that name it, in rising order.
class PositionsBySlice {
 public:
  PositionsBySlice(int64_t extent, SliceIndices places)
      : ends_(static_cast<size_t>(extent) + 1, 0) {
    for (int64_t place : places) {
      if (place >= 0) ++ends_[static_cast<size_t>(place) + 1];
    }
    for (size_t i = 1; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
    positions_.resize(static_cast<size_t>(ends_.back()));
    // ends_ has the starts of the slices here; filling moves each to its end.
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

/// Sums slices in rising order of positions. Half-precision sums are kept in float and rounded
/// once.
template <typename T>
class SliceSums {
 public:
  using C = compute_t<T>;
  SliceSums(const Slices& slices, SliceIndices places)
      : slices_(slices),
        places_(static_cast<int64_t>(places.size())),
        positions_(slices.extent, places),
        sum_(kIs16Bit<T> ? new C[static_cast<size_t>(slices.inner)] : nullptr),
        term_(kIs16Bit<T> ? new C[static_cast<size_t>(slices.inner)] : nullptr) {}

  /// Computes x from `there`, which is x or does not overlap it, and the slices of `from` [outer,
  /// places, inner]. `start` states which slices of `there` are kept.
  void run(SumsFrom start, const T* there, const T* from, T* x) {
    constexpr int64_t kShort = 64;  // elements; below, copying slices one by one costs more
    const int64_t inner = slices_.inner;
    if (start != SumsFrom::kZero && there != x && inner < kShort) {
      std::copy_n(there, slices_.outer * slices_.extent * inner, x);
      there = x;
    }
    for (int64_t outer = 0; outer < slices_.outer; ++outer, from += places_ * inner) {
      for (int64_t slice = 0; slice < slices_.extent; ++slice, x += inner, there += inner) {
        const auto named = positions_.of(slice);
        if (!named.empty()) {
          add_up(start == SumsFrom::kExisting ? there : nullptr, named, from, x);
        } else if (start == SumsFrom::kZero) {
          std::fill_n(x, inner, T{});
        } else if (there != x) {
          std::copy_n(there, inner, x);
        }
      }
    }
  }

 private:
  /// Sets x to `first`, if not null, plus the slices of `from` at `named`, which is not empty.
  void add_up(const T* first, std::span<const int64_t> named, const T* from, T* x) {
    const int64_t inner = slices_.inner;
    if (!first) {
      first = from + named[0] * inner;
      named = named.subspan(1);
      if (named.empty()) return void(std::copy_n(first, inner, x));
    }
    if constexpr (kIs16Bit<T>) {
      convert(first, sum_.get(), inner);
      for (int64_t position : named) {
        convert(from + position * inner, term_.get(), inner);
        add(sum_.get(), term_.get(), sum_.get());
      }
      convert(sum_.get(), x, inner);
    } else {
      for (int64_t position : named) {
        add(first, from + position * inner, x);
        first = x;
      }
    }
  }

  void add(const C* a, const C* b, C* sum) {
    const int64_t inner = slices_.inner;
#pragma GCC ivdep
    for (int64_t i = 0; i < inner; ++i) sum[i] = AddFunctor<C>()(a[i], b[i]);
  }

  Slices slices_;
  int64_t places_;
  PositionsBySlice positions_;
  std::unique_ptr<C[]> sum_;  // buffers of one slice, for half-precision T
  std::unique_ptr<C[]> term_;
};

/// SliceSums for slices of one element. They are added one by one in place, because sorting them by
/// slice would cost more.
template <typename T>
void sum_elements(SumsFrom start, const Slices& slices, SliceIndices places, const T* there,
                  const T* from, T* x) {
  using C = compute_t<T>;
  const auto count = static_cast<int64_t>(places.size());
  const int64_t* place = places.data();
  const bool here = are_here(places);
  RowWriter<T> rows(x, slices.extent);
  for (int64_t outer = 0; outer < slices.outer; ++outer, from += count, there += slices.extent) {
    C* sums = rows.row(outer);
    if (start == SumsFrom::kZero) {
      std::fill_n(sums, slices.extent, C(0));
    } else if (static_cast<const void*>(there) != sums) {
      convert(there, sums, slices.extent);
    }
    if (start == SumsFrom::kWritten) fill_slices({1, slices.extent, 1}, places, C(0), sums);
    const auto add = [=](int64_t i) {
      C& sum = sums[place[i]];
      sum = AddFunctor<C>()(sum, static_cast<C>(from[i]));
    };
    if (here) {
#pragma GCC unroll 4
      for (int64_t i = 0; i < count; ++i) add(i);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        if (place[i] >= 0) add(i);
      }
    }
    rows.done(outer);
  }
}

// Device primitives for the same (gpu/indexing/slices.h has the GPU's).

template <typename W>
void read_slices(const CpuContext&, const Slices& slices, SliceIndices places, const W* x, W* to) {
  read_slices(slices, places, x, to);
}
template <typename W>
void put_slices(const CpuContext&, const Slices& slices, SliceIndices places, const W* from, W* x) {
  put_slices(slices, places, from, x);
}
inline std::vector<int64_t> last_named(const CpuContext&, const Slices& slices,
                                       SliceIndices places) {
  return last_named(slices, places);
}
template <typename T>
void clear_slices(const CpuContext&, const Slices& slices, SliceIndices places, T* x) {
  fill_slices(slices, places, T{}, x);
}
/// Sets x to `there`, of which `start` selects what is kept, plus the slices of `from` [outer,
/// places, inner].
template <typename T>
void add_slices(const CpuContext&, SumsFrom start, const Slices& slices, SliceIndices places,
                const T* there, const T* from, T* x) {
  if (slices.inner == 1) return sum_elements(start, slices, places, there, from, x);
  SliceSums<T>(slices, places).run(start, there, from, x);
}

}  // namespace phi
