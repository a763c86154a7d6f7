// All kinds follow one pattern: warm-up forwards, then pairs of a forward and a backward, then the
// remaining backwards. They differ in the warm-up, in the order of chunks, and in the time of
// backward_weight actions.
#include "distributed/pipeline/schedules/make_schedule.h"

#include <algorithm>

#include "phi/common/errors.h"

namespace phi::distributed::pipeline {
namespace {

void check_sizes(int stages, int micro_batches, int chunks) {
  const auto at_least_one = [](std::string_view what, int value) {
    PHI_CHECK(value >= 1, errors::InvalidArgument(
                              "a pipeline schedule needs {} of at least 1, got {}.", what, value));
  };
  at_least_one("stages", stages);
  at_least_one("micro_batches", micro_batches);
  at_least_one("chunks", chunks);
  // In double, because the product of three ints may overflow int64_t.
  const double size = static_cast<double>(stages) * micro_batches * chunks;
  PHI_CHECK(size <= static_cast<double>(kMaxTableSize),
            errors::InvalidArgument(
                "a pipeline schedule of {} stages, {} micro-batches and {} chunks has more than {} "
                "entries; use fewer micro-batches.",
                stages, micro_batches, chunks, kMaxTableSize));
}

// An action and its index among all forwards or all backwards of a stage. Indices may have gaps.
struct Placed {
  int64_t place;
  Action action;
};

std::vector<Placed> in_order(ActionKind kind, int micro_batches) {
  std::vector<Placed> actions;
  actions.reserve(static_cast<size_t>(micro_batches));
  for (int m = 0; m < micro_batches; ++m) actions.push_back({m, {kind, m, 0}});
  return actions;
}

// The forwards with index below warm_up, then forwards and backwards in turn, then the remaining
// backwards.
std::vector<Action> warm_up_then_pairs(const std::vector<Placed>& forwards,
                                       const std::vector<Placed>& backwards, int64_t warm_up) {
  std::vector<Action> actions;
  actions.reserve(forwards.size() + backwards.size());
  auto forward = forwards.begin();
  for (const Placed& backward : backwards) {
    // Backward k is paired with forward warm_up + k.
    for (; forward != forwards.end() && forward->place <= warm_up + backward.place; ++forward) {
      actions.push_back(forward->action);
    }
    actions.push_back(backward.action);
  }
  return actions;
}

// Splits each backward into a backward_input, and a backward_weight that runs once more than
// `pending` wait.
std::vector<Action> split_backward(const std::vector<Action>& actions, size_t pending) {
  std::vector<Action> result;
  std::vector<Action> weights;
  size_t done = 0;
  for (const Action& action : actions) {
    if (action.kind == ActionKind::kForward) {
      result.push_back(action);
      continue;
    }
    result.push_back({ActionKind::kBackwardInput, action.micro_batch, action.chunk});
    weights.push_back({ActionKind::kBackwardWeight, action.micro_batch, action.chunk});
    if (weights.size() - done > pending) result.push_back(weights[done++]);
  }
  result.insert(result.end(), weights.begin() + static_cast<std::ptrdiff_t>(done), weights.end());
  return result;
}

// Groups of `stages` micro-batches, each through all chunks. An incomplete last group uses the
// indices of a complete one.
std::vector<Placed> by_groups(ActionKind kind, int stages, int micro_batches, int chunks) {
  std::vector<Placed> actions;
  actions.reserve(static_cast<size_t>(micro_batches) * static_cast<size_t>(chunks));
  for (int64_t first = 0; first < micro_batches; first += stages) {
    const int64_t end = std::min<int64_t>(first + stages, micro_batches);
    for (int64_t k = 0; k < chunks; ++k) {
      const int64_t chunk = kind == ActionKind::kForward ? k : chunks - 1 - k;
      for (int64_t m = first; m < end; ++m) {
        const int64_t place = first * chunks + k * stages + (m - first);
        actions.push_back({place, {kind, static_cast<int>(m), static_cast<int>(chunk)}});
      }
    }
  }
  return actions;
}

Schedule empty_schedule(ScheduleKind kind, int stages, int micro_batches, int chunks) {
  check_sizes(stages, micro_batches, chunks);
  return {std::string(name_of(kind)), stages, chunks, micro_batches, {}};
}

// ZB-H1 and ZB-H2 differ by `factor`: the multiple of 1F1B's warm-up, and of i pending weight
// gradients.
Schedule zero_bubble(ScheduleKind kind, int stages, int micro_batches, int factor) {
  Schedule schedule = empty_schedule(kind, stages, micro_batches, 1);
  const auto forwards = in_order(ActionKind::kForward, micro_batches);
  const auto backwards = in_order(ActionKind::kBackward, micro_batches);
  for (int i = 0; i < stages; ++i) {
    const int64_t warm_up = int64_t{factor} * (stages - 1 - i);
    const size_t pending = static_cast<size_t>(factor) * static_cast<size_t>(i);
    schedule.actions.push_back(
        split_backward(warm_up_then_pairs(forwards, backwards, warm_up), pending));
  }
  return schedule;
}

}  // namespace

Schedule gpipe(int stages, int micro_batches) {
  Schedule schedule = empty_schedule(ScheduleKind::kGPipe, stages, micro_batches, 1);
  const auto forwards = in_order(ActionKind::kForward, micro_batches);
  const auto backwards = in_order(ActionKind::kBackward, micro_batches);
  schedule.actions.assign(static_cast<size_t>(stages),
                          warm_up_then_pairs(forwards, backwards, micro_batches));
  return schedule;
}

Schedule one_forward_one_backward(int stages, int micro_batches) {
  Schedule schedule = empty_schedule(ScheduleKind::k1F1B, stages, micro_batches, 1);
  const auto forwards = in_order(ActionKind::kForward, micro_batches);
  const auto backwards = in_order(ActionKind::kBackward, micro_batches);
  for (int i = 0; i < stages; ++i) {
    schedule.actions.push_back(warm_up_then_pairs(forwards, backwards, stages - 1 - i));
  }
  return schedule;
}

Schedule interleaved(int stages, int micro_batches, int chunks) {
  Schedule schedule = empty_schedule(ScheduleKind::kInterleaved, stages, micro_batches, chunks);
  if (chunks == 1) {
    schedule.actions = one_forward_one_backward(stages, micro_batches).actions;
    return schedule;
  }
  const auto forwards = by_groups(ActionKind::kForward, stages, micro_batches, chunks);
  const auto backwards = by_groups(ActionKind::kBackward, stages, micro_batches, chunks);
  for (int i = 0; i < stages; ++i) {
    const int64_t warm_up = 2 * int64_t{stages - 1 - i} + int64_t{chunks - 1} * stages;
    schedule.actions.push_back(warm_up_then_pairs(forwards, backwards, warm_up));
  }
  return schedule;
}

Schedule zero_bubble_h1(int stages, int micro_batches) {
  return zero_bubble(ScheduleKind::kZeroBubbleH1, stages, micro_batches, 1);
}

Schedule zero_bubble_h2(int stages, int micro_batches) {
  return zero_bubble(ScheduleKind::kZeroBubbleH2, stages, micro_batches, 2);
}

Schedule make_schedule(ScheduleKind kind, int stages, int micro_batches, int chunks) {
  check_sizes(stages, micro_batches, chunks);
  PHI_CHECK(chunks == 1 || kind == ScheduleKind::kInterleaved,
            errors::InvalidArgument("schedule {} runs 1 model chunk per stage, got chunks = {}; "
                                    "use interleaved, or leave chunks at 1.",
                                    name_of(kind), chunks));
  switch (kind) {
    case ScheduleKind::kGPipe:
      return gpipe(stages, micro_batches);
    case ScheduleKind::k1F1B:
      return one_forward_one_backward(stages, micro_batches);
    case ScheduleKind::kInterleaved:
      return interleaved(stages, micro_batches, chunks);
    case ScheduleKind::kZeroBubbleH1:
      return zero_bubble_h1(stages, micro_batches);
    case ScheduleKind::kZeroBubbleH2:
      return zero_bubble_h2(stages, micro_batches);
  }
  throw errors::Internal("schedule kind {} is unknown.", static_cast<int>(kind));
}

}  // namespace phi::distributed::pipeline
