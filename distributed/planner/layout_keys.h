// The keys of a layout that a plan chooses, as text.
//
//   LayoutSpace space{.devices = 16, .global_batch = 32, .layers = 12};
//   fix_keys({"tp=8", "zero_stage=1"}, &space);
//   check_has_layouts(space);
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/planner/job_layout.h"

namespace phi::distributed {

struct LayoutKey {
  std::string_view name;
  std::function<std::string(const JobLayout&)> value;
  /// Allows the value of a layout beside those that the space allows.
  std::function<void(const JobLayout&, LayoutSpace*)> allow;
  std::function<void(LayoutSpace*)> allow_all;
  /// The values that the space allows; none if it allows all.
  std::function<std::vector<std::string>(const LayoutSpace&)> allowed;
  /// Allows one value only. Errors: InvalidArgument for a text that is no value of the key.
  std::function<void(const std::string& value, LayoutSpace*)> fix;
};

/// dp, pp, tp, schedule, chunks, micro_batches, zero_stage, sequence_parallel, recompute,
/// mesh_order.
const std::vector<LayoutKey>& layout_keys();

/// Restricts `space` by texts "key=value": "tp=8", "zero_stage=1", "schedule=1f1b", "run.chunks=2".
/// Errors: InvalidArgument for an unknown key, with the nearest one, for values that a key cannot
/// have, and for a key that has been fixed to another value.
void fix_keys(const std::vector<std::string>& texts, LayoutSpace* space);

/// Errors: InvalidArgument if there are no layouts, with the fixed keys and the values that each
/// of them could have instead.
void check_has_layouts(const LayoutSpace& space);

}  // namespace phi::distributed
