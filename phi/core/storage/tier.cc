// Names of tiers, and access to the calling rank's transfer counts.
#include "phi/core/storage/tier.h"

#include "phi/core/rank_context.h"

namespace phi {

const char* name_of(Tier tier) {
  switch (tier) {
    case Tier::kDevice:
      return "device";
    case Tier::kHost:
      return "host";
    case Tier::kDisk:
      return "disk";
  }
  return "unknown";
}

TransferStats transfer_stats() { return RankContext::current().transfers(); }
void reset_transfer_stats() { RankContext::current().transfers() = {}; }
void count_transfer(Tier from, Tier to, int64_t bytes) {
  RankContext::current().transfers().add(from, to, bytes);
}

}  // namespace phi
