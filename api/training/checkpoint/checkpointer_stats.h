// Counters of a Checkpointer.
#pragma once

#include <cstdint>

namespace phi::training {

struct CheckpointerStats {
  int64_t saves = 0;
  int64_t failures = 0;
  int64_t rollbacks = 0;
  double paused_seconds = 0.0;  // time that training waited for saves
};

}  // namespace phi::training
