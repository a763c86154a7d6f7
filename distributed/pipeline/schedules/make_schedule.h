// The known schedules, each a pure function of the numbers of stages, micro-batches and chunks.
//
//   make_schedule(ScheduleKind::k1F1B, 4, 8).actions[3];   // F0 B0 F1 B1 ...
//
// All of them work for every stages >= 1 and micro_batches >= 1.
#pragma once

#include "distributed/pipeline/schedules/schedule.h"

namespace phi::distributed::pipeline {

/// Stages times chunks times micro-batches of the largest table that is made.
inline constexpr int64_t kMaxTableSize = int64_t{1} << 22;

/// The schedule of a kind. `chunks` is the number of model chunks per stage: any for kInterleaved,
/// 1 for the others. Errors: InvalidArgument for a number below 1, for chunks where the kind has
/// none, and for a table above kMaxTableSize.
Schedule make_schedule(ScheduleKind kind, int stages, int micro_batches, int chunks = 1);

/// F-then-B: all forwards, then all backwards in the same order. Holds all micro-batches.
Schedule gpipe(int stages, int micro_batches);

/// Stage i warms up with stages - 1 - i forwards, then pairs of a forward and a backward; it holds
/// at most stages - i micro-batches.
Schedule one_forward_one_backward(int stages, int micro_batches);

/// 1F1B over virtual stages in Megatron's order: micro-batches go in groups of `stages`, each group
/// through chunk 0, then chunk 1, ... (backwards from the last chunk), after a warm-up of
/// 2(stages - 1 - i) + (chunks - 1) * stages forwards. A last group that is not full has the order
/// of a full one without the micro-batches that are missing: it cannot deadlock, nor take longer.
/// One chunk is one_forward_one_backward.
Schedule interleaved(int stages, int micro_batches, int chunks);

/// 1F1B with each backward in two: stage i runs the weight's part only when more than i of them are
/// pending, so that input gradients leave early and weight gradients fill the bubble.
Schedule zero_bubble_h1(int stages, int micro_batches);

/// The same with a warm-up of 2(stages - 1 - i) forwards before the pairs and up to 2i pending
/// weight gradients: almost no bubble, up to 2 * stages - 1 micro-batches held.
Schedule zero_bubble_h2(int stages, int micro_batches);

}  // namespace phi::distributed::pipeline
