// Agreement: the ranks of a job compare what each takes the job to be, before they begin.
//
//   Facts facts = {{"model.seed", "3"}, {"data.seed", "5"}};
//   agree_on(world, facts);   // throws, on all ranks the same, if one has other facts
//
// Without it a rank that was started with another learning rate, another text or another binary
// computes something else than the others, and nobody notices.
#pragma once

#include <string>
#include <vector>

#include "distributed/comm/world.h"

namespace phi::distributed {

/// Something that must be the same on all ranks, as people would say it.
struct Fact {
  std::string key;
  std::string value;
  friend bool operator==(const Fact&, const Fact&) = default;
};
using Facts = std::vector<Fact>;  // each key once

/// {"key": "value", ...} in their order; what is not UTF-8 is replaced.
std::string to_json(const Facts& facts);

/// Collective over the world. Errors: InvalidArgument, with the same words on all ranks, that names
/// each key on which they differ, its values, and the ranks that hold each:
///   | the ranks of this job were started differently:
///   |   model.seed is '3' at ranks 0 and 2-7, '4' at rank 1
void agree_on(World& world, const Facts& facts);

/// "rank 3", "ranks 0, 2-5 and 7"; `ranks` ascend.
std::string name_ranks(const std::vector<int64_t>& ranks);

}  // namespace phi::distributed
