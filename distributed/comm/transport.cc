// What all transports share.
#include "distributed/comm/transport.h"

#include "phi/common/errors.h"

namespace phi::distributed {

RankStatus Transport::rank_status(int64_t /*rank*/) const { return {}; }

void Transport::check_not_forked(std::string_view what) const {
  if (!was_forked()) [[likely]]
    return;
  throw errors::PreconditionNotMet(
      "{} cannot be done here: this process was forked by rank {} of {} and is not a rank itself. "
      "Plain tensors work in it. Fork before the job is joined, or start the process without fork "
      "(in Python's multiprocessing: the start method 'spawn').",
      what, rank(), size());
}

}  // namespace phi::distributed
