// The known pipeline schedules, as pure functions of the numbers of stages, micro-batches and
// chunks.
//
//   make_schedule(ScheduleKind::k1F1B, 4, 8).actions[3];   // F0 B0 F1 B1 ...
//
// All accept every stages >= 1 and micro_batches >= 1.
#pragma once

#include "distributed/pipeline/schedules/schedule.h"

namespace phi::distributed::pipeline {

/// Limit of stages * chunks * micro-batches.
inline constexpr int64_t kMaxTableSize = int64_t{1} << 22;

/// Returns the schedule of a kind. `chunks` is the number of model chunks per stage: any for
/// kInterleaved, 1 for the others. Errors: InvalidArgument for a number below 1, for several chunks
/// of a kind without chunks, and for a table above kMaxTableSize.
Schedule make_schedule(ScheduleKind kind, int stages, int micro_batches, int chunks = 1);

/// F-then-B: all forwards, then all backwards in the same order. A stage holds all micro-batches.
Schedule gpipe(int stages, int micro_batches);

/// 1F1B: stage i warms up with stages - 1 - i forwards, then alternates forwards and backwards. It
/// holds at most stages - i micro-batches.
Schedule one_forward_one_backward(int stages, int micro_batches);

/// 1F1B over virtual stages in Megatron's order. Micro-batches go in groups of `stages`; each group
/// passes chunk 0, then chunk 1, ... (backwards from the last chunk), after a warm-up of 2(stages -
/// 1 - i) + (chunks - 1) * stages forwards. A last group that is not full has the order of a full
/// one without the missing micro-batches; it cannot deadlock, nor take longer. With one chunk this
/// is one_forward_one_backward.
Schedule interleaved(int stages, int micro_batches, int chunks);

/// ZB-H1: 1F1B with each backward split in two. Stage i runs a backward_weight only when more than
/// i are pending. Input gradients leave early, and weight gradients fill the bubble.
Schedule zero_bubble_h1(int stages, int micro_batches);

/// ZB-H2: the same with a warm-up of 2(stages - 1 - i) forwards and up to 2i pending weight
/// gradients. It has almost no bubble and holds up to 2 * stages - 1 micro-batches.
Schedule zero_bubble_h2(int stages, int micro_batches);

}  // namespace phi::distributed::pipeline
