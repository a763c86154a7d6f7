// Names of the tensors of a call, and its location.
#include "api/explain/call_names.h"

#include <fmt/format.h>

#include "api/call/call_site.h"
#include "api/explain/explanation_text.h"
#include "phi/core/rank_context.h"

namespace phi {

NamesByStorage::NamesByStorage(const TensorNames& names) {
  for (const auto& [name, tensor] : names) {
    if (tensor.defined()) names_[array_of(tensor).storage()->id()] = name;
  }
}

std::string NamesByStorage::of(const DenseTensor& array) const {
  if (names_.empty() || !array.storage()) return "";
  const auto found = names_.find(array.storage()->id());
  return found == names_.end() ? "" : found->second;
}

size_t end_of(const CallSlots& slots, size_t arg) {
  return arg + 1 < slots.begin.size() ? static_cast<size_t>(slots.begin[arg + 1])
                                      : slots.tensors.size();
}

size_t argument_of(const CallSlots& slots, size_t slot) {
  size_t arg = 0;
  while (end_of(slots, arg) <= slot) ++arg;
  return arg;
}

std::string name_of_slot(const OpDef& op, const CallSlots& slots, size_t slot) {
  const size_t arg = argument_of(slots, slot);
  const std::string name = arg < op.inputs.size() ? op.inputs[arg] : "input";
  const auto first = static_cast<size_t>(slots.begin[arg]);
  return end_of(slots, arg) - first == 1 ? name : fmt::format("{}[{}]", name, slot - first);
}

std::string current_place() {
  ExplainedCall call;
  const CallSite& site = CallSite::current();
  if (site.module) call.module = site.module;
  if (site.file) call.file = site.file;
  call.line = site.line;
  std::string out = call.where();
  const auto add = [&](const char* what, int32_t number) {
    if (number >= 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, number);
  };
  const RankWork& work = RankContext::current().work();
  add("step", work.step);
  add("micro-batch", work.micro_batch);
  add("chunk", work.chunk);
  return out;
}

}  // namespace phi
