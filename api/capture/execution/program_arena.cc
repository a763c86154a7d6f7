// Allocates the arena of a captured program and charges it.
#include "api/capture/execution/program_arena.h"

#include <utility>

#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi {

ProgramArena::ProgramArena(memory::SwapPlan plan, const ProgramMemory& memory, size_t num_steps)
    : binds_each_launch_(plan.launches.size() != num_steps) {
  const RankContext& rank = RankContext::current();
  const MemoryUseScope use(MemoryUse::kProgram);
  if (rank.is_dry()) {
    planned_ = std::move(plan);
    storage_ = Storage::allocate(static_cast<size_t>(planned_.arena_bytes), rank.place());
  } else {
    allocate(std::move(plan), memory);
  }
}

void ProgramArena::allocate(memory::SwapPlan plan, const ProgramMemory& memory) {
  const Place& place = RankContext::current().place();
  const auto& account = RankContext::current().memory();
  const int64_t bytes = plan.arena_bytes;
  PHI_CHECK(account->has_room(bytes),
            errors::ResourceExhausted("the arena of a captured program needs {} bytes, but the "
                                      "device of rank {} is limited to {} and tensors hold {}.",
                                      bytes, RankContext::current().rank(), account->device_limit(),
                                      memory_stats(Tier::kDevice).current));
  engine_ = std::make_shared<memory::SwapEngine>(
      std::move(plan),
      memory::SwapEngineOptions{.place = place, .disk_folder = memory.disk_folder});
  charged_ = account;
  charged_->add(place.kind, bytes);
  MemoryLedger::added(*charged_, this, bytes, static_cast<size_t>(bytes));
  storage_ = Storage::borrow(engine_->arena(), static_cast<size_t>(bytes), place);
}

ProgramArena::~ProgramArena() {
  if (!charged_) return;
  charged_->remove(storage_->place().kind, plan().arena_bytes);
  MemoryLedger::removed(*charged_, this);
}

}  // namespace phi
