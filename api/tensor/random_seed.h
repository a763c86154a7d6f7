// The seed of random operators that are given none.
//
//   phi::seed(7);
//   Tensor a = gaussian({3}), b = gaussian({3});     // two draws
//   phi::seed(7);
//   Tensor c = gaussian({3});                        // a again
//
// Each call that leaves its seed out draws one from the calling rank's generator, on every rank
// alike: also where the call runs on a mesh without the rank, and in a dry run. An explicit seed,
// 0 too, gives the same numbers in every call. A process that seeds nothing begins as by seed(0).
#pragma once

#include <cstdint>

namespace phi {

/// Every rank gives the same number: the next message between ranks whose generators differ is an
/// error that names both. Errors: InvalidArgument for a negative number; PreconditionNotMet within
/// a micro-batch (nn::PassScope, a Trainer's model).
void seed(int64_t number);

/// Where a generator is: enough to go on from there.
struct RngState {
  int64_t seed = 0;
  int64_t draws = 0;  // so far
  friend bool operator==(const RngState&, const RngState&) = default;
};
/// Of the calling rank.
RngState rng_state();
/// Errors: as seed().
void set_rng_state(const RngState& state);

}  // namespace phi
