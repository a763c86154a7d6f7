// The less common members of Tensor.
#include "phi/api/tensor.h"

#include <fmt/format.h>

#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace phi {

double Tensor::item() const {
  PHI_CHECK(!is_dist() || dist().attr()->is_replicated(),
            errors::InvalidArgument(
                "item() of {}: the local part is not the value; reshard it to Replicate() first.",
                to_string()));
  PHI_CHECK(numel() == 1,
            errors::InvalidArgument("item() needs one element, {} has {}.", to_string(), numel()));
  return visit_dtype(dtype(), [&]<typename T>() {
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      return static_cast<double>(static_cast<float>(array().data<T>()[0]));
    } else {
      return static_cast<double>(array().data<T>()[0]);
    }
  });
}

std::string Tensor::to_string() const {
  if (!defined()) return "undefined";
  return is_dist() ? dist().to_string() : dense().meta().to_string();
}

void Tensor::require_bytes() const {
  const Storage& storage = *dist().local().storage();
  if (storage.state() != StorageState::kPlaceholder) return;
  if (mesh().contains(distributed::World::current().rank())) return;  // the local part says why
  const char* op = storage.absence().op;
  throw errors::PreconditionNotMet(
      "tensor #{} {}{} has no bytes on rank {}, which is outside its mesh (ranks {}). Read it on a "
      "rank of "
      "the mesh, or reshard it to one that has this rank.",
      storage.id(), to_string(), op ? fmt::format(", made by {},", op) : "",
      distributed::World::current().rank(), fmt::join(mesh().ranks(), ","));
}

void Tensor::throw_undefined() {
  throw errors::PreconditionNotMet("an undefined tensor is used; give it a value first.");
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
