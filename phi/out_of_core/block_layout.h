// How a block of a matrix lies in the buffer that it is read into, such that direct I/O puts each
// row where the product takes it: nothing is copied in between.
//
// A row of the block begins at any byte of the file, direct I/O at whole pages, so that what lies
// in front of the row, back to the page's begin, and behind it comes along. Rows lie `pitch` bytes
// apart in the buffer. A pitch that is the file's, but for whole pages, keeps each row at the same
// place within a page as in the file.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/out_of_core/blocked_array.h"

namespace phi::memory {

/// A block of the stored matrix.
struct Block {
  int64_t row = 0;
  int64_t column = 0;
  int64_t rows = 0;
  int64_t columns = 0;
};

struct BlockLayout {
  bool whole_rows = false;   // on disk: one range of the file, with what lies between the rows
  int64_t pitch = 0;         // bytes from row to row
  int64_t buffer_bytes = 0;  // whole pages; 0 for a resident array, which needs no buffer
};

/// For blocks of at most `rows` x `columns` whose first column is a multiple of `columns`.
BlockLayout layout_of(const BlockedArray& array, int64_t rows, int64_t columns);

/// What is read from disk for `block` into `buffer`, in parts of about a request's size.
std::vector<FilePiece> pieces_of(const BlockedArray& array, const BlockLayout& layout,
                                 const Block& block, std::byte* buffer);
/// Those pages of `block` that hold bytes of others too: they must be in the buffer before what is
/// around the block is written back with it.
std::vector<FilePiece> shared_pages_of(const BlockedArray& array, const BlockLayout& layout,
                                       const Block& block, std::byte* buffer);
/// Where the block's first element then lies in the buffer; 0 for what is not on disk.
int64_t first_byte_of(const BlockedArray& array, const Block& block);

/// Requests and bytes of moving the whole array once in such blocks; none if it is not on disk.
struct DiskCost {
  double requests = 0;
  double bytes = 0;
};
DiskCost read_cost(const BlockedArray& array, const BlockLayout& layout, int64_t rows,
                   int64_t columns);
/// With the reading of shared pages.
DiskCost write_cost(const BlockedArray& array, const BlockLayout& layout, int64_t rows,
                    int64_t columns);

}  // namespace phi::memory
