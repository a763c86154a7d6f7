// Converts Tensor handles to the DistTensors that distributed/checkpoint works on.
#include "api/tensor/checkpoint.h"

#include <vector>

#include "api/tensor/deferred.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {
namespace {

using NamedHandle = std::pair<std::string, Tensor>;

// The DistTensors share bytes with the handles' tensors.
std::vector<NamedTensor> dist_tensors(std::span<const NamedHandle> handles) {
  const ProcessMesh everyone({World::current().size()});
  std::vector<NamedTensor> out;
  for (const auto& [name, x] : handles) {
    PHI_CHECK(x.defined(), errors::InvalidArgument("tensor '{}' is undefined.", name));
    out.push_back({name, x.is_dist() ? x.dist()
                                     : DistTensor(x.meta(), TensorDistAttr::replicated(everyone),
                                                  x.dense())});
  }
  return out;
}

}  // namespace

void save(const std::string& folder, std::span<const NamedHandle> tensors,
          const SaveOptions& options) {
  save(folder, dist_tensors(tensors), options);
}

PendingSave start_save(const std::string& folder, std::span<const NamedHandle> tensors,
                       const SaveOptions& options) {
  return start_save(folder, dist_tensors(tensors), options);
}

void load(const Checkpoint& from, std::span<const NamedHandle> tensors, Checkpoint::Extras extras) {
  std::vector<NamedTensor> targets = dist_tensors(tensors);
  load(from, targets, extras);
}

Tensor deferred(const Checkpoint& from, const std::string& name, DataType dtype) {
  return phi::deferred(dtype == DataType::UNDEFINED ? from.source(name) : from.source(name, dtype));
}

}  // namespace phi::distributed::checkpoint
