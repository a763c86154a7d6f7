// BlockReader: brings the blocks of one operand of a product, in the order in which the product
// takes them, while earlier ones are used.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/out_of_core/block_layout.h"
#include "phi/out_of_core/device_arena.h"

namespace phi::memory {

/// A block and the steps of the product that use it.
struct BlockUse {
  Block block;
  int64_t first_step = 0;
  int64_t last_step = 0;
};

/// Where a block lies for a step, and elements from one stored row to the next.
struct BlockView {
  const std::byte* data = nullptr;
  int64_t row_stride = 0;
};

class BlockReader {
 public:
  /// Blocks of at most `rows` x `columns` in `slots` buffers of `arena`; none for a resident array.
  /// `uses` are in the order of steps, and together cover every step once.
  BlockReader(const BlockedArray& array, int64_t rows, int64_t columns, int slots,
              std::vector<BlockUse> uses, DeviceArena* arena);

  /// Starts reads for which there is room when the steps before `step` are done. What is needed
  /// later is spread over the steps until then, so that what is needed sooner does not wait for it.
  void advance(int64_t step);
  /// The block of `step`, when it is there; steps are asked for in turn. Errors: those of its
  /// pages.
  BlockView wait(int64_t step);

  int64_t bytes_read() const { return bytes_read_; }

 private:
  /// A buffer, and the read into it that is under way.
  struct Slot {
    AlignedBuffer buffer;
    std::vector<FilePiece> pieces;
    size_t started = 0;  // of pieces
    std::vector<Ticket> tickets;
    int64_t free_step = 0;  // from which on the read may begin
  };
  Slot& slot_of(size_t use) { return slots_[use % slots_.size()]; }
  void fill_slot(size_t use, int64_t step);
  void start_pieces(size_t use, int64_t step);
  void copy_from_host(const Block& block, std::byte* buffer);

  BlockedArray array_;
  BlockLayout layout_;
  std::vector<BlockUse> uses_;
  size_t current_ = 0;  // the use that the last step asked for belongs to
  size_t filled_ = 0;   // uses whose read has begun
  bool there_ = false;  // the current block
  int64_t bytes_read_ = 0;
  // Last, so that reads under way end before anything else does.
  std::vector<Slot> slots_;
};

}  // namespace phi::memory
