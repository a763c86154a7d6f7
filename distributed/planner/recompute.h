// The choice of values that the backward pass recomputes instead of keeping.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace phi::distributed {

/// Recomputes nothing, the cores of attention (Korthikanti et al. 2022), or whole layers (Chen et
/// al. 2016).
enum class Recompute : uint8_t { kNone, kSelective, kFull };

/// By value: as jobs and plans name them.
inline constexpr std::array<std::string_view, 3> kRecomputeNames = {"none", "selective", "full"};
constexpr std::string_view name_of(Recompute recompute) {
  return kRecomputeNames[static_cast<size_t>(recompute)];
}

}  // namespace phi::distributed
