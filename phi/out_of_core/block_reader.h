// BlockReader: reads the blocks of one operand of a matmul ahead, in the order of their use.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/out_of_core/block_layout.h"
#include "phi/out_of_core/device_arena.h"

namespace phi::memory {

/// A block, and the range of steps of the matmul that use it.
struct BlockUse {
  Block block;
  int64_t first_step = 0;
  int64_t last_step = 0;
};

/// Address of a block's first element, and the row stride in elements.
struct BlockView {
  const std::byte* data = nullptr;
  int64_t row_stride = 0;
};

class BlockReader {
 public:
  /// Reads blocks of at most `rows` x `columns` into `slots` buffers from `arena`; a resident array
  /// needs no buffers. `uses` are in the order of steps, and cover every step exactly once.
  BlockReader(const BlockedArray& array, int64_t rows, int64_t columns, int slots,
              std::vector<BlockUse> uses, DeviceArena* arena);

  /// Starts reads into buffers that are free once the steps before `step` are done. A read for a
  /// later step is distributed over the steps until then, so that reads that are needed sooner do
  /// not wait for it.
  void advance(int64_t step);
  /// Waits for the block of `step` and returns it. Call it for every step, in order. Errors: those
  /// of the reads.
  BlockView wait(int64_t step);

  int64_t bytes_read() const { return bytes_read_; }

 private:
  /// A buffer, and the read into it that is in flight.
  struct Slot {
    AlignedBuffer buffer;
    std::vector<FilePiece> pieces;
    size_t started = 0;  // number of pieces whose read has started
    std::vector<Ticket> tickets;
    int64_t free_step = 0;  // the first step at which the read may start
  };
  Slot& slot_of(size_t use) { return slots_[use % slots_.size()]; }
  void fill_slot(size_t use, int64_t step);
  void start_pieces(size_t use, int64_t step);
  void copy_from_host(const Block& block, std::byte* buffer);

  BlockedArray array_;
  BlockLayout layout_;
  std::vector<BlockUse> uses_;
  size_t current_ = 0;  // index of the use that contains the last requested step
  size_t filled_ = 0;   // number of uses whose read has started
  bool there_ = false;  // the current block has arrived
  int64_t bytes_read_ = 0;
  // Last, so that reads in flight end before other members are destroyed.
  std::vector<Slot> slots_;
};

}  // namespace phi::memory
