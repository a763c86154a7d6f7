// PlannedScratch: the scratch memory that the kernels of a dry rank would allocate.
//
//   PlannedScratch& scratch = ledger.scratch();
//   scratch.keep("tiles", /*thread=*/0, 1 << 20);      // until the thread needs a larger one
//   const PlannedScratch::Block tile(scratch, 65536);  // until the end of the scope
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "phi/core/storage/block_tally.h"

namespace phi {

/// Bytes in front of each block of scratch memory (phi/kernels/cpu/scratch.h).
inline constexpr size_t kScratchHeader = 64;

/// Thread-safe. Counts blocks in the tally of a MemoryLedger, whose tensors share the rank's cache.
class PlannedScratch {
 public:
  /// `mutex` guards `blocks`; both must outlive this object.
  PlannedScratch(BlockTally& blocks, std::mutex& mutex) : blocks_(blocks), mutex_(mutex) {}
  PlannedScratch(const PlannedScratch&) = delete;
  PlannedScratch& operator=(const PlannedScratch&) = delete;

  /// Memory in use for the lifetime of this object. 0 bytes need no block.
  class Block {
   public:
    Block(PlannedScratch& scratch, size_t nbytes);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

   private:
    PlannedScratch& scratch_;
    const size_t nbytes_;
  };

  /// Memory that a thread keeps for a workspace, as Workspace::room does: a larger block replaces
  /// the one that it had. `workspace` is a literal. Thread 0 is the one that launches.
  void keep(std::string_view workspace, int64_t thread, size_t nbytes);

  /// Notes an operator whose kernel may need memory that it does not state.
  void note_unstated(const char* op);
  /// The operators that were noted, by name.
  std::set<std::string> unstated() const;

 private:
  void add(size_t nbytes) { blocks_.add(nbytes + kScratchHeader); }
  void remove(size_t nbytes) { blocks_.remove(nbytes + kScratchHeader); }

  BlockTally& blocks_;
  std::mutex& mutex_;
  std::map<std::pair<std::string_view, int64_t>, size_t> kept_;  // bytes, by workspace and thread
  std::set<std::string> unstated_;
};

}  // namespace phi
