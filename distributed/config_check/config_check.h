// Configuration consistency check: before a job begins, its ranks compare the entries that must be
// equal on all of them.
//
//   ConfigEntries entries = {{"model.seed", "3"}, {"data.seed", "5"}};
//   check_config_consistency(world, entries);  // throws on all ranks if one differs
//
// Without the check, a rank started with another learning rate, text or binary computes something
// else than the others, unnoticed.
#pragma once

#include <string>
#include <vector>

#include "distributed/comm/world.h"

namespace phi::distributed {

/// A value that must be equal on all ranks, in user-facing words.
struct ConfigEntry {
  std::string key;
  std::string value;
  friend bool operator==(const ConfigEntry&, const ConfigEntry&) = default;
};
using ConfigEntries = std::vector<ConfigEntry>;  // each key once

/// {"key": "value", ...} in the order of `entries`; text that is not UTF-8 is replaced.
std::string to_json(const ConfigEntries& entries);

/// Compares the entries of all ranks. Collective over the world. Errors: InvalidArgument, with the
/// same text on all ranks. It names each key on which they differ, its values, and the ranks with
/// each value:
///   | the ranks of this job were started differently:
///   |   model.seed is '3' at ranks 0 and 2-7, '4' at rank 1
void check_config_consistency(World& world, const ConfigEntries& entries);

/// "rank 3", "ranks 0, 2-5 and 7"; `ranks` are in ascending order.
std::string name_ranks(const std::vector<int64_t>& ranks);

}  // namespace phi::distributed
