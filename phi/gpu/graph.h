// Graphs: what a stream of a GPU is given while it is captured, launched again as one piece.
#pragma once

#include <cuda_runtime_api.h>

#include <exception>
#include <optional>

namespace phi::gpu {

class Graph {
 public:
  /// Takes over what a capture gave. None where there is no memory for it. Errors: Unavailable if
  /// CUDA cannot run it.
  static std::optional<Graph> of(cudaGraph_t captured);
  /// A launch that is under way keeps what it needs.
  ~Graph();
  Graph(Graph&& other) noexcept : ready_(other.ready_) { other.ready_ = nullptr; }
  Graph& operator=(Graph&&) = delete;

  cudaError_t launch(cudaStream_t stream) { return cudaGraphLaunch(ready_, stream); }

 private:
  explicit Graph(cudaGraphExec_t ready) : ready_(ready) {}

  cudaGraphExec_t ready_;
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

/// What CUDA has said against this thread's last capture, to a call within it, at its end, or when
/// the graph was made of it. cudaSuccess: nothing, or the capture was left before its end.
cudaError_t last_capture_failure();
/// Whether an error is that CUDA cannot capture a call (cudaErrorStreamCapture...), as throw_failed
/// says it.
bool is_of_capture(const std::exception_ptr& failure);

}  // namespace phi::gpu
