// Bytes of a source by their place in its row-major array, for who takes a value piece by piece.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/host_array.h"
#include "phi/core/storage/storage.h"

namespace phi {

/// Writes bytes [offset, offset + out.size()) of the source's array to `out`, both multiples of the
/// element size. A source on disk counts as read to the host. Errors: those of the source.
void read_bytes(const Storage::Source& source, size_t offset, std::span<std::byte> out);

/// The bytes of an array for a moment on the host: where they are if they are here, else a copy
/// that its source gives, so that nothing comes to the device.
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
