// ArrayAt: an array as it is read and written at one device, on whatever device it lies; HostArray:
// as host code does.
//
//   HostArray bytes(x, HostArray::kUpdate);
//   group.all_reduce(bytes.data(), x.numel(), x.dtype(), ReduceKind::kSum);
//   bytes.finish();
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device.h"

namespace phi {

/// The array itself where it lies in the device's memory, else a copy there that goes back when
/// finish() is called.
class ArrayAt {
 public:
  enum Use { kRead, kWrite, kUpdate };  // kWrite: all elements are written; none is brought here

  /// None: data() is null.
  ArrayAt() = default;
  /// A deferred array comes to its own device first. Errors: those of DenseTensor::data.
  ArrayAt(Device& device, const DenseTensor& array, Use use) : array_(array), use_(use) {
    // Reading must not part the array from its lender.
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
  /// The array that data() belongs to: at the device, of the same meta.
  const DenseTensor& array() const { return copy_.defined() ? copy_ : array_; }
  /// Once, at the end: what was written is the array's value.
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
  HostArray(const DenseTensor& array, Use use)
      : ArrayAt(Device::of(CPUPlace()), array, use) {}
};

/// Memory that no tensor lies in, counted as the rank's like a tensor's.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const Device& device, size_t nbytes)
      : storage_(Storage::allocate(nbytes, device.place())) {}
  std::byte* data() const { return storage_ ? storage_->data() : nullptr; }

 private:
  IntrusivePtr<Storage> storage_;
};

/// The bytes of `from` into `to`, which has as many, on whatever devices.
void copy_array(const DenseTensor& from, DenseTensor& to);
/// As phi::copy_box of arrays that hold these boxes, both of one place.
void copy_box(const DenseTensor& from, const Box& from_box, DenseTensor& to, const Box& to_box,
              const Box& region);

}  // namespace phi
