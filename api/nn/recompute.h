// The choice of values that the backward pass recomputes instead of keeping.
#pragma once

#include <cstdint>

namespace phi::nn {

/// Recomputes nothing, the cores of Attention modules, or whole layers of Sequential::repeat (Chen
/// et al. 2016; selective: Korthikanti et al. 2022).
enum class Recompute : uint8_t { kNone, kSelective, kFull };

}  // namespace phi::nn
