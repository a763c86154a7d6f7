// CPU implementation of phi/gpu/tensor_core.h, with the layouts of the PTX ISA.
#include "phi/gpu/tensor_core.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "cuda_on_cpu/tiles.h"
#include "support/cuda_on_cpu/blocks.h"
#include "support/cuda_on_cpu/failure.h"

namespace phi::gpu {
namespace {

using cuda_on_cpu::WarpWork;

constexpr int kEdge = 8;  // edge of an instruction's matrices
constexpr int kLanes = 32;

int group_of(int lane) { return lane / 4; }
int thread_of(int lane) { return lane % 4; }

template <class Part>
const Part& part_of(const WarpWork::Lanes& lanes, int lane) {
  return static_cast<const Part&>(*lanes[static_cast<size_t>(lane)]);
}

HalfPair pair(uint16_t low, uint16_t high) { return low | static_cast<HalfPair>(high) << 16; }

// ---- ldmatrix ----

struct Matrices : WarpWork {
  std::array<uint16_t, kEdge> row;  // row that this lane addresses
  HalfPair* to;
};

void hand_out_rows(const WarpWork::Lanes& lanes) {
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int m = 0; m < 4; ++m) {
      const auto& row = part_of<Matrices>(lanes, kEdge * m + group_of(lane)).row;
      const auto t = static_cast<size_t>(2 * thread_of(lane));
      part_of<Matrices>(lanes, lane).to[m] = pair(row[t], row[t + 1]);
    }
  }
}

void hand_out_columns(const WarpWork::Lanes& lanes) {
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int m = 0; m < 4; ++m) {
      const int first = kEdge * m + 2 * thread_of(lane);
      const auto g = static_cast<size_t>(group_of(lane));
      part_of<Matrices>(lanes, lane).to[m] =
          pair(part_of<Matrices>(lanes, first).row[g], part_of<Matrices>(lanes, first + 1).row[g]);
    }
  }
}

void load(void (*run)(const WarpWork::Lanes&), const void* row, HalfPair (&to)[4],
          const cuda_on_cpu::Site& site) {
  if (reinterpret_cast<uintptr_t>(row) % 16 != 0) {
    cuda_on_cpu::fail(
        fmt::format("a row of a matrix at {}, at {}:{}: ldmatrix needs an address that "
                    "is a multiple of 16 bytes, in {}",
                    row, site.file, site.line, cuda_on_cpu::where_now()));
  }
  Matrices part{{run}, {}, to};
  std::memcpy(part.row.data(), row, sizeof(part.row));
  cuda_on_cpu::work_together(part, site);
}

// ---- mma.m16n8k16 ----

template <class W>
float value(HalfPair pair, int which) {
  const auto bits = static_cast<uint16_t>(pair >> (16 * which));
  W number;
  std::memcpy(static_cast<void*>(&number), &bits, sizeof(number));
  return static_cast<float>(number);
}

struct Product : WarpWork {
  const HalfPair* left;
  std::array<HalfPair, 2> right;
  float* sums;
};

template <class W>
void multiply(const WarpWork::Lanes& lanes) {
  std::array<std::array<float, 16>, 16> left{};  // row-major
  std::array<std::array<float, 16>, 8> right{};  // column-major
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto& part = part_of<Product>(lanes, lane);
    const auto g = static_cast<size_t>(group_of(lane));
    for (int i = 0; i < 2; ++i) {
      const auto t = static_cast<size_t>(2 * thread_of(lane) + i);
      for (size_t word = 0; word < 4; ++word)
        left[g + word % 2 * 8][t + word / 2 * 8] = value<W>(part.left[word], i);
      for (size_t word = 0; word < 2; ++word)
        right[g][t + word * 8] = value<W>(part.right[word], i);
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    for (size_t e = 0; e < 4; ++e) {
      const size_t row = static_cast<size_t>(group_of(lane)) + e / 2 * 8;
      const size_t column = static_cast<size_t>(2 * thread_of(lane)) + e % 2;
      float sum = part_of<Product>(lanes, lane).sums[e];
      for (size_t k = 0; k < 16; ++k) sum += left[row][k] * right[column][k];
      part_of<Product>(lanes, lane).sums[e] = sum;
    }
  }
}

}  // namespace

void load_matrices(const void* row, HalfPair (&to)[4], const char* file, int line) {
  load(hand_out_rows, row, to, {file, line});
}
void load_transposed_matrices(const void* row, HalfPair (&to)[4], const char* file, int line) {
  load(hand_out_columns, row, to, {file, line});
}

template <typename W>
void multiply_accumulate(const HalfPair (&left)[4], HalfPair right_above, HalfPair right_below,
                         float (&sums)[4], const char* file, int line) {
  const Product part{{multiply<W>}, left, {right_above, right_below}, sums};
  cuda_on_cpu::work_together(part, {file, line});
}
template void multiply_accumulate<__half>(const HalfPair (&)[4], HalfPair, HalfPair, float (&)[4],
                                          const char*, int);
template void multiply_accumulate<__nv_bfloat16>(const HalfPair (&)[4], HalfPair, HalfPair,
                                                 float (&)[4], const char*, int);

}  // namespace phi::gpu
