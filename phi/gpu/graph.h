// Graphs: what a stream of a GPU is given while it is captured, launched again as one piece.
#pragma once

#include <cuda_runtime_api.h>

namespace phi::gpu {

class Graph {
 public:
  Graph() = default;
  /// Takes over what a capture gave. Errors: Unavailable if CUDA cannot run it.
  explicit Graph(cudaGraph_t captured);
  /// A launch that is under way keeps what it needs.
  ~Graph();
  Graph(Graph&& other) noexcept : ready_(other.ready_) { other.ready_ = nullptr; }
  Graph& operator=(Graph&&) = delete;

  cudaError_t launch(cudaStream_t stream) { return cudaGraphLaunch(ready_, stream); }

 private:
  cudaGraphExec_t ready_ = nullptr;
};

/// While it lives, a stream keeps what it is given and does none of it. Other streams and threads
/// go on as they were.
class StreamCapture {
 public:
  /// Errors: Unavailable.
  explicit StreamCapture(cudaStream_t stream);
  /// Unless end() was called, what was captured is gone.
  ~StreamCapture();
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;

  /// Null if the stream was given what cannot be captured.
  cudaGraph_t end();

 private:
  cudaStream_t stream_;
};

}  // namespace phi::gpu
