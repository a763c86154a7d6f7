// Keys, and prefixes of keys.
#include "tools/job/config/keys/step_keys.h"

#include <algorithm>
#include <array>

namespace phi::job {
namespace {

template <typename Keys>
bool begins_with_one_of(std::string_view key, const Keys& keys) {
  return std::ranges::any_of(keys, [&](std::string_view each) { return key.starts_with(each); });
}

}  // namespace

bool changes_steps(std::string_view key) {
  constexpr std::array kKeys = {"mode",
                                "model.",
                                "mesh",
                                "place",
                                "data.image_size",
                                "optimizer.kind",
                                "optimizer.grad_clip",
                                "run.",
                                "pipeline.",
                                "placements."};
  constexpr std::array kOthers = {"model.seed",       "run.steps",     "run.save",
                                  "run.on_nonfinite", "run.loss_jump", "run.graphs"};
  return begins_with_one_of(key, kKeys) && !begins_with_one_of(key, kOthers);
}

bool is_layout_key(std::string_view key) {
  constexpr std::array kKeys = {
      "mesh.",      "pipeline.",      "placements.",           "run.micro_batches", "run.schedule",
      "run.chunks", "run.zero_stage", "run.sequence_parallel", "run.recompute"};
  return begins_with_one_of(key, kKeys);
}

}  // namespace phi::job
