// A number is finite unless all bits of its exponent are set.
#include "phi/common/finite.h"

#include <algorithm>
#include <cstring>

namespace phi {
namespace {

// Whole blocks are tested without a branch per element, so that the compiler vectorises the loop.
constexpr int64_t kBlock = 4096;

template <typename Bits>
int64_t first_with(const std::byte* data, int64_t n, Bits exponent) {
  const auto at = [&](int64_t i) {
    Bits bits;
    std::memcpy(&bits, data + i * static_cast<int64_t>(sizeof bits), sizeof bits);
    return (bits & exponent) == exponent;
  };
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    bool any = false;
    for (int64_t i = begin; i < end; ++i) any |= at(i);
    if (!any) continue;
    for (int64_t i = begin; i < end; ++i) {
      if (at(i)) return i;
    }
  }
  return -1;
}

}  // namespace

int64_t first_nonfinite(std::span<const std::byte> bytes, DataType dtype) {
  if (!is_floating(dtype)) return -1;
  const auto n = static_cast<int64_t>(bytes.size() / size_of(dtype));
  switch (size_of(dtype)) {
    case 2:
      return first_with<uint16_t>(bytes.data(), n, dtype == DataType::FLOAT16 ? 0x7c00 : 0x7f80);
    case 4:
      return first_with<uint32_t>(bytes.data(), n, 0x7f800000u);
    default:
      return first_with<uint64_t>(bytes.data(), n, 0x7ff0000000000000u);
  }
}

}  // namespace phi
