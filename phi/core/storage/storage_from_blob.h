// Storages over bytes that a shared_ptr owns, such as arrays of other libraries.
//
//   const auto array = std::make_shared<std::vector<float>>(1024);
//   auto* bytes = reinterpret_cast<std::byte*>(array->data());
//   const auto storage = storage_from_blob(bytes, 4096, CPUPlace(), array);
#pragma once

#include <cstddef>
#include <memory>

#include "phi/core/storage/storage.h"

namespace phi {

/// Same as Storage::borrow, but the storage keeps `owner`, which owns the bytes. The thread that
/// destroys the storage releases `owner`.
IntrusivePtr<Storage> storage_from_blob(std::byte* data, size_t nbytes, const Place& place,
                                        std::shared_ptr<const void> owner);

}  // namespace phi
