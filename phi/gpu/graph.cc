// Calls of CUDA about graphs.
#include "phi/gpu/graph.h"

#include "phi/gpu/errors.h"

namespace phi::gpu {

Graph::Graph(cudaGraph_t captured) {
  const cudaError_t status = cudaGraphInstantiate(&ready_, captured, 0);
  (void)cudaGraphDestroy(captured);
  if (status != cudaSuccess) throw_failed(status, "cudaGraphInstantiate");
}

Graph::~Graph() {
  if (ready_) (void)cudaGraphExecDestroy(ready_);
}

StreamCapture::StreamCapture(cudaStream_t stream) : stream_(stream) {
  // Relaxed: allocations on other streams, of kernels' scratch, are no part of it.
  PHI_GPU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
}

StreamCapture::~StreamCapture() {
  if (!stream_) return;
  if (const cudaGraph_t graph = end()) (void)cudaGraphDestroy(graph);
}

cudaGraph_t StreamCapture::end() {
  cudaGraph_t graph = nullptr;
  const cudaError_t status = cudaStreamEndCapture(stream_, &graph);
  stream_ = nullptr;
  if (status == cudaSuccess) return graph;
  (void)cudaGetLastError();
  return nullptr;
}

}  // namespace phi::gpu
