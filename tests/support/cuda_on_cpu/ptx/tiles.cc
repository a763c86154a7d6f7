// Tensor core instructions. The layout of wmma tiles is defined by the hardware; here it is the
// emulator's (cuda_on_cpu/tiles.h). Those of mma and ldmatrix are documented, and the emulator's
// functions implement them.
#include "cuda_on_cpu/tiles.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <fmt/format.h>

#include "phi/common/half.h"
#include "phi/gpu/tensor_core.h"
#include "support/cuda_on_cpu/block_state.h"
#include "support/cuda_on_cpu/ptx/counts.h"
#include "support/cuda_on_cpu/ptx/instruction_set.h"

namespace cuda_on_cpu::ptx {
namespace {

constexpr const char* kFile = "PTX";
using phi::gpu::HalfPair;

// ---- ldmatrix and mma ----

template <auto load>
const Instruction* load_matrices(const Instruction& self, Frame& frame) {
  HalfPair to[4];
  const std::byte* row = address_of(self, frame, 4);
  if (kCounts) count_access(self, frame, row, 16);  // eight lanes address one matrix
  load(row, to, kFile, self.line);
  for (size_t i = 0; i < 4; ++i) put<HalfPair>(frame, self.slots[i], to[i]);
  return &self + 1;
}

// mma d[4], a[4], b[2], c[4]
template <class W>
const Instruction* multiply(const Instruction& self, Frame& frame) {
  const auto word = [&](size_t i) { return get<HalfPair>(frame, self.slots[i]); };
  const HalfPair left[4] = {word(4), word(5), word(6), word(7)};
  float sums[4];
  for (size_t i = 0; i < 4; ++i) sums[i] = get<float>(frame, self.slots[10 + i]);
  phi::gpu::multiply_accumulate<W>(left, word(8), word(9), sums, kFile, self.line);
  for (size_t i = 0; i < 4; ++i) put<float>(frame, self.slots[i], sums[i]);
  return &self + 1;
}

// ---- wmma ----

// Register layout of tiles of a type: number of registers, and elements in each that counts.
struct Halves {  // eight registers with one element each; the upper half is unused
  static constexpr size_t kRegisters = 8;
  using Element = uint16_t;
  static float as_float(uint16_t bits) { return phi::detail::half_to_float(bits); }
};
struct Bfloats {  // four registers of two elements
  static constexpr size_t kRegisters = 4;
  using Element = uint16_t;
  static float as_float(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
};
struct Floats {
  static constexpr size_t kRegisters = 8;
  using Element = float;
};

template <class Kind>
typename Kind::Element element(const Instruction& self, const Frame& frame, size_t first,
                               size_t i) {
  if constexpr (Kind::kRegisters == kTileOfLane) {
    return get<typename Kind::Element>(frame, self.slots[first + i]);
  } else {
    return static_cast<uint16_t>(get<uint32_t>(frame, self.slots[first + i / 2]) >> (i % 2 * 16));
  }
}

// wmma.load d.., [address], stride
template <class Kind, bool by_rows>
const Instruction* load_tile(const Instruction& self, Frame& frame) {
  using Element = typename Kind::Element;
  const std::byte* memory = address_of(self, frame, Kind::kRegisters);
  const auto stride = get<uint32_t>(frame, self.slots[Kind::kRegisters + 1]);
  check_tile(memory, stride, sizeof(Element), {kFile, self.line});
  warp_exchange(Exchange::kAny, ~0u, 1, 0, kWarp, {kFile, self.line});  // waits for all lanes
  for (size_t i = 0; i < kTileOfLane; ++i) {
    const auto place = static_cast<size_t>(tile_element(now.current % kWarp, static_cast<int>(i)));
    const size_t at =
        by_rows ? place / kTile * stride + place % kTile : place % kTile * stride + place / kTile;
    Element value;
    std::memcpy(&value, memory + at * sizeof(Element), sizeof(Element));
    if constexpr (Kind::kRegisters == kTileOfLane) {
      put<Element>(frame, self.slots[i], value);
    } else {
      const uint32_t low = i % 2 == 0 ? 0 : get<uint16_t>(frame, self.slots[i / 2]);
      put<uint32_t>(frame, self.slots[i / 2], low | uint32_t{value} << (i % 2 * 16));
    }
  }
  return &self + 1;
}

// wmma.mma d[8], a.., b.., c[8]
template <class Kind>
const Instruction* multiply_tile(const Instruction& self, Frame& frame) {
  std::array<std::array<float, kTileOfLane>, 4> tiles;  // a, b, c, d
  const size_t a = kTileOfLane;
  const size_t b = a + Kind::kRegisters;
  const size_t c = b + Kind::kRegisters;
  for (size_t i = 0; i < kTileOfLane; ++i) {
    tiles[0][i] = Kind::as_float(element<Kind>(self, frame, a, i));
    tiles[1][i] = Kind::as_float(element<Kind>(self, frame, b, i));
    tiles[2][i] = element<Floats>(self, frame, c, i);
  }
  const TileProduct part{
      {multiply_tiles}, tiles[0].data(), tiles[1].data(), tiles[2].data(), tiles[3].data()};
  work_together(part, {kFile, self.line});
  for (size_t i = 0; i < kTileOfLane; ++i) put<float>(frame, self.slots[i], tiles[3][i]);
  return &self + 1;
}

template <class Kind>
void add_loads(Rows& rows, const std::string& type) {
  for (const char* use : {"a", "b", "c"}) {
    const auto name = [&](const char* order) {
      return fmt::format("wmma.load.{}.sync.aligned.{}.m16n16k16.{}", use, order, type);
    };
    rows[name("row")] = load_tile<Kind, true>;
    rows[name("col")] = load_tile<Kind, false>;
  }
}

}  // namespace

void add_tiles(Rows& rows) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.";
  rows[load + "b16"] = load_matrices<phi::gpu::load_matrices>;
  rows[load + "trans.b16"] = load_matrices<phi::gpu::load_transposed_matrices>;
  const std::string mma = "mma.sync.aligned.m16n8k16.row.col.f32.";
  rows[mma + "f16.f16.f32"] = multiply<__half>;
  rows[mma + "bf16.bf16.f32"] = multiply<__nv_bfloat16>;
  add_loads<Halves>(rows, "f16");
  add_loads<Bfloats>(rows, "bf16");
  add_loads<Floats>(rows, "f32");
  for (const char* left : {"row", "col"}) {
    for (const char* right : {"row", "col"}) {
      const std::string begin =
          std::string("wmma.mma.sync.aligned.") + left + "." + right + ".m16n16k16.f32.";
      rows[begin + "f32"] = multiply_tile<Halves>;
      rows[begin + "bf16.bf16.f32"] = multiply_tile<Bfloats>;
    }
  }
}

}  // namespace cuda_on_cpu::ptx
