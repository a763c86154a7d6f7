// The choice of values that the backward pass recomputes instead of keeping.
#pragma once

#include <cstdint>

namespace phi::distributed {

/// Recomputes nothing, the cores of attention (Korthikanti et al. 2022), or whole layers (Chen et
/// al. 2016).
enum class Recompute : uint8_t { kNone, kSelective, kFull };

}  // namespace phi::distributed
