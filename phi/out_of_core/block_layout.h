// BlockLayout: the layout of a matrix block in its buffer. Direct I/O reads each row to where the
// GEMM uses it, without a copy.
//
// A row may begin at any byte of the file, but direct I/O transfers whole pages. The bytes before
// and after the row on its first and last page are therefore read too. Rows have a stride of
// `pitch` bytes in the buffer. The pitch equals the file's row stride modulo the page size, so each
// row has the same position within its page as in the file.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/out_of_core/blocked_array.h"

namespace phi::memory {

/// A block of the matrix as stored (not transposed).
struct Block {
  int64_t row = 0;
  int64_t column = 0;
  int64_t rows = 0;
  int64_t columns = 0;
};

struct BlockLayout {
  bool whole_rows = false;   // on disk: one range of the file, including bytes between the rows
  int64_t pitch = 0;         // row stride in bytes
  int64_t buffer_bytes = 0;  // whole pages; 0 for a resident array, which needs no buffer
};

/// Returns the layout of blocks of at most `rows` x `columns` whose first column is a multiple of
/// `columns`.
BlockLayout layout_of(const BlockedArray& array, int64_t rows, int64_t columns);

/// Returns the pieces to read from disk for `block` into `buffer`, each of about a request's size.
std::vector<FilePiece> pieces_of(const BlockedArray& array, const BlockLayout& layout,
                                 const Block& block, std::byte* buffer);
/// Returns the pages of `block` that contain other bytes too. They must be read into the buffer
/// before the block is written, because a write of whole pages writes the other bytes back.
std::vector<FilePiece> shared_pages_of(const BlockedArray& array, const BlockLayout& layout,
                                       const Block& block, std::byte* buffer);
/// Byte offset of the block's first element in the buffer; 0 for an array that is not on disk.
int64_t first_byte_of(const BlockedArray& array, const Block& block);

/// Requests and bytes to transfer the whole array once by blocks; 0 if it is not on disk.
struct DiskCost {
  double requests = 0;
  double bytes = 0;
};
DiskCost read_cost(const BlockedArray& array, const BlockLayout& layout, int64_t rows,
                   int64_t columns);
/// Includes reads of shared pages.
DiskCost write_cost(const BlockedArray& array, const BlockLayout& layout, int64_t rows,
                    int64_t columns);

}  // namespace phi::memory
