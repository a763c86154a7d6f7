// Fixes a key of the layouts that a plan chooses among.
#pragma once

#include <string>

#include "distributed/planner/job_layout.h"

namespace phi::distributed {

/// Restricts `space` by "key=value": "tp=8", "zero_stage=1", "schedule=1f1b", "run.chunks=2". Keys:
/// dp, pp, tp, chunks, micro_batches, schedule, zero_stage, sequence_parallel, recompute,
/// mesh_order. Errors: InvalidArgument for an unknown key, with the nearest one, and for values
/// that the key cannot have.
void fix_key(const std::string& text, LayoutSpace* space);

}  // namespace phi::distributed
