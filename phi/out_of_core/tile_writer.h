// TileWriter: owns the buffer in which tiles of a matmul are summed, and writes finished tiles to
// the result while the next one is computed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "phi/out_of_core/block_layout.h"
#include "phi/out_of_core/device_arena.h"

namespace phi::memory {

class TileWriter {
 public:
  /// Tiles have at most `columns` columns. `tile_bytes` is 0 for a result that is summed in place.
  /// `staging_bytes` is the size of each of the two buffers for a result on disk.
  TileWriter(const BlockedArray& array, int64_t columns, int64_t tile_bytes, int64_t staging_bytes,
             DeviceArena* arena);

  /// Address at which a tile is summed, in float32 or float64, and its row stride in elements.
  std::byte* tile_of(const Block& tile) const;
  int64_t tile_stride(const Block& tile) const;
  /// Writes a complete tile to the result. Writes to disk may still be in flight on return. Errors:
  /// those of earlier writes.
  void put(const Block& tile);
  /// Blocks until all writes are complete. Errors: those of the writes.
  void finish();

  int64_t bytes_written() const { return bytes_written_; }
  /// Bytes of shared pages that were read.
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
  /// Rounds or copies a row of a tile to the array's dtype.
  void convert_row(const std::byte* sums, int64_t columns, std::byte* out) const;

  BlockedArray array_;
  BlockLayout layout_;  // layout of staged rows
  AlignedBuffer tile_;
  size_t next_ = 0;  // index of the next staging buffer
  int64_t bytes_written_ = 0;
  int64_t bytes_read_ = 0;
  // Last, so that writes in flight end before other members are destroyed.
  std::array<Staging, 2> staging_;
};

}  // namespace phi::memory
