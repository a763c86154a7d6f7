// The note of device-side assertions, in mapped host memory.
#include "phi/gpu/misfits.h"

#include <new>
#include <optional>

#include "phi/common/errors.h"
#include "phi/gpu/errors.h"

namespace phi::gpu {

Misfits::Misfits(cudaStream_t stream) {
  void* note = nullptr;
  PHI_GPU(cudaHostAlloc(&note, sizeof(MisfitNote), cudaHostAllocMapped | cudaHostAllocPortable));
  note_ = new (note) MisfitNote{};
  void* search = nullptr;
  PHI_GPU(cudaMalloc(&search, sizeof(MisfitSearch)));
  search_ = static_cast<MisfitSearch*>(search);
  const MisfitSearch none{~0ull, 0};
  PHI_GPU(cudaMemcpyAsync(search_, &none, sizeof(none), cudaMemcpyHostToDevice, stream));
  PHI_GPU(cudaStreamSynchronize(stream));
}

void Misfits::raise() {
  Misfit found;
  {
    const std::lock_guard lock(mutex_);
    found = note_->found;
    note_->is_set = 0;
  }
  std::optional<OpScope> scope;
  if (found.op != nullptr) scope.emplace(found.op);
  found.raise(found);
  throw errors::Internal("the error of a refused element was not raised.");
}

}  // namespace phi::gpu
