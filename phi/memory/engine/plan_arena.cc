// Allocates and accesses the memory of a plan through its device.
#include "phi/memory/engine/plan_arena.h"

#include <algorithm>
#include <cstring>

#include "phi/common/errors.h"
#include "phi/core/device/copy_queues.h"
#include "phi/core/rank_context.h"

namespace phi::memory {

PlanArena::PlanArena(size_t nbytes, const Place& place)
    : device_(Device::of(place)), nbytes_(nbytes), account_(RankContext::current().memory()) {
  if (device_.is_host()) {
    on_host_ = AlignedBuffer(nbytes);
    data_ = on_host_.data();
    return;
  }
  if (nbytes == 0) return;
  data_ = device_.allocate(*account_, nbytes);
  PHI_CHECK(data_,
            errors::ResourceExhausted("{} has no room for the {} bytes of a program's memory. {}",
                                      place.to_string(), nbytes, device_.describe_memory()));
}

PlanArena::~PlanArena() {
  if (data_ && !device_.is_host()) device_.free(*account_, data_, nbytes_);
}

void PlanArena::read(int64_t offset, std::span<std::byte> out) const {
  if (!out.empty()) device_.copy_to_host(out.data(), data_ + offset, out.size());
}

void PlanArena::write(int64_t offset, std::span<const std::byte> value) {
  if (!value.empty()) device_.copy_from_host(data_ + offset, value.data(), value.size());
}

void PlanArena::move(int64_t to, int64_t from, size_t nbytes) {
  if (device_.is_host()) {
    std::memmove(data_ + to, data_ + from, nbytes);
    return;
  }
  if (to == from) return;
  // Device copies must not overlap, so bytes move in pieces as long as the distance. The piece that
  // would be overwritten first moves first.
  const auto way = static_cast<size_t>(std::abs(to - from));
  CopyQueues* const queues = device_.copy_queues();
  for (size_t done = 0; done < nbytes; done += std::min(way, nbytes - done)) {
    const size_t piece = std::min(way, nbytes - done);
    const size_t at = to < from ? done : nbytes - done - piece;
    if (queues) {
      queues->copy(data_ + to + at, data_ + from + at, piece);
    } else {
      device_.copy(data_ + to + at, data_ + from + at, piece);
    }
  }
}

}  // namespace phi::memory
