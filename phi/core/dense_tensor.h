// DenseTensor: a local row-major array: meta, a storage, and an offset into it. Views (reshape,
// rows of the first dim) share the storage. Arrays are always contiguous.
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

  /// A new resident array, not initialised; a placeholder in a dry run.
  static DenseTensor empty(const TensorMeta& meta, const Place& place) {
    return {meta, Storage::allocate(meta.nbytes(), place)};
  }
  /// A copy of `values` on the rank's place, counted as a transfer from the host. Errors:
  /// InvalidArgument if their number is not dims.numel().
  template <typename T>
  static DenseTensor from(std::span<const T> values, const Dims& dims) {
    check_count(values.size(), dims);
    return from({dims, dtype_of<T>()}, values.data());
  }
  /// The same of meta.nbytes() bytes of the host.
  static DenseTensor from(const TensorMeta& meta, const void* values);
  /// Errors: InvalidArgument if `given` values are not dims.numel().
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
  /// Has bytes here. True for an empty array (0 elements) that was computed here.
  bool initialized() const { return storage_ && storage_->has_bytes(); }
  size_t nbytes_here() const { return initialized() ? nbytes() : 0; }
  /// This rank computed or received it; in a dry run: would have.
  bool computed_here() const {
    return storage_ && (storage_->is_planned() || storage_->has_bytes());
  }
  /// Bytes that this rank holds; in a dry run: would hold.
  size_t nbytes_held() const { return computed_here() ? nbytes() : 0; }
  /// Bytes of what this rank has of it, wherever they lie: here, waiting, or swapped out.
  size_t nbytes_anywhere() const {
    return computed_here() || (storage_ && storage_->source()) ? nbytes() : 0;
  }
  const IntrusivePtr<Storage>& storage() const { return storage_; }
  size_t byte_offset() const { return byte_offset_; }

  /// The elements. A deferred or swapped array comes here first.
  /// Errors: PreconditionNotMet for a placeholder (which tensor, which op made it, why it has no
  /// bytes); InvalidArgument if T is not the array's dtype.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(checked_bytes(dtype_of<T>()));
  }
  /// To be written to: what is lent of the storage is parted from it first, so that the address
  /// holds until a part is taken. Who writes in place by other ways calls Storage::before_write.
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
  /// The same for the host. Errors: PreconditionNotMet for a device whose memory it does not reach.
  template <typename T>
  std::span<const T> values() const {
    check_on_host();
    return {data<T>(), static_cast<size_t>(numel())};
  }

  /// The same bytes under other dims. Errors: InvalidArgument if the element counts differ.
  DenseTensor view(const Dims& dims) const;
  /// Rows [begin, end) of tensor dim 0, sharing storage. Errors: OutOfRange.
  DenseTensor rows(int64_t begin, int64_t end) const;
  DenseTensor clone() const;
  /// What a copy of the bytes from `byte_offset` of this array on would be, but lent
  /// (Storage::lend). Undefined where nothing can be lent.
  DenseTensor lend(const TensorMeta& meta, size_t byte_offset) const;
  /// A copy-on-write alias of this array: a storage of its own that shares the bytes until one of
  /// the two is written to. Small arrays are copied. In a captured program it is a copy that the
  /// executor drops if no later step writes to either. Returns *this if there are no bytes here.
  DenseTensor alias() const;
  /// The same, with an address that does not change when this array is written to: for messages.
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
