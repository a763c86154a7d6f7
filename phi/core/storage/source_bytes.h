// Reads byte ranges of a source's row-major array, for callers that process a value in pieces.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/host_array.h"
#include "phi/core/storage/storage.h"

namespace phi {

/// Copies bytes [offset, offset + out.size()) of the source's array to `out`. `offset` and
/// out.size() must be multiples of the element size. A read from disk is counted as a transfer to
/// the host. Errors: those of the source.
void read_bytes(const Storage::Source& source, size_t offset, std::span<std::byte> out);

/// The bytes of an array on the host, valid for the lifetime of this object. A deferred or swapped
/// array is read from its source into a temporary copy and is not brought to the device.
class HostBytes {
 public:
  explicit HostBytes(const DenseTensor& array);
  std::span<const std::byte> get() const { return bytes_; }

 private:
  HostArray on_host_;
  std::vector<std::byte> copy_;
  std::span<const std::byte> bytes_;
};

}  // namespace phi
