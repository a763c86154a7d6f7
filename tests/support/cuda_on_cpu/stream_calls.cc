// Runtime functions on streams.
#include "support/cuda_on_cpu/capture.h"
#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/memory.h"
#include "support/cuda_on_cpu/streams.h"
#include "support/cuda_on_cpu/symbols.h"

using namespace cuda_on_cpu;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call([&] { return make_stream(stream, cudaStreamDefault, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call([&] { return make_stream(stream, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&] { return make_stream(stream, flags, priority); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    destroy_stream(stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    if (stream->capture) return forbidden_in_capture(*stream, "cudaStreamSynchronize");
    wait_for_stream(stream);
    give_back_reserved(stream->device);
    return gpu(stream->device).sticky.load();
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    if (stream->capture) return forbidden_in_capture(*stream, "cudaStreamQuery");
    if (!poll_stream(stream)) return cudaErrorNotReady;
    return gpu(stream->device).sticky.load();
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([&] {
    if (any_capture_forbids()) return cudaErrorStreamCaptureUnsupported;
    wait_for_device(current_device());
    give_back_reserved(current_device());
    return gpu(current_device()).sticky.load();
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    if (event->capture) return capture_wait(*stream, *event);
    if (stream->capture) {
      return event->mark ? invalid_capture(*stream, cudaErrorStreamCaptureIsolation) : cudaSuccess;
    }
    if (!event->mark) return cudaSuccess;  // never recorded
    return enqueue(stream,
                   {.kind = Work::Kind::kWait, .name = "cudaStreamWaitEvent", .mark = event->mark});
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    return enqueue(
        stream, {.kind = Work::Kind::kHost,
                 .name = "host function " + function_name(reinterpret_cast<const void*>(function)),
                 .run = [=] { function(data); }});
  });
}
