// Graphs: captured stream work and its later execution.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <vector>

#include "support/cuda_on_cpu/streams.h"

struct CUgraph_st {
  struct Node {
    cuda_on_cpu::Work work;
    std::vector<int> dependencies;  // nodes that this one depends on
  };
  std::vector<Node> nodes;
};

struct CUgraphExec_st {
  std::shared_ptr<const CUgraph_st> graph;
  std::shared_ptr<cuda_on_cpu::Mark> last;  // end of the last launch
};

namespace cuda_on_cpu {

/// A capture in progress.
struct Capture {
  CUstream_st* origin;
  cudaStreamCaptureMode mode;
  cudaError_t invalid = cudaSuccess;  // error that invalidated the capture
  CUgraph_st graph = {};
  std::map<CUstream_st*, std::vector<int>> ends = {};  // last nodes of each stream in the capture
};

/// Adds work to the stream's capture. Requires the lock of the streams.
cudaError_t capture_work(CUstream_st& stream, Work work);
/// Captures cudaEventRecord and cudaStreamWaitEvent between streams of a capture.
void capture_record(CUstream_st& stream, CUevent_st& event);
cudaError_t capture_wait(CUstream_st& stream, const CUevent_st& event);
/// Invalidates the stream's capture with `error` and returns it.
cudaError_t invalid_capture(CUstream_st& stream, cudaError_t error);
/// Invalidates the stream's capture because `call` would wait for work that does not run during it.
cudaError_t forbidden_in_capture(CUstream_st& stream, const char* call);
/// Whether a capture forbids this thread calls that may wait or synchronise.
bool any_capture_forbids();

}  // namespace cuda_on_cpu
