// Binds the random generator of the calling rank.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

/// Binds seed, get_rng_state and set_rng_state.
void bind_random_seed(nanobind::module_& module);
/// Binds MicroBatch, a context in which draws depend on its number.
void bind_micro_batch(nanobind::module_& training);

}  // namespace phi::python
