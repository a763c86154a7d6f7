// Reads ahead into alternating buffers.
#include "phi/out_of_core/block_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "phi/common/process/yield_point.h"

namespace phi::memory {

BlockReader::BlockReader(const BlockedArray& array, int64_t rows, int64_t columns, int slots,
                         std::vector<BlockUse> uses, DeviceArena* arena)
    : array_(array), layout_(layout_of(array, rows, columns)), uses_(std::move(uses)) {
  for (int i = 0; i < slots; ++i) {
    slots_.emplace_back().buffer = arena->take(layout_.buffer_bytes);
  }
}

void BlockReader::advance(int64_t step) {
  if (slots_.empty()) return;
  while (filled_ < uses_.size()) {
    const bool has_room =
        filled_ < slots_.size() || uses_[filled_ - slots_.size()].last_step < step;
    if (!has_room) break;
    fill_slot(filled_++, step);
  }
  const size_t oldest = filled_ > slots_.size() ? filled_ - slots_.size() : 0;
  for (size_t use = oldest; use < filled_; ++use) start_pieces(use, step);
}

void BlockReader::fill_slot(size_t use, int64_t step) {
  Slot& slot = slot_of(use);
  slot.pieces.clear();
  slot.tickets.clear();
  slot.started = 0;
  slot.free_step = step;
  if (array_.tier != Tier::kDisk) return;
  slot.pieces = pieces_of(array_, layout_, uses_[use].block, slot.buffer.data());
}

void BlockReader::start_pieces(size_t use, int64_t step) {
  Slot& slot = slot_of(use);
  const int64_t steps = std::max<int64_t>(1, uses_[use].first_step - slot.free_step);
  const int64_t passed = std::clamp<int64_t>(step - slot.free_step + 1, 1, steps);
  const size_t until =
      slot.pieces.size() * static_cast<size_t>(passed) / static_cast<size_t>(steps);
  if (until <= slot.started) return;
  const std::span<const FilePiece> now =
      std::span(slot.pieces).subspan(slot.started, until - slot.started);
  slot.tickets.push_back(array_.pages->read(now));
  slot.started = until;
  int64_t nbytes = 0;
  for (const FilePiece& piece : now) nbytes += static_cast<int64_t>(piece.bytes.size());
  bytes_read_ += nbytes;
  count_transfer(Tier::kDisk, Tier::kDevice, nbytes);
}

BlockView BlockReader::wait(int64_t step) {
  while (uses_[current_].last_step < step) {
    ++current_;
    there_ = false;
  }
  const Block& block = uses_[current_].block;
  if (slots_.empty()) {
    return {array_.memory + array_.byte_of(block.row, block.column), array_.row_stride};
  }
  Slot& slot = slot_of(current_);
  if (!there_) {
    yield_point("block_reader.wait.asked");
    for (const Ticket& ticket : slot.tickets) ticket.wait();
    if (array_.tier == Tier::kHost) copy_from_host(block, slot.buffer.data());
    there_ = true;
  }
  return {slot.buffer.data() + first_byte_of(array_, block),
          layout_.pitch / array_.element_bytes()};
}

void BlockReader::copy_from_host(const Block& block, std::byte* buffer) {
  const auto width = static_cast<size_t>(block.columns * array_.element_bytes());
  if (width == 0) return;
  for (int64_t row = 0; row < block.rows; ++row) {
    std::memcpy(buffer + row * layout_.pitch,
                array_.memory + array_.byte_of(block.row + row, block.column), width);
  }
  const int64_t nbytes = block.rows * static_cast<int64_t>(width);
  bytes_read_ += nbytes;
  count_transfer(Tier::kHost, Tier::kDevice, nbytes);
}

}  // namespace phi::memory
