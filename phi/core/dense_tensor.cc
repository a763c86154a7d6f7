// Views, copies and the errors of DenseTensor.
#include "phi/core/dense_tensor.h"

#include <memory>

#include "phi/common/errors.h"
#include "phi/core/copy_step.h"
#include "phi/core/device/device.h"
#include "phi/core/device/host_array.h"
#include "phi/core/rank_context.h"
#include "phi/core/recorder.h"
#include "phi/core/storage/cow_alias.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi {
namespace {

// Brings the bytes of a deferred or swapped array here; in a dry run they are counted.
void settle_source(const DenseTensor& x) {
  if (!x.initialized() && x.storage()->source()) x.storage()->materialise();
}

}  // namespace

DenseTensor DenseTensor::from(const TensorMeta& meta, const void* values) {
  DenseTensor out = empty(meta, RankContext::current().place());
  if (!out.initialized() || meta.nbytes() == 0) return out;
  Device::of(out.place())
      .copy_from_host(static_cast<std::byte*>(out.mutable_raw_data()), values, meta.nbytes());
  count_transfer(Tier::kHost, Tier::kDevice, static_cast<int64_t>(meta.nbytes()));
  return out;
}

void DenseTensor::bring_here() const {
  PHI_CHECK(storage_,
            errors::PreconditionNotMet("an undefined tensor is read; assign one to it first."));
  if (storage_->state() != StorageState::kPlaceholder) storage_->materialise();
  if (storage_->has_bytes()) return;
  const auto& absence = storage_->absence();
  throw errors::PreconditionNotMet(
      "tensor #{} {}{} has no bytes on this rank: {}{}{}. {}", storage_->id(), meta_.to_string(),
      absence.op ? fmt::format(", made by {},", absence.op) : "",
      absence.reason ? absence.reason : "it is a placeholder", absence.describe_subject ? " " : "",
      absence.describe_subject ? absence.describe_subject(absence.subject) : "", absence.remedy);
}

void DenseTensor::throw_wrong_dtype(DataType wanted) const {
  throw errors::InvalidArgument("a tensor {} is read as {}; cast it first.", meta_.to_string(),
                                name_of(wanted));
}

void DenseTensor::throw_not_on_host() const {
  throw errors::PreconditionNotMet(
      "the data pointer of a tensor {} on {} is requested, but the host cannot read that memory; "
      "to_vector<T>() returns a copy.",
      meta_.to_string(), place().to_string());
}

void DenseTensor::check_count(size_t given, const Dims& dims) {
  PHI_CHECK(static_cast<int64_t>(given) == dims.numel(),
            errors::InvalidArgument("{} values are passed for a tensor {} of {} elements.", given,
                                    dims.to_string(), dims.numel()));
}

DenseTensor DenseTensor::view(const Dims& dims) const {
  PHI_CHECK(dims.numel() == numel(),
            errors::InvalidArgument("{} cannot be viewed as {}: {} elements against {}.",
                                    meta_.to_string(), dims.to_string(), numel(), dims.numel()));
  if (numel() == 0) dims.check_fits(size_of(dtype()));
  DenseTensor out = *this;
  out.meta_.dims = dims;
  return out;
}

DenseTensor DenseTensor::rows(int64_t begin, int64_t end) const {
  PHI_CHECK(ndim() > 0 && begin >= 0 && begin <= end && end <= dims()[0],
            errors::OutOfRange("rows {} to {} of {} do not exist.", begin, end, meta_.to_string()));
  DenseTensor out = *this;
  out.meta_.dims[0] = end - begin;
  out.byte_offset_ += static_cast<size_t>(begin * dims().numel(1, ndim())) * size_of(dtype());
  return out;
}

DenseTensor DenseTensor::alias_part(const TensorMeta& meta, size_t byte_offset) const {
  if (!computed_here()) return {};
  auto shared = storage_->make_alias(byte_offset_ + byte_offset, meta.nbytes());
  return shared ? DenseTensor(meta, std::move(shared)) : DenseTensor();
}

DenseTensor DenseTensor::alias() const {
  if (!computed_here() && !storage_->source())
    return {meta_, Storage::placeholder(place(), storage_->absence())};
  const RankContext& rank = RankContext::current();
  if (Recorder* const recorder = rank.recorder()) {
    DenseTensor out = empty(meta_, place());
    recorder->add(std::make_unique<AliasStep>(*this, out));
    return out;
  }
  if (nbytes() <= cow_alias::limit()) return clone();
  settle_source(*this);
  DenseTensor shared = alias_part(meta_, 0);
  return shared.defined() ? shared : clone();
}

DenseTensor DenseTensor::fixed() const {
  if (!computed_here() && !storage_->source()) return *this;
  const MemoryUseScope use(MemoryUse::kMessages);
  if (nbytes() <= cow_alias::limit()) return clone();
  settle_source(*this);
  auto shared = storage_->make_alias_at_fixed_address(byte_offset_, nbytes());
  return shared ? DenseTensor(meta_, std::move(shared)) : clone();
}

DenseTensor DenseTensor::clone() const {
  DenseTensor out = empty(meta_, place());
  if (out.initialized()) {
    copy_array(*this, out);
  } else if (RankContext::current().recorder() == nullptr) {
    settle_source(*this);
  }
  return out;
}

}  // namespace phi
