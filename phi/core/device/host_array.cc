// Copies between arrays and the host.
#include "phi/core/device/host_array.h"

namespace phi {

void HostArray::copy_to_host(const std::byte* bytes) {
  copy_ = DenseTensor::empty(array_.meta(), CPUPlace());
  data_ = static_cast<std::byte*>(copy_.mutable_raw_data());
  if (use_ != kWrite && array_.nbytes() > 0) {
    Device::of(array_.place()).copy_to_host(data_, bytes, array_.nbytes());
  }
}

void HostArray::copy_back() {
  if (array_.nbytes() == 0) return;
  Device::of(array_.place())
      .copy_from_host(static_cast<std::byte*>(array_.mutable_raw_data()), data_, array_.nbytes());
}

void copy_array(const DenseTensor& from, DenseTensor& to) {
  if (from.nbytes() == 0) return;
  // First, as `from` may be lent of it.
  auto* const written = static_cast<std::byte*>(to.mutable_raw_data());
  copy_bytes(written, to.place(), static_cast<const std::byte*>(from.raw_data()), from.place(),
             from.nbytes());
}

void copy_box(const DenseTensor& from, const Box& from_box, DenseTensor& to, const Box& to_box,
              const Box& region) {
  auto* const written = static_cast<std::byte*>(to.mutable_raw_data());  // first, as in copy_array
  Device::of(to.place())
      .copy_box(static_cast<const std::byte*>(from.raw_data()), from_box, written, to_box, region,
                size_of(from.dtype()));
}

}  // namespace phi
