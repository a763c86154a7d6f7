// Blocks of any matrix land where the layout says, in their buffer, and share what it says.
#include "phi/out_of_core/block_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace phi::memory {
namespace {

constexpr auto kPageBytes = static_cast<int64_t>(kPage);

BlockedArray bytes_on_disk(int64_t rows, int64_t columns, int64_t stride, int64_t offset) {
  return BlockedArray::on_disk(nullptr, DataType::FLOAT32, rows, columns, stride, offset);
}

/// What the file holds at a byte.
std::byte content(int64_t byte) { return static_cast<std::byte>((byte * 2654435761u) >> 13); }

struct Case {
  BlockedArray array;
  int64_t rows, columns;  // of blocks
};

Case random_case(std::mt19937* engine) {
  const auto pick = [&](std::vector<int64_t> from) { return from[(*engine)() % from.size()]; };
  const int64_t rows = pick({1, 2, 7, 33}), columns = pick({1, 3, 100, 1024, 2048, 5000});
  const int64_t stride =
      pick({columns, columns + 1, columns + 700, (columns + 5119) / 1024 * 1024});
  const int64_t offset = pick({0, 1, 1024, 1500});
  const int64_t block_rows = std::min(rows, pick({1, 2, 5, 40}));
  const int64_t block_columns = std::min(columns, pick({1, 64, 999, 1024, 9999}));
  return {bytes_on_disk(rows, columns, stride, offset), block_rows, block_columns};
}

template <typename F>
void for_each_block(const Case& c, const F& see) {
  for (int64_t row = 0; row < c.array.rows; row += c.rows) {
    for (int64_t column = 0; column < c.array.columns; column += c.columns) {
      see(Block{row, column, std::min(c.rows, c.array.rows - row),
                std::min(c.columns, c.array.columns - column)});
    }
  }
}

TEST(BlockLayout, EveryElementIsReadToItsPlaceInTheBuffer) {
  std::mt19937 engine(1);
  for (int trial = 0; trial < 25; ++trial) {
    const Case c = random_case(&engine);
    const BlockLayout layout = layout_of(c.array, c.rows, c.columns);
    AlignedBuffer buffer(static_cast<size_t>(layout.buffer_bytes));
    for_each_block(c, [&](const Block& block) {
      std::set<std::byte*> pages;
      for (const FilePiece& piece : pieces_of(c.array, layout, block, buffer.data())) {
        ASSERT_EQ(piece.offset % kPage, 0u);
        ASSERT_GE(piece.bytes.data(), buffer.data());
        ASSERT_LE(piece.bytes.data() + piece.bytes.size(), buffer.data() + buffer.size());
        for (size_t at = 0; at < piece.bytes.size(); ++at) {
          if (at % kPage == 0) {
            ASSERT_TRUE(pages.insert(&piece.bytes[at]).second) << trial;
          }
          piece.bytes[at] = content(static_cast<int64_t>(piece.offset + at));
        }
      }
      const std::byte* first = buffer.data() + first_byte_of(c.array, block);
      for (int64_t row = 0; row < block.rows; ++row) {
        const int64_t begin = c.array.byte_of(block.row + row, block.column);
        int64_t wrong = 0;
        for (int64_t byte = 0; byte < block.columns * 4; ++byte) {
          wrong += first[row * layout.pitch + byte] != content(begin + byte);
        }
        ASSERT_EQ(wrong, 0) << "trial " << trial << " row " << row;
      }
    });
  }
}

TEST(BlockLayout, SharedPagesAreThoseWithBytesOfOthers) {
  std::mt19937 engine(2);
  for (int trial = 0; trial < 25; ++trial) {
    const Case c = random_case(&engine);
    const BlockLayout layout = layout_of(c.array, c.rows, c.columns);
    AlignedBuffer buffer(static_cast<size_t>(layout.buffer_bytes));
    for_each_block(c, [&](const Block& block) {
      std::set<int64_t> shared;
      for (const FilePiece& piece : shared_pages_of(c.array, layout, block, buffer.data())) {
        for (size_t at = 0; at < piece.bytes.size(); at += kPage) {
          shared.insert(static_cast<int64_t>(piece.offset + at));
        }
      }
      std::set<int64_t> own;  // bytes
      for (int64_t row = 0; row < block.rows; ++row) {
        const int64_t begin = c.array.byte_of(block.row + row, block.column);
        for (int64_t byte = 0; byte < block.columns * 4; byte += 4) own.insert(begin + byte);
      }
      for (const FilePiece& piece : pieces_of(c.array, layout, block, buffer.data())) {
        for (size_t at = 0; at < piece.bytes.size(); at += kPage) {
          const auto page = static_cast<int64_t>(piece.offset + at);
          const auto count =
              std::distance(own.lower_bound(page), own.lower_bound(page + kPageBytes));
          if (count < kPageBytes / 4) {
            ASSERT_TRUE(shared.contains(page)) << trial << ": " << page;
          }
        }
      }
    });
  }
}

TEST(BlockLayout, RowsThatBeginOnPagesNeedNoMore) {
  const BlockedArray array = bytes_on_disk(64, 8192, 8192, 1024);
  const BlockLayout layout = layout_of(array, 16, 2048);
  EXPECT_FALSE(layout.whole_rows);
  EXPECT_EQ(layout.pitch, 2048 * 4);
  EXPECT_EQ(layout.buffer_bytes, 16 * 2048 * 4);
  EXPECT_EQ(read_cost(array, layout, 16, 2048).bytes, 64 * 8192 * 4);
  EXPECT_EQ(read_cost(array, layout, 16, 2048).requests, 64 * 4);
}

TEST(BlockLayout, ARangeOfWholePiecesHasNoEmptyOne) {
  const BlockedArray array = bytes_on_disk(512, 512, 512, 0);  // 1 MiB, what a piece has at most
  const BlockLayout layout = layout_of(array, 512, 512);
  AlignedBuffer buffer(static_cast<size_t>(layout.buffer_bytes));
  const auto pieces = pieces_of(array, layout, {0, 0, 512, 512}, buffer.data());
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].bytes.size(), size_t{1} << 20);
}

TEST(BlockLayout, ShortRowsAreReadAsOneRange) {
  const BlockedArray array = bytes_on_disk(1000, 300, 300, 0);
  const BlockLayout layout = layout_of(array, 100, 200);
  EXPECT_TRUE(layout.whole_rows);
  EXPECT_EQ(layout.pitch, 1200);
  AlignedBuffer buffer(static_cast<size_t>(layout.buffer_bytes));
  EXPECT_EQ(pieces_of(array, layout, {0, 0, 100, 200}, buffer.data()).size(), 1u);
}

}  // namespace
}  // namespace phi::memory
