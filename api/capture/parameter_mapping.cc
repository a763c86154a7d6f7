// Maps ids to a program's parameters: as handles, and as unsharded copies on the host.
#include "api/capture/program.h"
#include "api/capture/recording.h"
#include "distributed/api.h"

namespace phi {
namespace {

const Storage* storage_of(const Tensor& x) { return array_of(x).storage().get(); }

Tensor host_copy(const Tensor& x) {
  const Tensor whole = x.is_dist() ? distributed::gathered_everywhere(x.detach()) : x;
  return visit_any_dtype(whole.dtype(), [&]<typename T>() {
    if constexpr (std::is_same_v<T, bool>) {
      return Tensor::from(whole.values<T>(), whole.shape());
    } else {
      return Tensor::from(whole.to_vector<T>(), whole.shape());
    }
  });
}

}  // namespace

std::map<int64_t, Tensor> Program::device_parameter_id_tensor_mapping() const {
  std::map<int64_t, Tensor> mapping;
  int64_t id = 0;
  for (const ir::External& parameter : recording_->parameters()) {
    mapping.emplace(id++, parameter.handle);
  }
  return mapping;
}

std::map<int64_t, Tensor> Program::parameter_id_tensor_mapping() const {
  std::map<int64_t, Tensor> mapping;
  for (const auto& [id, parameter] : device_parameter_id_tensor_mapping()) {
    mapping.emplace(id, host_copy(parameter));
  }
  return mapping;
}

int64_t Program::tensor_parameter_id(const Tensor& x) const {
  if (!x.defined()) return -1;
  int64_t id = 0;
  for (const ir::External& parameter : recording_->parameters()) {
    if (storage_of(parameter.handle) == storage_of(x)) return id;
    ++id;
  }
  return -1;
}

}  // namespace phi
