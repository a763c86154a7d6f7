// Enumerates block sizes, and computes their memory and estimated time.
//
// Each block of a and b is read once per tile that needs it, unless the previous tile needs the
// same block. Reads, writes and computation overlap, except for the first blocks, which must be
// read before the computation begins, and the last tile, which is written after it.
#include "phi/out_of_core/block_plan.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "phi/common/errors.h"
#include "phi/out_of_core/block_layout.h"

namespace phi::memory {
namespace {

constexpr int64_t kWidenedRows = 256;  // rows of a that half-precision kernels widen at once
// The time of a GEMM is estimated as if its extents were longer by these.
constexpr double kTileOverhead = 16;
constexpr double kSumOverhead = 32;
// Fraction of the shorter of compute and I/O time by which the longer one is extended, because they
// share cores and memory.
constexpr double kInterference = 0.1;

constexpr int64_t plan_parts(int64_t n, int64_t part) { return n == 0 ? 1 : (n + part - 1) / part; }

/// Candidate extents of blocks: n divided into equal parts, rounded if they are long.
std::vector<int64_t> extents_of(int64_t n) {
  std::vector<int64_t> out;
  const auto add = [&](int64_t extent) {
    const int64_t round = extent >= 2048 ? 1024 : extent >= 256 ? 64 : 1;
    extent = std::min(n, (extent + round - 1) / round * round);
    if (out.empty() || out.back() != extent) out.push_back(extent);
  };
  for (int64_t parts = 1; parts < n; parts *= 2) {
    add((n + parts - 1) / parts);
    if (parts > 1) add((n + parts * 3 / 2 - 1) / (parts * 3 / 2));
  }
  add(std::min<int64_t>(n, 1));
  return out;
}

/// One operand of a plan: the layout of its blocks, and how often they are read.
struct Operand {
  BlockLayout layout;
  DiskCost once;  // cost to read the whole operand once
  double passes = 1;
  int slots = 0;
};

class Candidate {
 public:
  Candidate(const MatmulArrays& arrays, const MatmulCosts& costs, const MatmulBlocks& blocks)
      : arrays_(arrays), costs_(costs), blocks_(blocks) {
    rows_ = plan_parts(arrays.m(), blocks.m);
    columns_ = plan_parts(arrays.n(), blocks.n);
    sums_ = plan_parts(arrays.k(), blocks.k);
    a_ = operand(arrays.a, arrays.trans_a, blocks.m, blocks.k, rows_ * sums_,
                 stays(blocks.by_columns, rows_) ? 1 : columns_);
    b_ = operand(arrays.b, arrays.trans_b, blocks.k, blocks.n, columns_ * sums_,
                 stays(!blocks.by_columns, columns_) ? 1 : rows_);
  }

  /// The blocks, with staging buffers for tiles that are written in `parts` parts.
  MatmulBlocks with_staging(int64_t parts) const {
    MatmulBlocks out = blocks_;
    out.a_slots = a_.slots;
    out.b_slots = b_.slots;
    if (!sums_in_place(arrays_)) {
      const int64_t sum_bytes = arrays_.c.dtype == DataType::FLOAT64 ? 8 : 4;
      out.tile_bytes = pages(out.m * out.n * sum_bytes);
    }
    const int64_t staged_rows = plan_parts(out.m, parts);
    out.staging_bytes = staging_bytes_for(arrays_.c, staged_rows, out.n);
    if (size_of(arrays_.c.dtype) == 2) {
      out.workspace_bytes = 4 * (out.k * out.n + std::min(kWidenedRows, out.m) * (out.k + out.n));
    }
    out.device_bytes = out.a_slots * a_.layout.buffer_bytes + out.b_slots * b_.layout.buffer_bytes +
                       out.tile_bytes + 2 * out.staging_bytes + out.workspace_bytes;
    out.seconds = seconds(out, staged_rows);
    return out;
  }

 private:
  static int64_t pages(int64_t nbytes) {
    return static_cast<int64_t>(round_to_pages(static_cast<size_t>(nbytes)));
  }
  /// Whether consecutive tiles use the same block of an operand. `moves_first`: the block changes
  /// with each tile, unless there is only one.
  bool stays(bool moves_first, int64_t blocks) const {
    return sums_ == 1 && (!moves_first || blocks == 1);
  }
  static Operand operand(const BlockedArray& array, bool trans, int64_t rows, int64_t columns,
                         int64_t blocks, int64_t passes) {
    if (trans) std::swap(rows, columns);
    Operand out;
    out.layout = layout_of(array, rows, columns);
    out.once = read_cost(array, out.layout, rows, columns);
    out.passes = static_cast<double>(passes);
    out.slots = array.tier == Tier::kDevice ? 0 : blocks * passes == 1 ? 1 : 2;
    return out;
  }
  double disk_seconds(double bytes, double requests) const {
    return bytes / costs_.disk_bytes_per_s + requests * costs_.request_s;
  }
  static double overlapped(double x, double y) {
    return std::max(x, y) + kInterference * std::min(x, y);
  }
  double all_reads(const Operand& x) const {
    return x.passes * disk_seconds(x.once.bytes, x.once.requests);
  }
  double first_read(const Operand& x, int64_t blocks) const {
    return disk_seconds(x.once.bytes, x.once.requests) / static_cast<double>(blocks);
  }
  double copies_seconds() const {
    const auto of = [&](const BlockedArray& x, double passes) {
      const auto bytes = static_cast<double>(x.rows * x.columns * x.element_bytes());
      return x.tier == Tier::kHost ? passes * bytes / costs_.memory_bytes_per_s : 0.0;
    };
    return of(arrays_.a, a_.passes) + of(arrays_.b, b_.passes) + of(arrays_.c, 1);
  }
  double compute_seconds() const {
    const auto m = static_cast<double>(arrays_.m()), n = static_cast<double>(arrays_.n());
    const auto k = static_cast<double>(arrays_.k());
    const auto longer = [](int64_t extent, double by) {
      return 1 + by / static_cast<double>(std::max<int64_t>(1, extent));
    };
    const double slower = longer(blocks_.m, kTileOverhead) * longer(blocks_.n, kTileOverhead) *
                          longer(blocks_.k, kSumOverhead);
    const double summed_again = static_cast<double>(sums_ - 1) * 2 * 4 * m * n;
    return 2 * m * n * k * slower / costs_.flops_per_s + summed_again / costs_.memory_bytes_per_s +
           copies_seconds();
  }
  double seconds(const MatmulBlocks& blocks, int64_t staged_rows) const {
    const double first = std::max(first_read(a_, rows_ * sums_), first_read(b_, columns_ * sums_));
    const double reads = all_reads(a_) + all_reads(b_);
    if (arrays_.c.tier != Tier::kDisk) return first + overlapped(compute_seconds(), reads);
    const auto tile = static_cast<double>(blocks.m * blocks.n * arrays_.c.element_bytes());
    const auto tiles = static_cast<double>(rows_ * columns_);
    // The part of a tile that is not written concurrently with the next tile: all but two buffers.
    const double unstaged =
        tile * std::max(0.0, 1 - 2 * static_cast<double>(staged_rows) /
                                     static_cast<double>(std::max<int64_t>(1, blocks.m)));
    const DiskCost cost =
        write_cost(arrays_.c, layout_of(arrays_.c, blocks.m, blocks.n), staged_rows, blocks.n);
    const double writes = disk_seconds(cost.bytes, cost.requests);
    const double compute = compute_seconds() + tiles * disk_seconds(unstaged, 0);
    return first + overlapped(compute, reads + writes) + disk_seconds(tile - unstaged, 0);
  }

  const MatmulArrays& arrays_;
  const MatmulCosts& costs_;
  const MatmulBlocks& blocks_;
  int64_t rows_, columns_, sums_;  // blocks of m, n and k
  Operand a_, b_;
};

/// Calls `see` with every candidate plan.
template <typename F>
void for_each_plan(const MatmulArrays& given, const MatmulCosts& costs, const F& see) {
  const MatmulArrays arrays = with_c_as_stored(given);
  const auto ms = extents_of(arrays.m()), ns = extents_of(arrays.n()), ks = extents_of(arrays.k());
  for (const int64_t m : ms) {
    for (const int64_t n : ns) {
      for (const int64_t k : ks) {
        for (const bool by_columns : {false, true}) {
          const MatmulBlocks blocks{.m = m, .n = n, .k = k, .by_columns = by_columns};
          const Candidate candidate(arrays, costs, blocks);
          // A staging buffer has room for a whole tile, an eighth of it, or a single row.
          for (const int64_t parts : {int64_t{1}, int64_t{8}, m})
            see(candidate.with_staging(parts));
        }
      }
    }
  }
}

}  // namespace

MatmulArrays with_c_as_stored(const MatmulArrays& arrays) {
  if (!arrays.trans_c) return arrays;
  return {arrays.b, arrays.a, arrays.c, !arrays.trans_b, !arrays.trans_a, false};
}

bool sums_in_place(const MatmulArrays& arrays) {
  return arrays.c.tier == Tier::kDevice && size_of(arrays.c.dtype) > 2;
}

int64_t staging_bytes_for(const BlockedArray& c, int64_t rows, int64_t columns) {
  return c.tier == Tier::kDisk ? layout_of(c, rows, columns).buffer_bytes : 0;
}

MatmulBlocks plan_blocks(const MatmulArrays& arrays, int64_t limit, const MatmulCosts& costs) {
  MatmulBlocks best{.seconds = std::numeric_limits<double>::infinity()};
  for_each_plan(arrays, costs, [&](const MatmulBlocks& plan) {
    if (plan.device_bytes > limit) return;
    if (plan.seconds < best.seconds ||
        (plan.seconds == best.seconds && plan.device_bytes < best.device_bytes)) {
      best = plan;
    }
  });
  PHI_CHECK(best.m > 0 || arrays.m() == 0,
            errors::ResourceExhausted(
                "a matmul of m={}, n={}, k={} does not fit in {} bytes of device memory, not even "
                "in its smallest blocks; raise the limit to at least {}.",
                arrays.m(), arrays.n(), arrays.k(), limit, least_device_bytes(arrays)));
  return best;
}

int64_t least_device_bytes(const MatmulArrays& arrays) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for_each_plan(arrays, MatmulCosts(),
                [&](const MatmulBlocks& plan) { least = std::min(least, plan.device_bytes); });
  return least;
}

}  // namespace phi::memory
