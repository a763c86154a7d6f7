// Binds distributed tensors and worlds of ranks, with the names of paddle.distributed.
#pragma once

#include <nanobind/nanobind.h>

namespace phi::python {

/// shard_tensor, reshard, dtensor_from_local, ...
void bind_distributed(nanobind::module_& module);
/// init, rank, run_ranks, ...
void bind_ranks(nanobind::module_& module);

}  // namespace phi::python
