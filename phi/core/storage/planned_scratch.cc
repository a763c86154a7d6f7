// Counts blocks of scratch memory.
#include "phi/core/storage/planned_scratch.h"

namespace phi {

PlannedScratch::Block::Block(PlannedScratch& scratch, size_t nbytes)
    : scratch_(scratch), nbytes_(nbytes) {
  if (nbytes_ == 0) return;
  const std::lock_guard lock(scratch_.mutex_);
  scratch_.add(nbytes_);
}

PlannedScratch::Block::~Block() {
  if (nbytes_ == 0) return;
  const std::lock_guard lock(scratch_.mutex_);
  scratch_.remove(nbytes_);
}

void PlannedScratch::keep(std::string_view workspace, int64_t thread, size_t nbytes) {
  const std::lock_guard lock(mutex_);
  size_t& kept = kept_[{workspace, thread}];
  if (nbytes <= kept) return;
  if (kept > 0) remove(kept);
  add(nbytes);
  kept = nbytes;
}

void PlannedScratch::note_unstated(const char* op) {
  const std::lock_guard lock(mutex_);
  unstated_.emplace(op);
}

std::set<std::string> PlannedScratch::unstated() const {
  const std::lock_guard lock(mutex_);
  return unstated_;
}

}  // namespace phi
