// Event: a CUDA event on the current GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>

#include "phi/gpu/errors.h"

namespace phi::distributed {

class Event {
 public:
  enum class Kind : uint8_t { kPlain, kTimed };
  explicit Event(Kind kind = Kind::kPlain) {
    const unsigned flags = kind == Kind::kTimed ? cudaEventDefault : cudaEventDisableTiming;
    PHI_GPU(cudaEventCreateWithFlags(&event_, flags));
  }
  ~Event() { (void)cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { PHI_GPU(cudaEventRecord(event_, stream)); }
  /// Makes later work on `stream` wait for the event.
  void block_stream(cudaStream_t stream) const { PHI_GPU(cudaStreamWaitEvent(stream, event_, 0)); }
  /// Whether the recorded work is done or has failed. The next wait for the GPU reports a failure.
  bool has_occurred() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) (void)cudaGetLastError();
    return status != cudaErrorNotReady;
  }
  /// Elapsed GPU time from `begin` to this event; 0 after a failure. Both events must be timed and
  /// have occurred.
  std::chrono::duration<float, std::milli> elapsed_since(const Event& begin) const {
    float ms = 0;
    if (cudaEventElapsedTime(&ms, begin.event_, event_) == cudaSuccess)
      return std::chrono::duration<float, std::milli>(ms);
    (void)cudaGetLastError();
    return {};
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace phi::distributed
