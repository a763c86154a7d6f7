// The parts of TracedAction that run only if the rank has a trace.
#include "api/call/traced_action.h"

#include <fmt/format.h>

#include <string>

namespace phi {

void TracedAction::number(char letter, int64_t micro_batch) {
  const std::string name = fmt::format("{}{}", letter, micro_batch);
  span_.fill([&](Trace& trace, TraceEvent& event) { event.name = trace.text(name); });
}

void TracedAction::made_on(const distributed::ProcessMesh& mesh) {
  if (mesh.contains(rank_.rank())) return;
  span_.fill([](Trace&, TraceEvent& event) { event.kind = TraceKind::kClippedAction; });
}

}  // namespace phi
