// One free list per size class.
#include "phi/gpu/small_block_cache.h"

#include <cstdlib>
#include <string_view>

#include "phi/common/errors.h"

namespace phi::gpu {
namespace {

bool finds_blocks_kept() {
  const char* const word = std::getenv("AUTOPHI_GPU_MEMORY");
  if (!word) return true;
  const std::string_view memory = word;
  PHI_CHECK(memory == "blocks" || memory == "pool",
            errors::InvalidArgument("AUTOPHI_GPU_MEMORY is '{}'; use blocks or pool.", memory));
  return memory == "blocks";
}

}  // namespace

SmallBlockCache::SmallBlockCache() : keeps_blocks_(finds_blocks_kept()) {}

std::byte* SmallBlockCache::take(size_t nbytes) {
  if (nbytes > kLargest) return nullptr;
  const SizeClass size = SizeClass::of(nbytes);
  const std::lock_guard lock(mutex_);
  std::vector<std::byte*>& kept = blocks_[static_cast<size_t>(size.index)];
  if (kept.empty()) return nullptr;
  std::byte* const block = kept.back();
  kept.pop_back();
  nbytes_ -= size.nbytes;
  return block;
}

bool SmallBlockCache::keep(std::byte* block, size_t nbytes) {
  if (!keeps_blocks_ || nbytes > kLargest) return false;
  const SizeClass size = SizeClass::of(nbytes);
  const std::lock_guard lock(mutex_);
  if (nbytes_ + size.nbytes > kMost) return false;
  blocks_[static_cast<size_t>(size.index)].push_back(block);
  nbytes_ += size.nbytes;
  return true;
}

std::vector<std::byte*> SmallBlockCache::release() {
  const std::lock_guard lock(mutex_);
  std::vector<std::byte*> all;
  for (std::vector<std::byte*>& kept : blocks_) {
    all.insert(all.end(), kept.begin(), kept.end());
    kept.clear();
  }
  nbytes_ = 0;
  return all;
}

size_t SmallBlockCache::nbytes() const {
  const std::lock_guard lock(mutex_);
  return nbytes_;
}

}  // namespace phi::gpu
