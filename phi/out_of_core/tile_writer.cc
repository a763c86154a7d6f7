// Rounds tiles, and writes them asynchronously. Pages that contain other bytes too are read before
// they are written. No write may be in flight then, because neighbouring tiles share such pages.
#include "phi/out_of_core/tile_writer.h"

#include <algorithm>
#include <cstring>

#include "phi/common/process/yield_point.h"
#include "phi/kernels/cpu/convert.h"

namespace phi::memory {

TileWriter::TileWriter(const BlockedArray& array, int64_t columns, int64_t tile_bytes,
                       int64_t staging_bytes, DeviceArena* arena)
    : array_(array), layout_(layout_of(array, 2, columns)), tile_(arena->take(tile_bytes)) {
  for (Staging& staging : staging_) staging.buffer = arena->take(staging_bytes);
}

std::byte* TileWriter::tile_of(const Block& tile) const {
  if (tile_.size() > 0) return tile_.data();
  return array_.memory + array_.byte_of(tile.row, tile.column);
}

int64_t TileWriter::tile_stride(const Block& tile) const {
  return tile_.size() > 0 ? tile.columns : array_.row_stride;
}

void TileWriter::convert_row(const std::byte* sums, int64_t columns, std::byte* out) const {
  if (array_.dtype == DataType::BFLOAT16) {
    convert(reinterpret_cast<const float*>(sums), reinterpret_cast<bfloat16*>(out), columns);
  } else {
    std::memcpy(out, sums, static_cast<size_t>(columns * array_.element_bytes()));
  }
}

void TileWriter::put(const Block& tile) {
  if (array_.tier == Tier::kDisk) return put_on_disk(tile);
  if (tile_.size() == 0) return;
  const int64_t sum_bytes = std::max<int64_t>(4, array_.element_bytes());
  for (int64_t row = 0; row < tile.rows; ++row) {
    convert_row(tile_.data() + row * tile.columns * sum_bytes, tile.columns,
                array_.memory + array_.byte_of(tile.row + row, tile.column));
  }
  if (array_.tier != Tier::kHost) return;
  const int64_t nbytes = tile.rows * tile.columns * array_.element_bytes();
  bytes_written_ += nbytes;
  count_transfer(Tier::kDevice, Tier::kHost, nbytes);
}

int64_t TileWriter::rows_per_staging(const Block& tile) const {
  const auto room = static_cast<int64_t>(staging_[0].buffer.size());
  const int64_t width = tile.columns * array_.element_bytes();
  // The most bytes that the first row's page has before the row.
  const int64_t slack =
      first_byte_of(array_, tile) == 0 && array_.row_bytes() % kPageBytes == 0 ? 0 : kPageBytes - 1;
  return std::max<int64_t>(1, (room - width - slack) / layout_.pitch + 1);
}

void TileWriter::put_on_disk(const Block& tile) {
  const int64_t sum_bytes = std::max<int64_t>(4, array_.element_bytes());
  const int64_t step = rows_per_staging(tile);
  for (int64_t row = 0; row < tile.rows; row += step) {
    const Block part{tile.row + row, tile.column, std::min(step, tile.rows - row), tile.columns};
    write_part(part, tile_.data() + row * tile.columns * sum_bytes);
  }
}

void TileWriter::write_part(const Block& part, const std::byte* sums) {
  Staging& staging = staging_[next_];
  next_ = 1 - next_;
  staging.ticket.wait();
  yield_point("tile_writer.write.free");
  fetch_shared_pages(part, staging.buffer.data());
  std::byte* out = staging.buffer.data() + first_byte_of(array_, part);
  const int64_t sum_bytes = std::max<int64_t>(4, array_.element_bytes());
  for (int64_t row = 0; row < part.rows; ++row) {
    convert_row(sums + row * part.columns * sum_bytes, part.columns, out + row * layout_.pitch);
  }
  const std::vector<FilePiece> pieces = pieces_of(array_, layout_, part, staging.buffer.data());
  staging.ticket = array_.pages->write(pieces);
  int64_t nbytes = 0;
  for (const FilePiece& piece : pieces) nbytes += static_cast<int64_t>(piece.bytes.size());
  bytes_written_ += nbytes;
  count_transfer(Tier::kDevice, Tier::kDisk, nbytes);
}

void TileWriter::fetch_shared_pages(const Block& part, std::byte* buffer) {
  const std::vector<FilePiece> shared = shared_pages_of(array_, layout_, part, buffer);
  if (shared.empty()) return;
  finish();
  yield_point("tile_writer.shared.finished");
  array_.pages->read(shared).wait();
  int64_t nbytes = 0;
  for (const FilePiece& piece : shared) nbytes += static_cast<int64_t>(piece.bytes.size());
  bytes_read_ += nbytes;
  count_transfer(Tier::kDisk, Tier::kDevice, nbytes);
}

void TileWriter::finish() {
  for (Staging& staging : staging_) staging.ticket.wait();
}

}  // namespace phi::memory
