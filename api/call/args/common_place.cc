// The error for tensors on different places.
#include "api/call/args/common_place.h"

#include "phi/common/errors.h"

namespace phi {

void throw_several_places(const OpDef& op, const Place& a, const Place& b) {
  throw errors::InvalidArgument(
      "{} takes tensors of one place, and these lie on {} and on {}. A tensor lies where "
      "RankContext::set_place of its rank says, or where the operator that made it was told to "
      "put it.",
      op.name, a.to_string(), b.to_string());
}

}  // namespace phi
