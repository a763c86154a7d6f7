// One loop per pair of floating-point dtypes.
#include "distributed/checkpoint/format/convert.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace phi::distributed::checkpoint {
namespace {

template <typename T>
constexpr bool kIsFloating = is_floating(dtype_of<T>());

}  // namespace

bool convertible(DataType from, DataType to) {
  return from == to || (is_floating(from) && is_floating(to));
}

void convert(const void* in, DataType from, void* out, DataType to, int64_t n) {
  if (from == to) {
    if (n > 0) std::memcpy(out, in, static_cast<size_t>(n) * size_of(from));
    return;
  }
  visit_dtype(from, [&]<typename From>() {
    visit_dtype(to, [&]<typename To>() {
      if constexpr (kIsFloating<From> && kIsFloating<To>) {
        const auto* source = static_cast<const From*>(in);
        std::transform(source, source + n, static_cast<To*>(out), [](From x) {
          if constexpr (std::is_same_v<To, double>) return static_cast<double>(x);
          return static_cast<To>(static_cast<float>(x));
        });
      }
    });
  });
}

}  // namespace phi::distributed::checkpoint
