// What tests of captured programs share: tensors with values, and their bits.
#pragma once

#include <cstddef>
#include <vector>

#include "phi/tensor_api.h"

namespace phi::testing {

/// Of this rank's part; none where it has no bytes.
inline std::vector<std::byte> bytes_of(const Tensor& x) {
  const DenseTensor& array = x.is_dist() ? x.dist().local() : x.dense();
  if (!array.initialized()) return {};
  const auto* data = static_cast<const std::byte*>(array.raw_data());
  return {data, data + array.nbytes()};
}

/// Random values that are on the device.
inline Tensor weights(const Dims& shape, uint64_t seed) {
  Tensor w = deferred_gaussian(shape, 0.0f, 0.4f, seed);
  w.dense().raw_data();
  return w;
}

/// The same behind other values in one storage.
inline Tensor weights_within(const Dims& shape, uint64_t seed) {
  const Tensor own = weights(shape, seed);
  const Tensor whole = weights({3, own.dense().numel()}, seed + 1);
  const size_t offset = own.nbytes_here();
  const DenseTensor part(own.meta(), whole.dense().storage(), offset);
  return Tensor(part);
}

}  // namespace phi::testing
