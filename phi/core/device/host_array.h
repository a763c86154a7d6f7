// ArrayAt: access to an array from a given device, wherever the array is stored. HostArray: the
// same from host code.
//
//   HostArray bytes(x, HostArray::kUpdate);
//   group.all_reduce(bytes.data(), x.numel(), x.dtype(), ReduceKind::kSum);
//   bytes.finish();
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device.h"

namespace phi {

/// Refers to the array itself if the device can access its memory, otherwise to a copy on the
/// device, which finish() copies back.
class ArrayAt {
 public:
  /// kWrite: all elements are overwritten, so none is copied to the device.
  enum Use { kRead, kWrite, kUpdate };

  /// No array: data() is null.
  ArrayAt() = default;
  /// Materialises a deferred array on its own device first. Errors: those of DenseTensor::data.
  ArrayAt(Device& device, const DenseTensor& array, Use use) : array_(array), use_(use) {
    // A read must not make a copy-on-write alias copy its bytes.
    void* const place =
        use == kRead ? const_cast<void*>(array.raw_data()) : array_.mutable_raw_data();
    std::byte* const bytes = static_cast<std::byte*>(place);
    const Device& own = Device::of(array_.place());
    if (&own == &device || (own.is_host() && device.is_host())) [[likely]] {
      data_ = bytes;
    } else {
      bring(bytes, device.place());
    }
  }

  std::byte* data() const { return data_; }
  /// The array that data() points into: on the device, with the same metadata.
  const DenseTensor& array() const { return copy_.defined() ? copy_ : array_; }
  /// Copies written values back, if this is a copy. Call it once, after the last write.
  void finish() {
    if (copy_.defined() && use_ != kRead) copy_back();
  }

 private:
  void bring(const std::byte* bytes, const Place& to);
  void copy_back();

  DenseTensor array_;
  DenseTensor copy_;
  std::byte* data_ = nullptr;
  Use use_ = kRead;
};

class HostArray : public ArrayAt {
 public:
  HostArray() = default;
  HostArray(const DenseTensor& array, Use use) : ArrayAt(Device::of(CPUPlace()), array, use) {}
};

/// Device memory that belongs to no tensor. It is charged to the rank's memory account.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const Device& device, size_t nbytes)
      : storage_(Storage::allocate(nbytes, device.place())) {}
  std::byte* data() const { return storage_ ? storage_->data() : nullptr; }

 private:
  IntrusivePtr<Storage> storage_;
};

/// Copies the bytes of `from` to `to`, which has the same size, between any two devices. In a dry
/// run nothing is copied.
void copy_array(const DenseTensor& from, DenseTensor& to);
/// Copies `region` from `from`, which holds `from_box`, to `to`, which holds `to_box`. Both arrays
/// are on one place.
void copy_box(const DenseTensor& from, const Box& from_box, DenseTensor& to, const Box& to_box,
              const Box& region);

}  // namespace phi
