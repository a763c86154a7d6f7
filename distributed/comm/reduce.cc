// Reduction arithmetic. A block of accumulators stays in the first-level cache while all inputs are
// added to it. Each input is therefore read once and the output written once.
#include "distributed/comm/reduce.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "distributed/comm/combine.h"
#include "phi/common/errors.h"
#include "phi/core/device/host_array.h"

namespace phi::distributed {
namespace {

constexpr int64_t kBlock = 1024;

template <typename T, typename A>
T large_mean(std::span<const void* const> inputs, int64_t element) {
  LargeMean<A> mean(static_cast<int64_t>(inputs.size()));
  for (const void* input : inputs) mean.add(static_cast<A>(static_cast<const T*>(input)[element]));
  return static_cast<T>(mean.mean());
}

// Computes elements [begin, begin + size) of the result from their accumulators.
template <typename T, ReduceKind kKind, typename A>
void put_reduced(const A* combined, std::span<const void* const> inputs, int64_t begin,
                 int64_t size, T* out) {
  const auto n = static_cast<int64_t>(inputs.size());
  if constexpr (kMayOverflow<kKind, T>) {
    bool all_finite = true;
    for (int64_t i = 0; i < size; ++i) all_finite = all_finite && is_finite(combined[i]);
    if (!all_finite) [[unlikely]] {
      for (int64_t i = 0; i < size; ++i) {
        out[begin + i] = is_finite(combined[i]) ? reduced<kKind, T>(combined[i], n)
                                                : large_mean<T, A>(inputs, begin + i);
      }
      return;
    }
  }
  for (int64_t i = 0; i < size; ++i) out[begin + i] = reduced<kKind, T>(combined[i], n);
}

template <typename T, ReduceKind kKind>
void reduce_typed(std::span<const void* const> inputs, T* out, int64_t count) {
  using A = reduction_t<kKind, T>;
  alignas(64) A block[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t size = std::min(kBlock, count - begin);
    const T* first = static_cast<const T*>(inputs[0]) + begin;
    for (int64_t i = 0; i < size; ++i) block[i] = static_cast<A>(first[i]);
    for (size_t j = 1; j < inputs.size(); ++j) {
      const T* next = static_cast<const T*>(inputs[j]) + begin;
      for (int64_t i = 0; i < size; ++i) {
        block[i] = combine<kKind, A>(block[i], static_cast<A>(next[i]));
      }
    }
    put_reduced<T, kKind>(block, inputs, begin, size, out);
  }
}

// The largest (sign +1) or smallest (sign -1) value of T.
template <typename T>
T extreme(int sign) {
  if constexpr (kIsComplex<T>) {
    throw_no_order(dtype_of<T>(), sign > 0 ? ReduceKind::kMin : ReduceKind::kMax);
  } else if constexpr (std::is_same_v<T, bool>) {
    return sign > 0;
  } else if constexpr (std::is_integral_v<T>) {
    return sign > 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  } else {
    using F = accumulator_t<T>;
    return static_cast<T>(static_cast<F>(sign) * std::numeric_limits<F>::infinity());
  }
}

template <typename T>
T identity(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kAny:
      return T(0);
    case ReduceKind::kProd:
    case ReduceKind::kAll:
      return T(1);
    case ReduceKind::kMax:
      return extreme<T>(-1);
    case ReduceKind::kMin:
      return extreme<T>(+1);
    case ReduceKind::kAvg:
      break;
  }
  throw errors::InvalidArgument("avg has no identity element; every rank keeps the value instead.");
}

constexpr size_t kWidestElement = 16;

// Doubles the filled prefix until the memory is full.
void fill_with(Device& device, std::byte* memory, size_t nbytes,
               std::span<const std::byte> element) {
  const bool is_even = std::ranges::all_of(element, [&](std::byte b) { return b == element[0]; });
  if (is_even) return device.fill(memory, element[0], nbytes);
  for (size_t k = 0; k < element.size(); ++k) device.fill(memory + k, element[k], 1);
  for (size_t there = element.size(); there < nbytes; there *= 2) {
    device.copy(memory + there, memory, std::min(there, nbytes - there));
  }
}

}  // namespace

void reduce_arrays(std::span<const void* const> inputs, void* out, int64_t count, DataType dtype,
                   ReduceKind kind) {
  if (inputs.empty() || count == 0) return;
  visit_any_dtype(dtype, [&]<typename T>() {
    visit_reduce_kind<T>(kind, [&]<ReduceKind kKind>() {
      reduce_typed<T, kKind>(inputs, static_cast<T*>(out), count);
    });
  });
}

void fill_identity(ReduceKind kind, DenseTensor& out) {
  if (out.numel() == 0) return;
  auto* const bytes = static_cast<std::byte*>(out.mutable_raw_data());
  Device& device = Device::of(out.place());
  if (device.is_host()) return fill_identity(bytes, out.numel(), out.dtype(), kind);
  // The device's own fills and copies write the elements, so the host need not wait for the device.
  alignas(kWidestElement) std::array<std::byte, kWidestElement> element;
  fill_identity(element.data(), 1, out.dtype(), kind);
  fill_with(device, bytes, out.nbytes(), {element.data(), size_of(out.dtype())});
}

void fill_identity(void* out, int64_t count, DataType dtype, ReduceKind kind) {
  visit_any_dtype(
      dtype, [&]<typename T>() { std::fill_n(static_cast<T*>(out), count, identity<T>(kind)); });
}

}  // namespace phi::distributed
