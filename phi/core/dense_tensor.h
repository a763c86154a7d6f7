// DenseTensor: a local, contiguous, row-major array. It consists of metadata, a storage, and a byte
// offset into the storage. Views (reshape, rows of tensor dim 0) share the storage.
#pragma once

#include <span>
#include <string>

#include "phi/core/device/device.h"
#include "phi/core/meta.h"
#include "phi/core/storage/storage.h"

namespace phi {

class DenseTensor {
 public:
  DenseTensor() = default;
  DenseTensor(const TensorMeta& meta, IntrusivePtr<Storage> storage, size_t byte_offset = 0)
      : meta_(meta), storage_(std::move(storage)), byte_offset_(byte_offset) {}

  /// Allocates an uninitialised array; in a dry run a placeholder. Errors: those of
  /// Storage::allocate.
  static DenseTensor empty(const TensorMeta& meta, const Place& place) {
    return {meta, Storage::allocate(meta.nbytes(), place)};
  }
  /// Copies `values` to the rank's place, and counts a transfer from the host. Errors:
  /// InvalidArgument if there are not dims.numel() values.
  template <typename T>
  static DenseTensor from(std::span<const T> values, const Dims& dims) {
    check_count(values.size(), dims);
    return from({dims, dtype_of<T>()}, values.data());
  }
  /// The same, from meta.nbytes() bytes of host memory.
  static DenseTensor from(const TensorMeta& meta, const void* values);
  /// Errors: InvalidArgument if `given` is not dims.numel().
  static void check_count(size_t given, const Dims& dims);
  /// Errors: InvalidArgument if `wanted` is not the array's dtype.
  void check_dtype(DataType wanted) const {
    if (wanted != meta_.dtype) [[unlikely]]
      throw_wrong_dtype(wanted);
  }

  const TensorMeta& meta() const { return meta_; }
  const Dims& dims() const { return meta_.dims; }
  int ndim() const { return meta_.dims.ndim(); }
  int64_t numel() const { return meta_.numel(); }
  DataType dtype() const { return meta_.dtype; }
  size_t nbytes() const { return meta_.nbytes(); }
  const Place& place() const { return storage_->place(); }

  bool defined() const { return static_cast<bool>(storage_); }
  /// Whether the bytes are here. Also true for an empty array (0 elements) that was computed here.
  bool initialized() const { return storage_ && storage_->has_bytes(); }
  size_t nbytes_here() const { return initialized() ? nbytes() : 0; }
  /// Whether this rank computed or received the array; in a dry run, whether it would have.
  bool computed_here() const {
    return storage_ && (storage_->is_planned() || storage_->has_bytes());
  }
  /// Bytes that this rank holds on the device; in a dry run, bytes that it would hold.
  size_t nbytes_held() const { return computed_here() ? nbytes() : 0; }
  /// Bytes that this rank has on any tier: nbytes_held, or those of a deferred or swapped array.
  size_t nbytes_anywhere() const {
    return computed_here() || (storage_ && storage_->source()) ? nbytes() : 0;
  }
  const IntrusivePtr<Storage>& storage() const { return storage_; }
  size_t byte_offset() const { return byte_offset_; }

  /// The elements, on the array's device. A deferred or swapped array is materialised first.
  /// Errors: PreconditionNotMet for a placeholder, naming the tensor, the op that made it, and why
  /// it has no bytes; InvalidArgument if T is not the array's dtype.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(checked_bytes(dtype_of<T>()));
  }
  /// The elements, for writing. Calls Storage::before_write, so that copy-on-write aliases do not
  /// see the write. The address may be written to until the next alias is made. Code that writes by
  /// other means calls Storage::before_write itself.
  template <typename T>
  T* mutable_data() {
    check_dtype(dtype_of<T>());
    return static_cast<T*>(mutable_raw_data());
  }
  const void* raw_data() const { return bytes(); }
  void* mutable_raw_data() {
    if (storage_) storage_->before_write();
    return bytes();
  }
  /// The elements, for reading on the host. Errors: those of data; PreconditionNotMet if the host
  /// cannot access the device's memory.
  template <typename T>
  std::span<const T> values() const {
    check_on_host();
    return {data<T>(), static_cast<size_t>(numel())};
  }

  /// Shares the storage under other dims. Errors: InvalidArgument if the element counts differ.
  DenseTensor view(const Dims& dims) const;
  /// Rows [begin, end) of tensor dim 0; shares the storage. Errors: OutOfRange.
  DenseTensor rows(int64_t begin, int64_t end) const;
  DenseTensor clone() const;
  /// A copy-on-write alias (Storage::make_alias) of the part with metadata `meta` that begins at
  /// `byte_offset` of this array. Returns an undefined array if no alias is possible.
  DenseTensor alias_part(const TensorMeta& meta, size_t byte_offset) const;
  /// A copy-on-write alias of this array: a new storage that shares the bytes until one of the two
  /// is written to. Small arrays are copied; a deferred or swapped array is materialised first. In
  /// a captured program the alias is a copy, which the executor drops if no later step writes to
  /// either. The alias of a placeholder is another placeholder.
  DenseTensor alias() const;
  /// Same as alias, for messages: the address does not change when this array is written to.
  DenseTensor fixed() const;

 private:
  void* bytes() const {
    if (!storage_ || !storage_->has_bytes()) [[unlikely]]
      bring_here();
    return storage_->data() + byte_offset_;
  }
  void check_on_host() const {
    if (storage_ && storage_->place().kind != DeviceKind::CPU) [[unlikely]]
      if (!Device::of(storage_->place()).is_host()) throw_not_on_host();
  }
  void* checked_bytes(DataType wanted) const {
    check_dtype(wanted);
    return bytes();
  }
  void bring_here() const;
  [[noreturn]] void throw_wrong_dtype(DataType wanted) const;
  [[noreturn]] void throw_not_on_host() const;

  TensorMeta meta_;
  IntrusivePtr<Storage> storage_;
  size_t byte_offset_ = 0;
};

}  // namespace phi
