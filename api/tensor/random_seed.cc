// Reads and writes the state of the calling rank's generator.
#include "api/tensor/random_seed.h"

#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi {

void seed(int64_t number) { set_rng_state({.seed = number}); }

RngState rng_state() {
  const GeneratorState& state = RankContext::current().generator().state();
  return {static_cast<int64_t>(state.seed), static_cast<int64_t>(state.draws)};
}

void set_rng_state(const RngState& state) {
  PHI_CHECK(state.seed >= 0 && state.draws >= 0,
            errors::InvalidArgument("seed {} after {} draws: both must be from 0 to 2^63 - 1.",
                                    state.seed, state.draws));
  RankContext& rank = RankContext::current();
  PHI_CHECK(!rank.generator().state().pass && !rank.recorder(),
            errors::PreconditionNotMet("the generator is seeded within {}; seed it before.",
                                       rank.recorder() ? "a function that is being captured"
                                                       : "a micro-batch, whose draws follow its "
                                                         "number"));
  rank.generator().set_state(
      {.seed = static_cast<uint64_t>(state.seed), .draws = static_cast<uint64_t>(state.draws)});
}

}  // namespace phi
