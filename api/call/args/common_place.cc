// The error for tensors on different places.
#include "api/call/args/common_place.h"

#include "phi/common/errors.h"

namespace phi {

void throw_several_places(const OpDef& op, const Place& a, const Place& b) {
  throw errors::InvalidArgument(
      "{} needs all tensors on one place, but these are on {} and on {}. The place of a tensor is "
      "set by RankContext::set_place of its rank, or by the place argument of the operator that "
      "created it.",
      op.name, a.to_string(), b.to_string());
}

}  // namespace phi
