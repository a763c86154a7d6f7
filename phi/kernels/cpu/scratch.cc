// Each block of scratch memory has a header with the account from which it was allocated: the
// current rank may be a different one when the block is freed.
#include "phi/kernels/cpu/scratch.h"

#include <limits>
#include <new>

#include "phi/core/rank_context.h"
#include "phi/core/storage/planned_scratch.h"

namespace phi {
namespace {

struct alignas(64) Origin {
  IntrusivePtr<MemoryAccount> account;
  size_t nbytes;  // size of the block, including this header
};
static_assert(sizeof(Origin) == kScratchHeader);

}  // namespace

std::byte* allocate_scratch(size_t nbytes) {
  if (nbytes > std::numeric_limits<size_t>::max() - sizeof(Origin)) throw std::bad_alloc();
  const size_t total = nbytes + sizeof(Origin);
  const IntrusivePtr<MemoryAccount>& account = RankContext::current().memory();
  std::byte* const block = account->blocks().allocate(total);
  if (!block) throw std::bad_alloc();
  return reinterpret_cast<std::byte*>(new (block) Origin{account, total} + 1);
}

void free_scratch(std::byte* scratch) {
  if (!scratch) return;
  auto* const origin = reinterpret_cast<Origin*>(scratch) - 1;
  const IntrusivePtr<MemoryAccount> account = origin->account;
  const size_t total = origin->nbytes;
  origin->~Origin();
  account->blocks().free(reinterpret_cast<std::byte*>(origin), total);
}

}  // namespace phi
