// The note of device-side assertions, in mapped host memory.
#include "phi/gpu/device_assertions.h"

#include <new>
#include <optional>

#include "phi/common/errors.h"
#include "phi/gpu/errors.h"

namespace phi::gpu {

DeviceAssertions::DeviceAssertions(cudaStream_t stream) {
  void* note = nullptr;
  PHI_GPU(cudaHostAlloc(&note, sizeof(DeviceAssertionNote),
                        cudaHostAllocMapped | cudaHostAllocPortable));
  note_ = new (note) DeviceAssertionNote{};
  void* search = nullptr;
  PHI_GPU(cudaMalloc(&search, sizeof(DeviceAssertionSearch)));
  search_ = static_cast<DeviceAssertionSearch*>(search);
  const DeviceAssertionSearch none{~0ull, 0};
  PHI_GPU(cudaMemcpyAsync(search_, &none, sizeof(none), cudaMemcpyHostToDevice, stream));
  PHI_GPU(cudaStreamSynchronize(stream));
}

void DeviceAssertions::raise() {
  DeviceAssertion found;
  {
    const std::lock_guard lock(mutex_);
    found = note_->found;
    note_->is_set = 0;
  }
  std::optional<OpScope> scope;
  if (found.op != nullptr) scope.emplace(found.op);
  found.raise(found);
  throw errors::Internal("the error of a device-side assertion was not raised.");
}

}  // namespace phi::gpu
