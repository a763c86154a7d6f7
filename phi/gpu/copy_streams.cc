// Copies on two extra streams, ordered with the compute stream by events.
#include "phi/gpu/copy_streams.h"

#include "phi/gpu/errors.h"
#include "phi/gpu/gpu_device.h"

namespace phi::gpu {
namespace {

// A QueueEvent that is a CUDA event, recorded once at construction.
class StreamEvent final : public QueueEvent {
 public:
  StreamEvent(const GpuDevice& device, cudaStream_t stream) : device_(device) {
    // A waiting thread sleeps, so that other threads can use its core.
    PHI_GPU(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming | cudaEventBlockingSync));
    const cudaError_t status = cudaEventRecord(event_, stream);
    if (status == cudaSuccess) return;
    (void)cudaEventDestroy(event_);
    device.check(status, "cudaEventRecord");
  }
  // CUDA keeps a destroyed event as long as a stream waits for it.
  ~StreamEvent() override { (void)cudaEventDestroy(event_); }
  StreamEvent(const StreamEvent&) = delete;
  StreamEvent& operator=(const StreamEvent&) = delete;

  void wait() const override {
    device_.make_current();
    device_.check(cudaEventSynchronize(event_), "waiting for a copy");
  }
  cudaEvent_t event() const { return event_; }

 private:
  const GpuDevice& device_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace

CopyStreams::CopyStreams(const GpuDevice& device) : device_(device) {
  for (cudaStream_t& stream : streams_) {
    PHI_GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
}

QueueEventPtr CopyStreams::now(cudaStream_t stream) const {
  device_.make_current();
  return std::make_shared<const StreamEvent>(device_, stream);
}

void CopyStreams::order(cudaStream_t stream, const QueueEvent& event) const {
  device_.make_current();
  // Every QueueEvent of this device is a StreamEvent.
  device_.check(cudaStreamWaitEvent(stream, static_cast<const StreamEvent&>(event).event(), 0),
                "cudaStreamWaitEvent");
}

void CopyStreams::add(CopyDirection way, void* to, const void* from, size_t n,
                      cudaMemcpyKind kind) {
  if (n == 0) return;
  device_.make_current();
  device_.check(cudaMemcpyAsync(to, from, n, kind, streams_[way]), "an asynchronous copy");
}

QueueEventPtr CopyStreams::launched() { return now(device_.compute()); }
void CopyStreams::launch_after(const QueueEvent& event) { order(device_.compute(), event); }
void CopyStreams::after(CopyDirection way, const QueueEvent& event) { order(streams_[way], event); }
QueueEventPtr CopyStreams::end_of(CopyDirection way) { return now(streams_[way]); }

void CopyStreams::to_host(void* host, const std::byte* memory, size_t n) {
  add(kFromDevice, host, memory, n, cudaMemcpyDeviceToHost);
}
void CopyStreams::from_host(std::byte* memory, const void* host, size_t n) {
  add(kToDevice, memory, host, n, cudaMemcpyHostToDevice);
}
void CopyStreams::copy(std::byte* to, const std::byte* from, size_t n) {
  add(kToDevice, to, from, n, cudaMemcpyDeviceToDevice);
}

}  // namespace phi::gpu
