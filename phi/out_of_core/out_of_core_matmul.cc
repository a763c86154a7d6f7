// Orders the blocks of a matmul, and loops over them.
#include "phi/out_of_core/out_of_core_matmul.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "phi/common/errors.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/out_of_core/block_reader.h"
#include "phi/out_of_core/tile_writer.h"

namespace phi::memory {
namespace {

void check_array(const BlockedArray& x, const char* name, DataType dtype) {
  PHI_CHECK(x.dtype == dtype,
            errors::InvalidArgument("{} is {}, c is {}; all must be of one dtype.", name,
                                    name_of(x.dtype), name_of(dtype)));
  PHI_CHECK(
      x.rows >= 0 && x.columns >= 0 && x.offset >= 0 && x.row_stride >= x.columns,
      errors::InvalidArgument("{} is [{}, {}] from element {} on with a row stride of {} elements; "
                              "extents must be 0 or more and rows must not overlap.",
                              name, x.rows, x.columns, x.offset, x.row_stride));
  if (x.tier != Tier::kDisk || x.rows == 0 || x.columns == 0) return;
  PHI_CHECK(x.pages, errors::InvalidArgument("{} is marked as on disk, but has no pages.", name));
  const int64_t end = x.byte_of(x.rows - 1, x.columns);
  PHI_CHECK(end <= static_cast<int64_t>(x.pages->size()),
            errors::InvalidArgument("{} ends at byte {} of {}, which has {}; extend it first.",
                                    name, end, x.pages->name(), x.pages->size()));
}

void check_arrays(const MatmulArrays& arrays) {
  const DataType dtype = arrays.c.dtype;
  PHI_CHECK(dtype == DataType::FLOAT32 || dtype == DataType::FLOAT64 || dtype == DataType::BFLOAT16,
            errors::InvalidArgument("c is {}; blocks are multiplied in float32, float64 or "
                                    "bfloat16.",
                                    name_of(dtype)));
  check_array(arrays.a, "a", dtype);
  check_array(arrays.b, "b", dtype);
  check_array(arrays.c, "c", dtype);
  const int64_t m = arrays.trans_a ? arrays.a.columns : arrays.a.rows;
  const int64_t k = arrays.trans_b ? arrays.b.columns : arrays.b.rows;
  const int64_t n = arrays.trans_b ? arrays.b.rows : arrays.b.columns;
  PHI_CHECK(
      m == arrays.m() && n == arrays.n() && k == arrays.k(),
      errors::InvalidArgument("op(a) is [{}, {}], op(b) is [{}, {}], op(c) is [{}, {}]; they must "
                              "be [m, k], [k, n] and [m, n].",
                              m, arrays.k(), k, n, arrays.m(), arrays.n()));
}

/// A range of indices along one dim of the matmul.
struct IndexRange {
  int64_t begin;
  int64_t size;
};
IndexRange part_of(int64_t n, int64_t part, int64_t index) {
  return {index * part, std::min(part, n - index * part)};
}
int64_t parts_of(int64_t n, int64_t part) { return n == 0 ? 1 : (n + part - 1) / part; }

/// One GEMM of blocks.
struct BlockGemm {
  IndexRange m, n, k;
};

Block stored_block(IndexRange rows, IndexRange columns, bool trans) {
  if (trans) std::swap(rows, columns);
  return {rows.begin, columns.begin, rows.size, columns.size};
}

std::vector<BlockGemm> steps_of(const MatmulArrays& arrays, const MatmulBlocks& blocks) {
  const int64_t rows = parts_of(arrays.m(), blocks.m), columns = parts_of(arrays.n(), blocks.n);
  const int64_t sums = parts_of(arrays.k(), blocks.k);
  std::vector<BlockGemm> steps;
  for (int64_t tile = 0; tile < rows * columns; ++tile) {
    const int64_t i = blocks.by_columns ? tile % rows : tile / columns;
    const int64_t j = blocks.by_columns ? tile / rows : tile % columns;
    for (int64_t p = 0; p < sums; ++p) {
      steps.push_back({part_of(arrays.m(), blocks.m, i), part_of(arrays.n(), blocks.n, j),
                       part_of(arrays.k(), blocks.k, p)});
    }
  }
  return steps;
}

/// Blocks in the order of their use. A block that consecutive steps use is one entry.
template <typename BlockOf>
std::vector<BlockUse> uses_of(const std::vector<BlockGemm>& steps, const BlockOf& block_of) {
  std::vector<BlockUse> uses;
  for (size_t step = 0; step < steps.size(); ++step) {
    const Block block = block_of(steps[step]);
    const auto at = static_cast<int64_t>(step);
    const bool stays = !uses.empty() && uses.back().block.row == block.row &&
                       uses.back().block.column == block.column;
    if (stays) {
      uses.back().last_step = at;
    } else {
      uses.push_back({block, at, at});
    }
  }
  return uses;
}

BlockReader reader_of(const BlockedArray& array, bool trans, int64_t rows, int64_t columns,
                      int slots, std::vector<BlockUse> uses, DeviceArena* arena) {
  if (trans) std::swap(rows, columns);
  return BlockReader(array, rows, columns, slots, std::move(uses), arena);
}

template <typename T>
OutOfCoreStats multiply(const MatmulArrays& arrays, const MatmulBlocks& blocks, int64_t limit) {
  using Sum = accumulator_t<T>;
  const std::vector<BlockGemm> steps = steps_of(arrays, blocks);
  DeviceArena arena(limit);
  arena.reserve(blocks.workspace_bytes);
  BlockReader a = reader_of(
      arrays.a, arrays.trans_a, blocks.m, blocks.k, blocks.a_slots,
      uses_of(steps, [&](const BlockGemm& s) { return stored_block(s.m, s.k, arrays.trans_a); }),
      &arena);
  BlockReader b = reader_of(
      arrays.b, arrays.trans_b, blocks.k, blocks.n, blocks.b_slots,
      uses_of(steps, [&](const BlockGemm& s) { return stored_block(s.k, s.n, arrays.trans_b); }),
      &arena);
  TileWriter c(arrays.c, blocks.n, blocks.tile_bytes, blocks.staging_bytes, &arena);
  for (size_t at = 0; at < steps.size(); ++at) {
    const auto& [m, n, k] = steps[at];
    const auto step = static_cast<int64_t>(at);
    a.advance(step);
    b.advance(step);
    const BlockView left = a.wait(step), right = b.wait(step);
    const Block tile{m.begin, n.begin, m.size, n.size};
    gemm<T, Sum>({m.size, n.size, k.size, arrays.trans_a, arrays.trans_b}, Sum(1),
                 reinterpret_cast<const T*>(left.data), left.row_stride,
                 reinterpret_cast<const T*>(right.data), right.row_stride,
                 k.begin == 0 ? Sum(0) : Sum(1), reinterpret_cast<Sum*>(c.tile_of(tile)),
                 c.tile_stride(tile));
    if (k.begin + k.size == arrays.k()) c.put(tile);
  }
  c.finish();
  return {blocks, arena.held(), static_cast<int64_t>(steps.size()),
          a.bytes_read() + b.bytes_read() + c.bytes_read(), c.bytes_written()};
}

}  // namespace

OutOfCoreStats out_of_core_matmul(const MatmulArrays& arrays, const OutOfCoreOptions& options) {
  check_arrays(arrays);
  if (arrays.m() == 0 || arrays.n() == 0) return {};
  const MatmulArrays stored = with_c_as_stored(arrays);
  const MatmulBlocks blocks = plan_blocks(stored, options.limit, options.costs);
  switch (stored.c.dtype) {
    case DataType::FLOAT64:
      return multiply<double>(stored, blocks, options.limit);
    case DataType::BFLOAT16:
      return multiply<bfloat16>(stored, blocks, options.limit);
    default:
      return multiply<float>(stored, blocks, options.limit);
  }
}

}  // namespace phi::memory
