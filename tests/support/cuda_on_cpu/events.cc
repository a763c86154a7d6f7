// Events.
#include <chrono>

#include "support/cuda_on_cpu/capture.h"
#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/memory.h"
#include "support/cuda_on_cpu/streams.h"

using namespace cuda_on_cpu;

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&] {
    constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming;
    if ((flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    *event = new CUevent_st{.device = current_device(), .flags = flags};
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] {
    delete event;  // waits own the record, not the event
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    if (event->device != stream->device) return cudaErrorInvalidResourceHandle;
    if (stream->capture) {
      capture_record(*stream, *event);
      return cudaSuccess;
    }
    event->capture = nullptr;
    event->mark = std::make_shared<Mark>(Mark{.stream = stream});
    return enqueue(stream,
                   {.kind = Work::Kind::kMark, .name = "cudaEventRecord", .mark = event->mark});
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&] {
    if (event->capture) return cudaErrorCapturedEvent;
    if (event->mark && !poll_mark(event->mark)) return cudaErrorNotReady;
    return gpu(event->device).sticky.load();
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] {
    if (event->capture) return cudaErrorCapturedEvent;
    if (event->mark) wait_for_mark(event->mark);
    give_back_reserved(event->device);
    return gpu(event->device).sticky.load();
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return call([&] {
    const bool timed = ((start->flags | end->flags) & cudaEventDisableTiming) == 0;
    if (!timed || start->device != end->device || !start->mark || !end->mark) {
      return cudaErrorInvalidResourceHandle;
    }
    if (!start->mark->done || !end->mark->done) return cudaErrorNotReady;
    *ms = std::chrono::duration<float, std::milli>(end->mark->at - start->mark->at).count();
    return cudaSuccess;
  });
}
