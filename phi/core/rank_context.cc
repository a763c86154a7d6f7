// The default context of a process.
#include "phi/core/rank_context.h"

namespace phi {

RankContext& RankContext::process_default() {
  static auto& context = *new RankContext;
  return context;
}

}  // namespace phi
