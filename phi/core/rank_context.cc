// The context of a process that never made one.
#include "phi/core/rank_context.h"

namespace phi {

RankContext& RankContext::process_default() {
  static auto& context = *new RankContext;
  return context;
}

}  // namespace phi
