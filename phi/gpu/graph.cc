// CUDA graph calls.
#include "phi/gpu/graph.h"

#include <string_view>

#include "phi/common/errors.h"
#include "phi/gpu/errors.h"

namespace phi::gpu {
namespace {

thread_local cudaError_t last_failure = cudaSuccess;

constexpr int kFirstOfCaptures = cudaErrorStreamCaptureUnsupported;
constexpr int kLastOfCaptures = cudaErrorStreamCaptureWrongThread;

bool is_about_captures(cudaError_t status) {
  return status >= kFirstOfCaptures && status <= kLastOfCaptures;
}

bool names_error_of_captures(std::string_view text) {
  for (int code = kFirstOfCaptures; code <= kLastOfCaptures; ++code) {
    if (text.find(describe(static_cast<cudaError_t>(code))) != text.npos) return true;
  }
  return false;
}

}  // namespace

std::optional<Graph> Graph::of(cudaGraph_t captured) {
  cudaGraphExec_t ready = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&ready, captured, 0);
  (void)cudaGraphDestroy(captured);
  if (status == cudaSuccess) return Graph(ready);
  if (status != cudaErrorMemoryAllocation) throw_failed(status, "cudaGraphInstantiate");
  (void)cudaGetLastError();
  last_failure = status;
  return std::nullopt;
}

Graph::~Graph() {
  if (ready_) (void)cudaGraphExecDestroy(ready_);
}

StreamCapture::StreamCapture(cudaStream_t stream) : stream_(stream) {
  last_failure = cudaSuccess;
  (void)cudaGetLastError();
  // Relaxed mode permits the allocation of kernels' scratch, which is on another stream.
  PHI_GPU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
}

StreamCapture::~StreamCapture() {
  if (!stream_) return;
  if (const cudaGraph_t graph = end()) (void)cudaGraphDestroy(graph);
  last_failure = cudaSuccess;
}

cudaGraph_t StreamCapture::end() {
  // The error of the call that could not be captured: cudaStreamEndCapture only reports that there
  // was one.
  const cudaError_t said_before = cudaGetLastError();
  cudaGraph_t graph = nullptr;
  const cudaError_t status = cudaStreamEndCapture(stream_, &graph);
  stream_ = nullptr;
  last_failure = is_about_captures(said_before) ? said_before : status;
  if (status == cudaSuccess) return graph;
  (void)cudaGetLastError();
  return nullptr;
}

cudaError_t last_capture_error() { return last_failure; }

bool is_capture_error(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return names_error_of_captures(error.what());
  } catch (...) {
    return false;
  }
}

}  // namespace phi::gpu
