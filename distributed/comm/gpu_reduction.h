// How reductions over arrays on GPUs are computed.
#pragma once

#include <cstdint>

namespace phi::distributed {

/// How reductions over GPUs are computed.
enum class GpuReduction : uint8_t {
  /// In the order of group positions. Half precision is accumulated in float and rounded once. Same
  /// bits as on every other backend.
  kExact,
  /// By NCCL's algorithms, if NCCL supports the dtype and the kind. NCCL chooses the order, and
  /// half precision may be rounded after each step.
  kFast,
};

}  // namespace phi::distributed
