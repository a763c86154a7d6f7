// Computes pitches, pages and pieces of blocks.
#include "phi/out_of_core/block_layout.h"

#include <algorithm>

namespace phi::memory {
namespace {

// The size of the requests into which AsyncFile splits larger pieces.
constexpr int64_t kPieceBytes = int64_t{1} << 20;

constexpr int64_t floor_to_pages(int64_t byte) { return byte / kPageBytes * kPageBytes; }
constexpr int64_t ceil_to_pages(int64_t byte) { return floor_to_pages(byte + kPageBytes - 1); }
constexpr int64_t layout_parts(int64_t n, int64_t part) { return (n + part - 1) / part; }

/// Whether every row of every block begins on a page.
bool rows_begin_on_pages(const BlockedArray& array, int64_t columns) {
  const bool columns_do =
      columns == array.columns || columns * array.element_bytes() % kPageBytes == 0;
  return columns_do && array.byte_of(0, 0) % kPageBytes == 0 && array.row_bytes() % kPageBytes == 0;
}

/// The least pitch with which rows that are read one by one do not share a page of the buffer.
int64_t least_pitch(const BlockedArray& array, int64_t columns) {
  const int64_t width = columns * array.element_bytes();
  const int64_t needed =
      rows_begin_on_pages(array, columns) ? ceil_to_pages(width) : width + 2 * (kPageBytes - 1);
  const int64_t missing = (array.row_bytes() - needed) % kPageBytes;
  return needed + (missing + kPageBytes) % kPageBytes;
}

/// Bytes [begin, end) of the file, not rounded to pages. Their first page is read to `buffer`.
struct FileRange {
  int64_t begin;
  int64_t end;
  std::byte* buffer;
};

std::vector<FileRange> ranges_of(const BlockedArray& array, const BlockLayout& layout,
                                 const Block& block, std::byte* buffer) {
  if (block.rows == 0 || block.columns == 0) return {};
  const int64_t width = block.columns * array.element_bytes();
  const int64_t first = array.byte_of(block.row, block.column);
  if (layout.whole_rows) {
    return {{first, first + (block.rows - 1) * array.row_bytes() + width, buffer}};
  }
  std::vector<FileRange> out;
  for (int64_t row = 0; row < block.rows; ++row) {
    const int64_t begin = first + row * array.row_bytes();
    out.push_back(
        {begin, begin + width, buffer + floor_to_pages(first % kPageBytes + row * layout.pitch)});
  }
  return out;
}

void add_pages(int64_t begin, int64_t end, std::byte* to, std::vector<FilePiece>* pieces) {
  for (int64_t at = begin; at < end; at += kPieceBytes) {
    const int64_t nbytes = std::min(kPieceBytes, end - at);
    pieces->push_back({static_cast<uint64_t>(at), {to + at - begin, static_cast<size_t>(nbytes)}});
  }
}

}  // namespace

BlockLayout layout_of(const BlockedArray& array, int64_t rows, int64_t columns) {
  if (array.tier == Tier::kDevice) return {};
  const int64_t width = columns * array.element_bytes();
  if (array.tier == Tier::kHost) return {false, width, ceil_to_pages(rows * width)};
  if (rows == 0 || columns == 0) return {};
  const int64_t apart = least_pitch(array, columns);
  BlockLayout out{array.row_bytes() <= apart || rows == 1, apart, 0};
  if (out.whole_rows) out.pitch = array.row_bytes();
  const bool aligned = rows_begin_on_pages(array, columns);
  const int64_t used = (rows - 1) * out.pitch + width;
  out.buffer_bytes = ceil_to_pages(used + (aligned ? 0 : kPageBytes - 1));
  return out;
}

std::vector<FilePiece> pieces_of(const BlockedArray& array, const BlockLayout& layout,
                                 const Block& block, std::byte* buffer) {
  std::vector<FilePiece> pieces;
  for (const FileRange& range : ranges_of(array, layout, block, buffer)) {
    add_pages(floor_to_pages(range.begin), ceil_to_pages(range.end), range.buffer, &pieces);
  }
  return pieces;
}

std::vector<FilePiece> shared_pages_of(const BlockedArray& array, const BlockLayout& layout,
                                       const Block& block, std::byte* buffer) {
  const int64_t width = block.columns * array.element_bytes();
  const bool has_gaps = layout.whole_rows && block.rows > 1 && array.row_bytes() > width;
  if (has_gaps) return pieces_of(array, layout, block, buffer);
  std::vector<FilePiece> pieces;
  for (const auto& [begin, end, to] : ranges_of(array, layout, block, buffer)) {
    const int64_t first = floor_to_pages(begin), last = floor_to_pages(end);
    if (begin != first) add_pages(first, first + kPageBytes, to, &pieces);
    if (end != last && (last != first || begin == first)) {
      add_pages(last, last + kPageBytes, to + last - first, &pieces);
    }
  }
  return pieces;
}

int64_t first_byte_of(const BlockedArray& array, const Block& block) {
  return array.tier == Tier::kDisk ? array.byte_of(block.row, block.column) % kPageBytes : 0;
}

DiskCost read_cost(const BlockedArray& array, const BlockLayout& layout, int64_t rows,
                   int64_t columns) {
  if (array.tier != Tier::kDisk || array.rows == 0 || array.columns == 0) return {};
  const auto across = static_cast<double>(layout_parts(array.columns, columns));
  const auto down = static_cast<double>(layout_parts(array.rows, rows));
  const int64_t width = columns * array.element_bytes();
  const double slack = rows_begin_on_pages(array, columns) ? 0 : kPageBytes;
  if (layout.whole_rows) {
    const int64_t range = (rows - 1) * array.row_bytes() + width;
    return {across * down * static_cast<double>(layout_parts(range, kPieceBytes)),
            across * (static_cast<double>(array.rows * array.row_bytes()) + down * slack)};
  }
  const auto all_rows = static_cast<double>(array.rows);
  return {across * all_rows * static_cast<double>(layout_parts(width, kPieceBytes)),
          all_rows * (static_cast<double>(array.columns * array.element_bytes()) + across * slack)};
}

DiskCost write_cost(const BlockedArray& array, const BlockLayout& layout, int64_t rows,
                    int64_t columns) {
  // A read that must complete before the write begins costs as much as several that overlap.
  constexpr double kAlone = 5;
  DiskCost out = read_cost(array, layout, rows, columns);
  if (out.requests == 0) return out;
  const auto blocks =
      static_cast<double>(layout_parts(array.columns, columns) * layout_parts(array.rows, rows));
  const bool has_gaps =
      layout.whole_rows && rows > 1 && columns * array.element_bytes() < array.row_bytes();
  const bool ends_on_pages = rows_begin_on_pages(array, columns) &&
                             array.columns * array.element_bytes() % kPageBytes == 0;
  if (has_gaps) {
    out.bytes *= 2;
    out.requests = 2 * out.requests + kAlone * blocks;
  } else if (layout.whole_rows && rows * array.row_bytes() % kPageBytes != 0) {
    out.requests += 2 * kAlone * blocks;
  } else if (!layout.whole_rows && !ends_on_pages) {
    out.requests *= 3;
    out.requests += kAlone * blocks;
  }
  return out;
}

}  // namespace phi::memory
