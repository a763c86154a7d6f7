// CUDA graphs: work that is captured from a stream and launched again as a unit.
#pragma once

#include <cuda_runtime_api.h>

#include <exception>
#include <optional>

namespace phi::gpu {

class Graph {
 public:
  /// Instantiates the graph and takes ownership of `captured`. Returns nullopt if CUDA is out of
  /// memory. Errors: Unavailable if CUDA cannot instantiate it.
  static std::optional<Graph> of(cudaGraph_t captured);
  /// Launches that are still running keep the resources that they need.
  ~Graph();
  Graph(Graph&& other) noexcept : ready_(other.ready_) { other.ready_ = nullptr; }
  Graph& operator=(Graph&&) = delete;

  cudaError_t launch(cudaStream_t stream) { return cudaGraphLaunch(ready_, stream); }

 private:
  explicit Graph(cudaGraphExec_t ready) : ready_(ready) {}

  cudaGraphExec_t ready_;
};

/// Captures a stream: while this object exists, work queued on the stream is added to a graph and
/// does not run. Other streams and threads are not affected.
class StreamCapture {
 public:
  /// Begins the capture. Errors: Unavailable.
  explicit StreamCapture(cudaStream_t stream);
  /// Discards the capture unless end() was called.
  ~StreamCapture();
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;

  /// Ends the capture and returns the graph, which the caller owns. Null if a call could not be
  /// captured.
  cudaGraph_t end();

 private:
  cudaStream_t stream_;
};

/// The CUDA error of this thread's last capture: of a call within it, of its end, or of the graph's
/// instantiation. cudaSuccess if there was none, or if the capture was abandoned before its end.
cudaError_t last_capture_error();
/// Whether `failure` is an error that throw_failed threw because CUDA cannot capture a call
/// (cudaErrorStreamCapture...).
bool is_capture_error(const std::exception_ptr& failure);

}  // namespace phi::gpu
