// Gathers lines of arrays, L at a time, into blocks, and scatters blocks back. A block has rows of
// L lanes. For real lines, row t has element t of each line; for complex lines, row 2t has the real
// parts and row 2t + 1 the imaginary parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/kernels/cpu/fft/butterflies.h"
#include "phi/kernels/cpu/fft/line_grid.h"

namespace phi {

/// Offsets of the first elements of up to L lines. Lanes without a line have the offset of the
/// first line.
template <int L>
struct LineOffsets {
  PHI_LANES LineOffsets(const LineGrid& grid, const LineStrides& strides, int64_t first) {
    step = strides.step;
    count = static_cast<int>(std::min<int64_t>(L, grid.outer * grid.inner - first));
    int64_t o = first, i = 0;
    if (grid.inner > 1) o = first / grid.inner, i = first % grid.inner;  // divisions are slow
    neighbours = strides.inner == 1 && count == L && i + L <= grid.inner;
    for (int l = 0; l < L; ++l) {
      begin[l] = l < count ? o * strides.outer + i * strides.inner : begin[0];
      if (++i == grid.inner) ++o, i = 0;
    }
  }
  int64_t begin[L];
  int64_t step;
  int count;
  bool neighbours;  // L lines, each one element after the previous one
};

/// Prefetches memory that is read or written soon.
template <typename R>
PHI_LANES void prefetch_line(const R* begin, int64_t count) {
  for (int64_t i = 0; i < count; i += 64 / sizeof(R)) __builtin_prefetch(begin + i, 1);
}

namespace detail {

/// Gathers L rows of x into rows of the block that are `apart` rows apart, in whole L x L squares.
/// Returns the number of rows that were gathered; `rows` is the number wanted.
template <typename R, int L>
PHI_LANES int64_t gather_squares(const R* x, const LineOffsets<L>& at, int64_t parts, int64_t rows,
                                 int64_t apart, Lanes<R, L>* block) {
  const int64_t whole = rows / L * L;
  for (int64_t t = 0; t < whole; t += L) {
    Lanes<R, L> square[L];
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l) square[l] = Lanes<R, L>::at(x + at.begin[l] * parts + t);
    transpose(square);
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l) block[(t + l) * apart] = square[l];
  }
  return whole;
}

template <typename R, int L>
PHI_LANES int64_t scatter_squares(const Lanes<R, L>* block, const LineOffsets<L>& at, int64_t parts,
                                  int64_t rows, int64_t apart, R* out) {
  const int64_t whole = rows / L * L;
  for (int64_t t = 0; t < whole; t += L) {
    Lanes<R, L> square[L];
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l) {
      __builtin_prefetch(out + at.begin[l] * parts + t, 1);  // in time for the stores below
      square[l] = block[(t + l) * apart];
    }
    transpose(square);
#pragma GCC unroll 16
    for (int l = 0; l < L; ++l) {
      if (l < at.count) square[l].put(out + at.begin[l] * parts + t);
    }
  }
  return whole;
}

}  // namespace detail

/// Gathers `rows` elements of each real line into every `apart`-th row of the block.
template <typename R, int L>
PHI_LANES void gather_real(const R* x, const LineOffsets<L>& at, int64_t rows, int64_t apart,
                           lanes_t<R, L>* block) {
  int64_t t = 0;
  if constexpr (L > 1) {
    if (at.neighbours) {
      const R* from = x + at.begin[0];
      for (; t < rows; ++t) block[t * apart] = Lanes<R, L>::at(from + t * at.step);
    } else if (at.step == 1) {
      t = detail::gather_squares(x, at, 1, rows, apart, block);
    }
  } else if (at.step == 1 && apart == 1) {
    std::copy_n(x + at.begin[0], rows, block);
    t = rows;
  }
  for (R* to = reinterpret_cast<R*>(block); t < rows; ++t) {
    for (int l = 0; l < L; ++l) to[t * apart * L + l] = x[at.begin[l] + t * at.step];
  }
}

/// Scatters every `apart`-th row of the block to real lines.
template <typename R, int L>
PHI_LANES void scatter_real(const lanes_t<R, L>* block, const LineOffsets<L>& at, int64_t rows,
                            int64_t apart, R* out) {
  int64_t t = 0;
  if constexpr (L > 1) {
    if (at.neighbours) {
      R* to = out + at.begin[0];
      for (; t < rows; ++t) block[t * apart].put(to + t * at.step);
    } else if (at.step == 1) {
      t = detail::scatter_squares(block, at, 1, rows, apart, out);
    }
  } else if (at.step == 1 && apart == 1) {
    std::copy_n(block, rows, out + at.begin[0]);
    t = rows;
  }
  for (const R* from = reinterpret_cast<const R*>(block); t < rows; ++t) {
    for (int l = 0; l < at.count; ++l) out[at.begin[l] + t * at.step] = from[t * apart * L + l];
  }
}

/// Gather and scatter L adjacent complex lines: `count` rows of L elements, `apart` elements from
/// one row to the next.
template <typename R, int L>
PHI_LANES void gather_neighbours(const R* x, int64_t apart, int64_t count, Lanes<R, L>* block) {
  for (int64_t t = 0; t < count; ++t, x += 2 * apart) {
    const auto z = numbers_at<L>(x);
    block[2 * t] = z.re;
    block[2 * t + 1] = z.im;
  }
}
template <typename R, int L>
PHI_LANES void scatter_neighbours(const Lanes<R, L>* block, int64_t apart, int64_t count, R* out) {
  for (int64_t t = 0; t < count; ++t, out += 2 * apart) {
    put_numbers<L>(ComplexLanes<Lanes<R, L>>{block[2 * t], block[2 * t + 1]}, out);
  }
}

/// Gathers `count` complex elements of each line; in x, imaginary parts follow their real parts.
template <typename R, int L>
PHI_LANES void gather_complex(const R* x, const LineOffsets<L>& at, int64_t count,
                              lanes_t<R, L>* block) {
  int64_t t = 0;
  if constexpr (L > 1) {
    if (at.neighbours) {
      gather_neighbours(x + 2 * at.begin[0], at.step, count, block);
      t = count;
    } else if (at.step == 1) {
      t = detail::gather_squares(x, at, 2, 2 * count, 1, block) / 2;
    }
  } else if (at.step == 1) {
    std::copy_n(x + 2 * at.begin[0], 2 * count, block);
    t = count;
  }
  for (R* to = reinterpret_cast<R*>(block); t < count; ++t) {
    for (int l = 0; l < L; ++l) {
      const R* from = x + 2 * (at.begin[l] + t * at.step);
      to[2 * t * L + l] = from[0];
      to[(2 * t + 1) * L + l] = from[1];
    }
  }
}

template <typename R, int L>
PHI_LANES void scatter_complex(const lanes_t<R, L>* block, const LineOffsets<L>& at, int64_t count,
                               R* out) {
  int64_t t = 0;
  if constexpr (L > 1) {
    if (at.neighbours) {
      scatter_neighbours(block, at.step, count, out + 2 * at.begin[0]);
      t = count;
    } else if (at.step == 1) {
      t = detail::scatter_squares(block, at, 2, 2 * count, 1, out) / 2;
    }
  } else if (at.step == 1) {
    std::copy_n(block, 2 * count, out + 2 * at.begin[0]);
    t = count;
  }
  for (const R* from = reinterpret_cast<const R*>(block); t < count; ++t) {
    for (int l = 0; l < at.count; ++l) {
      R* to = out + 2 * (at.begin[l] + t * at.step);
      to[0] = from[2 * t * L + l];
      to[1] = from[(2 * t + 1) * L + l];
    }
  }
}

}  // namespace phi
