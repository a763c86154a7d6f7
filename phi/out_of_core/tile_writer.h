// TileWriter: where the tiles of a product are summed, and how they reach its result while the next
// is computed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "phi/out_of_core/block_layout.h"
#include "phi/out_of_core/device_arena.h"

namespace phi::memory {

class TileWriter {
 public:
  /// Tiles of at most `rows` x `columns`. `tile_bytes` is 0 for a result that is summed where it
  /// lies; `staging_bytes` is the size of each of two buffers for a result on disk.
  TileWriter(const BlockedArray& array, int64_t columns, int64_t tile_bytes, int64_t staging_bytes,
             DeviceArena* arena);

  /// Where a tile is summed, in float32 or float64, and elements from one row to the next.
  std::byte* tile_of(const Block& tile) const;
  int64_t tile_stride(const Block& tile) const;
  /// The tile is complete. What is written of it may still be under way. Errors: those of earlier
  /// writes.
  void put(const Block& tile);
  /// Until all is written. Errors: those of the writes.
  void finish();

  int64_t bytes_written() const { return bytes_written_; }
  /// Of pages that others share.
  int64_t bytes_read() const { return bytes_read_; }

 private:
  struct Staging {
    AlignedBuffer buffer;
    Ticket ticket;
  };
  int64_t rows_per_staging(const Block& tile) const;
  void put_on_disk(const Block& tile);
  void write_part(const Block& part, const std::byte* sums);
  void fetch_shared_pages(const Block& part, std::byte* buffer);
  /// Rounds or copies a tile's row to the array's type.
  void convert_row(const std::byte* sums, int64_t columns, std::byte* out) const;

  BlockedArray array_;
  BlockLayout layout_;  // of staged rows
  AlignedBuffer tile_;
  size_t next_ = 0;  // staging buffer
  int64_t bytes_written_ = 0;
  int64_t bytes_read_ = 0;
  // Last, so that writes under way end before anything else does.
  std::array<Staging, 2> staging_;
};

}  // namespace phi::memory
