// The parts of TracedAction that run only if the rank keeps a trace.
#include "api/call/traced_action.h"

#include <fmt/format.h>

namespace phi {

void TracedAction::number(char letter, int64_t micro_batch) {
  span_.event()->name =
      RankContext::current().trace()->text(fmt::format("{}{}", letter, micro_batch));
}

void TracedAction::made_on(const distributed::ProcessMesh& mesh) {
  if (!mesh.contains(RankContext::current().rank())) {
    span_.event()->kind = TraceKind::kClippedAction;
  }
}

}  // namespace phi
