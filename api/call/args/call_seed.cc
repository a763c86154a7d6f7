// Draws a seed in the call, or reports the draw so that each run of a program repeats it.
#include "api/call/args/call_seed.h"

#include <utility>

#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/kernels/functors/drawn_seed.h"

namespace phi {

CallSeed::CallSeed(const OpDef& op, std::optional<int64_t> given, int slot, bool is_fixed, Tag)
    : op_(op), value_(is_fixed && !given ? 0 : given) {
  if (value_) return;
  RankContext& rank = RankContext::current();
  const uint64_t number = rank.generator().take();
  // Draws of a numbered forward context depend on its number, so they need no draw in each run.
  if (rank.recorder() == nullptr || rank.generator().state().pass) {
    value_ = drawn_seed(rank.generator().state().seed, number);
    return;
  }
  if (slot < 0) return;  // no kernel argument receives the seed
  recorder_ = rank.recorder();
  before_ =
      std::exchange(recorder_->draw_at_run, DrawAtRun{&op, static_cast<size_t>(slot), number});
}

CallSeed::~CallSeed() {
  if (recorder_) recorder_->draw_at_run = before_;
}

int64_t CallSeed::known() const {
  PHI_CHECK(value_, errors::Unimplemented("the gradient of {} needs its seed, but each run of a "
                                          "captured program draws a new one; pass the seed.",
                                          op_.name));
  return *value_;
}

template <>
void AttributeList::add(const CallSeed& seed) {
  add(seed.value());
}

}  // namespace phi
