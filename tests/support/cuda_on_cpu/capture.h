// Graphs: what streams are given while they are captured, and how it runs later.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <vector>

#include "support/cuda_on_cpu/streams.h"

struct CUgraph_st {
  struct Node {
    cuda_on_cpu::Work work;
    std::vector<int> behind;  // nodes that come first
  };
  std::vector<Node> nodes;
};

struct CUgraphExec_st {
  std::shared_ptr<const CUgraph_st> graph;
  std::shared_ptr<cuda_on_cpu::Mark> last;  // the end of its last launch
};

namespace cuda_on_cpu {

/// A capture that has begun and not ended.
struct Capture {
  CUstream_st* origin;
  cudaStreamCaptureMode mode;
  cudaError_t invalid = cudaSuccess;  // why it cannot become a graph any more
  CUgraph_st graph = {};
  std::map<CUstream_st*, std::vector<int>> ends =
      {};  // the last nodes of each stream that takes part
};

/// Under the lock of the streams.
cudaError_t capture_work(CUstream_st& stream, Work work);
/// cudaEventRecord and cudaStreamWaitEvent between streams of a capture.
void capture_record(CUstream_st& stream, CUevent_st& event);
cudaError_t capture_wait(CUstream_st& stream, const CUevent_st& event);
/// The stream's capture cannot be ended well any more, for this error.
cudaError_t invalid_capture(CUstream_st& stream, cudaError_t error);
/// The same, for a call that would wait for what has not run and will not.
cudaError_t forbidden_in_capture(CUstream_st& stream, const char* call);
/// Whether a capture forbids calls that may wait or synchronise in this thread.
bool any_capture_forbids();

}  // namespace cuda_on_cpu
