// Copies between arrays and the host.
#include "phi/core/device/host_array.h"

#include "phi/core/box_copy.h"
#include "phi/core/rank_context.h"

namespace phi {

void ArrayAt::bring(const std::byte* bytes, const Place& to) {
  copy_ = DenseTensor::empty(array_.meta(), to);
  data_ = static_cast<std::byte*>(copy_.mutable_raw_data());
  if (use_ != kWrite) copy_bytes(data_, to, bytes, array_.place(), array_.nbytes());
}

void ArrayAt::copy_back() {
  copy_bytes(static_cast<std::byte*>(array_.mutable_raw_data()), array_.place(), data_,
             copy_.place(), array_.nbytes());
}

void copy_array(const DenseTensor& from, DenseTensor& to) {
  if (from.nbytes() == 0) return;
  if (RankContext::current().is_dry()) {
    to.storage()->before_write();
    if (from.storage()->source()) from.storage()->materialise();
    return;
  }
  // Before `from` is read: `from` may be a copy-on-write alias of `to`, whose address changes here.
  auto* const written = static_cast<std::byte*>(to.mutable_raw_data());
  copy_bytes(written, to.place(), static_cast<const std::byte*>(from.raw_data()), from.place(),
             from.nbytes());
}

void copy_box(const DenseTensor& from, const Box& from_box, DenseTensor& to, const Box& to_box,
              const Box& region) {
  auto* const written = static_cast<std::byte*>(to.mutable_raw_data());  // first, as in copy_array
  const auto* const read = static_cast<const std::byte*>(from.raw_data());
  const BoxCopy copy{read, from_box, written, to_box, region};
  Device::of(to.place()).copy_boxes({&copy, 1}, size_of(from.dtype()));
}

}  // namespace phi
