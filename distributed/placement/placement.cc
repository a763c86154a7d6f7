// Names of placements and reduce kinds.
#include "distributed/placement/placement.h"

#include <array>

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {
constexpr std::array<std::string_view, 7> kReduceNames = {"sum",  "avg", "max", "min",
                                                          "prod", "any", "all"};
}

std::string_view name_of(ReduceKind kind) { return kReduceNames[static_cast<int>(kind)]; }

ReduceKind parse_reduce_kind(std::string_view name) {
  if (name == "product") return ReduceKind::kProd;
  for (size_t i = 0; i < kReduceNames.size(); ++i) {
    if (kReduceNames[i] == name) return static_cast<ReduceKind>(i);
  }
  throw errors::InvalidArgument(
      "unknown reduce kind '{}'; use one of sum, avg, max, min, prod, any, all.", name);
}

std::string Placement::to_string() const {
  switch (kind_) {
    case Kind::kReplicate:
      return "R";
    case Kind::kPartial:
      return fmt::format("P({})", name_of(reduce_));
    case Kind::kShard:
      break;
  }
  return order_ == 0 ? fmt::format("S{}", tensor_dim_) : fmt::format("S{}.{}", tensor_dim_, order_);
}

}  // namespace phi::distributed
