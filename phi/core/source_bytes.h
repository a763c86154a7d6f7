// Bytes of a source by their place in its row-major array, for who takes a value piece by piece.
#pragma once

#include <cstddef>
#include <span>

#include "phi/core/storage.h"

namespace phi {

/// Writes bytes [offset, offset + out.size()) of the source's array to `out`, both multiples of the
/// element size. A source on disk counts as read to the host. Errors: those of the source.
void read_bytes(const Storage::Source& source, size_t offset, std::span<std::byte> out);

}  // namespace phi
