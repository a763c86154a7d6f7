// Allocates the arena of a captured program and charges it.
#include "api/capture/execution/program_arena.h"

#include <utility>

#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi {

ProgramArena::ProgramArena(memory::SwapPlan plan, const ProgramMemory& memory, size_t num_steps)
    : binds_each_launch_(plan.launches.size() != num_steps) {
  const Place& place = RankContext::current().place();
  const auto& account = RankContext::current().memory();
  PHI_CHECK(account->has_room(plan.arena_bytes),
            errors::ResourceExhausted("the arena of a captured program needs {} bytes, but the "
                                      "device is limited to {} and tensors hold {}.",
                                      plan.arena_bytes, account->device_limit(),
                                      memory_stats(Tier::kDevice).current));
  engine_ = std::make_shared<memory::SwapEngine>(
      std::move(plan),
      memory::SwapEngineOptions{.place = place, .disk_folder = memory.disk_folder});
  charged_ = account;
  charged_->add(place.kind, engine_->plan().arena_bytes);
  const auto arena_bytes = static_cast<size_t>(engine_->plan().arena_bytes);
  storage_ = Storage::borrow(engine_->arena(), arena_bytes, place);
}

ProgramArena::~ProgramArena() { charged_->remove(storage_->place().kind, plan().arena_bytes); }

}  // namespace phi
