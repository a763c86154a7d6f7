// Storages over the bytes of somebody else who counts references: arrays of other libraries.
//
//   const auto array = std::make_shared<std::vector<float>>(1024);
//   auto* bytes = reinterpret_cast<std::byte*>(array->data());
//   const auto storage = storage_over(bytes, 4096, CPUPlace(), array);
#pragma once

#include <cstddef>
#include <memory>

#include "phi/core/storage/storage.h"

namespace phi {

/// As Storage::borrow; `owner`, who has the bytes, is kept until the storage ends, and let go of on
/// the thread on which that happens.
IntrusivePtr<Storage> storage_over(std::byte* data, size_t nbytes, const Place& place,
                                   std::shared_ptr<const void> owner);

}  // namespace phi
