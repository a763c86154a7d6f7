// Which of two storages a thread has made first.
#pragma once

#include <cstdint>

namespace phi {

/// The storage `id` was made after `earlier`, by the same thread. False too where this is not
/// known: ids of different threads, and those that are far apart, do not tell.
bool is_known_to_follow(uint64_t id, uint64_t earlier);

}  // namespace phi
