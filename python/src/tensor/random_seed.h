// The generator of the calling rank, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

/// seed, get_rng_state and set_rng_state.
void bind_random_seed(nanobind::module_& module);
/// MicroBatch: within one, draws follow its number.
void bind_micro_batch(nanobind::module_& training);

}  // namespace phi::python
