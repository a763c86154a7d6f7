// BlockedArray: a matrix in device memory, host memory or on disk, for access by blocks.
//
//   auto a = BlockedArray::resident(DataType::FLOAT32, pointer, rows, columns);
//   auto b = BlockedArray::on_disk(swap->bytes_of(extent), DataType::FLOAT32, rows, columns);
//   auto part = BlockedArray::on_disk(file, DataType::FLOAT32, 100, 64, /*row_stride=*/512,
//                                     /*offset=*/3 * 512 + 128);   // rows 3.., columns 128..
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "phi/common/dtype.h"
#include "phi/core/storage/tier.h"
#include "phi/memory/io/async_file.h"

namespace phi::memory {

/// A row-major matrix [rows, columns] with a row stride. It does not own memory.
struct BlockedArray {
  Tier tier = Tier::kDevice;
  DataType dtype = DataType::UNDEFINED;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_stride = 0;  // in elements, at least columns
  int64_t offset = 0;      // on disk: position of the first element, in elements
  std::byte* memory = nullptr;
  std::shared_ptr<PagedBytes> pages;  // on disk

  /// An array in device memory, which is used in place. A row stride of 0 means `columns`.
  static BlockedArray resident(DataType dtype, const void* data, int64_t rows, int64_t columns,
                               int64_t row_stride = 0) {
    return in_memory(Tier::kDevice, dtype, data, rows, columns, row_stride);
  }
  /// An array in host memory, which is copied to the device by blocks.
  static BlockedArray on_host(DataType dtype, const void* data, int64_t rows, int64_t columns,
                              int64_t row_stride = 0) {
    return in_memory(Tier::kHost, dtype, data, rows, columns, row_stride);
  }
  static BlockedArray on_disk(std::shared_ptr<PagedBytes> pages, DataType dtype, int64_t rows,
                              int64_t columns, int64_t row_stride = 0, int64_t offset = 0) {
    const int64_t stride = row_stride ? row_stride : columns;
    return {Tier::kDisk, dtype, rows, columns, stride, offset, nullptr, std::move(pages)};
  }

  int64_t element_bytes() const { return static_cast<int64_t>(size_of(dtype)); }
  int64_t row_bytes() const { return row_stride * element_bytes(); }
  /// Byte offset of an element, from `memory` or from the first page.
  int64_t byte_of(int64_t row, int64_t column) const {
    return (offset + row * row_stride + column) * element_bytes();
  }

 private:
  static BlockedArray in_memory(Tier tier, DataType dtype, const void* data, int64_t rows,
                                int64_t columns, int64_t row_stride) {
    // The type is the same for inputs and outputs; inputs are never written to.
    auto* memory = static_cast<std::byte*>(const_cast<void*>(data));
    return {tier, dtype, rows, columns, row_stride ? row_stride : columns, 0, memory, nullptr};
  }
};

}  // namespace phi::memory
