// The rank's random generator, which supplies the seeds of random operators that are called without
// one.
//
//   phi::seed(7);
//   Tensor a = gaussian({3}), b = gaussian({3});     // two draws
//   phi::seed(7);
//   Tensor c = gaussian({3});                        // a again
//
// A call without a seed draws one from the calling rank's generator. Every rank draws, including
// ranks outside the call's mesh and dry runs, so generators stay equal. An explicit seed, 0
// included, produces the same numbers in every call. The initial state is that of seed(0).
#pragma once

#include <cstdint>

namespace phi {

/// Seeds the calling rank's generator. Pass the same number on every rank: the next message between
/// ranks whose generators differ is an error that names both states. Errors: InvalidArgument for a
/// negative number; PreconditionNotMet within a micro-batch (nn::ForwardContextScope, a Trainer's
/// model).
void seed(int64_t number);

/// The complete state of a generator: enough to continue from it.
struct RngState {
  int64_t seed = 0;
  int64_t draws = 0;  // number of draws since the generator was seeded
  friend bool operator==(const RngState&, const RngState&) = default;
};
/// The state of the calling rank's generator.
RngState rng_state();
/// Continues from `state` on the calling rank. Errors: those of seed().
void set_rng_state(const RngState& state);

}  // namespace phi
