// Members of Tensor that are not inline: transfers to the host, texts and errors.
#include "api/tensor/tensor.h"

#include <fmt/format.h>

#include <cstring>

#include "api/tensor/deferred.h"
#include "api/tensor/whole.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi {

bool parts_are_whole(const Tensor& x) {
  if (!x.is_dist()) return true;
  const auto placements = x.placements();
  for (size_t d = 0; d < placements.size(); ++d) {
    if (!placements[d].is_replicate() && x.mesh().dim_size(static_cast<int>(d)) > 1) return false;
  }
  return true;
}

double Tensor::item() const {
  PHI_CHECK(parts_are_whole(*this),
            errors::InvalidArgument(
                "item() of {}: the local part is not the value; reshard it to Replicate() first.",
                to_string()));
  PHI_CHECK(numel() == 1,
            errors::InvalidArgument("item() needs one element, {} has {}.", to_string(), numel()));
  return visit_dtype(dtype(), [&]<typename T>() {
    T element;
    copy_to_host(dtype(), &element);
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      return static_cast<double>(static_cast<float>(element));
    } else {
      return static_cast<double>(element);
    }
  });
}

void Tensor::copy_to_host(DataType dtype, void* out) const {
  const DenseTensor& local = array();
  if (is_dist() && !local.initialized()) require_bytes();
  local.check_dtype(dtype);
  if (local.nbytes() == 0) return;
  const auto source = local.defined() ? local.storage()->source() : nullptr;
  if (const auto* waiting = dynamic_cast<const HostSource*>(source.get())) {
    std::memcpy(out, static_cast<const std::byte*>(waiting->data()) + local.byte_offset(),
                local.nbytes());
    return;
  }
  Device::of(local.place())
      .copy_to_host(out, static_cast<const std::byte*>(local.raw_data()), local.nbytes());
  count_download(local);
}

Tensor Tensor::copied(const TensorMeta& meta, const void* values) {
  if (!deferred_transfer()) return Tensor(DenseTensor::from(meta, values));
  return waiting(HostSource::copy(meta, values));
}

Tensor Tensor::waiting(std::shared_ptr<const HostSource> values) {
  return deferred(std::move(values));
}

std::string Tensor::to_string() const {
  if (!defined()) return "undefined";
  return is_dist() ? dist().to_string() : dense().meta().to_string();
}

void Tensor::require_bytes() const {
  const Storage& storage = *dist().local().storage();
  if (storage.state() != StorageState::kPlaceholder) return;
  if (mesh().contains(distributed::World::current().rank())) return;  // the local part's error
  const char* op = storage.absence().op;
  throw errors::PreconditionNotMet(
      "tensor #{} {}{} has no bytes on rank {}, which is outside its mesh (ranks {}). Read it on a "
      "rank of "
      "the mesh, or reshard it to one that has this rank.",
      storage.id(), to_string(), op ? fmt::format(", made by {},", op) : "",
      distributed::World::current().rank(), fmt::join(mesh().ranks(), ","));
}

void Tensor::throw_undefined() {
  throw errors::PreconditionNotMet("an undefined tensor is used; assign it a value first.");
}

void Tensor::throw_not_dense() const {
  if (!impl_) throw_undefined();
  throw errors::PreconditionNotMet("a plain tensor is needed, this one is {}; use local().",
                                   to_string());
}

void Tensor::throw_not_dist() const {
  if (!impl_) throw_undefined();
  throw errors::PreconditionNotMet("a distributed tensor is needed, {} is plain; use shard_tensor.",
                                   to_string());
}

}  // namespace phi
