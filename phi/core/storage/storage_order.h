// Order in which one thread made two storages.
#pragma once

#include <cstdint>

namespace phi {

/// Whether the storage `id` was made after the storage `earlier`, by the same thread. Also false if
/// the order is unknown: ids of different threads, or ids that are far apart.
bool is_known_to_follow(uint64_t id, uint64_t earlier);

}  // namespace phi
