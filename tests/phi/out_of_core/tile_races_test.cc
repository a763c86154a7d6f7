// Tiles that are written and blocks that are read while others are computed, over every I/O engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "phi/memory/io/io_engine.h"
#include "phi/out_of_core/block_plan.h"
#include "phi/out_of_core/block_reader.h"
#include "phi/out_of_core/tile_writer.h"
#include "support/races.h"
#include "tests/phi/memory/scratch_folder.h"
#include "tests/phi/out_of_core/placed_matrix.h"

namespace phi::memory {
namespace {

class TileRaces : public ::testing::TestWithParam<IoEngineKind> {};

INSTANTIATE_TEST_SUITE_P(Engines, TileRaces,
                         ::testing::Values(IoEngineKind::kUring, IoEngineKind::kThreadPool));

// Tiles are summed in one place and staged in two, while what was staged before is being written;
// the reader brings blocks into two slots in turn.
TEST_P(TileRaces, TilesAndBlocksOnTheirWay_AreNotOverwritten) {
  if (GetParam() == IoEngineKind::kUring && !make_uring_engine()) {
    GTEST_SKIP() << "no io_uring in this build or kernel";
  }
  const ScratchFolder folder;
  testing::for_each_seed(10, [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    // Tiles of whole pages, whose writes wait for a buffer alone, or pages that neighbours share.
    const bool whole_pages = seed % 2 == 0;
    const auto rows = static_cast<int64_t>(20 + random() % 60);
    const int64_t tile_rows = 16, tile_columns = whole_pages ? kPage / 4 : 48;
    const int64_t columns = 3 * tile_columns;
    const std::vector<float> zeros(static_cast<size_t>(rows * columns));
    PlacedMatrix<float> matrix({.tier = Tier::kDisk,
                                .path = {},
                                .gap = whole_pages ? 0 : static_cast<int64_t>(random() % 40),
                                .offset = whole_pages ? 0 : static_cast<int64_t>(random() % 40),
                                .engine = make_io_engine(GetParam())},
                               folder.path(), rows, columns, zeros);
    std::vector<float> values(zeros.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random() % 1000);
    const auto value = [&](int64_t row, int64_t column) {
      return values[static_cast<size_t>(row * columns + column)];
    };
    std::vector<BlockUse> uses;
    for (int64_t row = 0; row < rows; row += tile_rows) {
      for (int64_t column = 0; column < columns; column += tile_columns) {
        const auto step = static_cast<int64_t>(uses.size());
        uses.push_back({{row, column, std::min(tile_rows, rows - row), tile_columns}, step, step});
      }
    }
    DeviceArena arena(1 << 22);
    const int64_t staged_rows = 1 + static_cast<int64_t>(random() % 5);
    TileWriter writer(matrix.array(), tile_columns, tile_rows * tile_columns * 4,
                      staging_bytes_for(matrix.array(), staged_rows, tile_columns), &arena);
    for (const BlockUse& use : uses) {
      auto* sums = reinterpret_cast<float*>(writer.tile_of(use.block));
      for (int64_t i = 0; i < use.block.rows * tile_columns; ++i) {
        sums[i] = value(use.block.row + i / tile_columns, use.block.column + i % tile_columns);
      }
      writer.put(use.block);
    }
    writer.finish();
    EXPECT_TRUE(matrix.holds(values));
    BlockReader reader(matrix.array(), tile_rows, tile_columns, 2, uses, &arena);
    for (const BlockUse& use : uses) {
      reader.advance(use.first_step);
      const BlockView view = reader.wait(use.first_step);
      for (int64_t i = 0; i < use.block.rows; ++i) {
        const auto* row = reinterpret_cast<const float*>(view.data) + i * view.row_stride;
        for (int64_t j = 0; j < tile_columns; ++j) {
          ASSERT_EQ(row[j], value(use.block.row + i, use.block.column + j));
        }
      }
    }
  });
}

}  // namespace
}  // namespace phi::memory
