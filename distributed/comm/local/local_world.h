// The local backend: all ranks are threads of one process. For tests, ThreadSanitizer and
// debuggers.
//
//   run_ranks(4, [](World& world) { world.everyone().barrier(); });
#pragma once

#include <functional>

#include "distributed/comm/world.h"

namespace phi::distributed {

/// Runs `body` on `n` threads, each with its own world and rank context, which are current in it.
/// When a rank throws, the calls of all other ranks throw too. The first error is rethrown here,
/// with a note that names the rank.
///
/// A child that a rank forks is not a rank: its calls throw PreconditionNotMet, and it ends when
/// the body returns. A child forked after all ranks have ended may call run_ranks.
void run_ranks(int64_t n, const std::function<void(World& world)>& body,
               World::Milliseconds deadline = World::kDefaultDeadline);

}  // namespace phi::distributed
