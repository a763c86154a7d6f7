// Stream capture and the launch of graphs.
#include "support/cuda_on_cpu/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/settings.h"

namespace cuda_on_cpu {
namespace {

std::atomic<int> global_captures{0};
thread_local int own_captures = 0;  // excludes captures in cudaStreamCaptureModeRelaxed

void count(const Capture& capture, int by) {
  if (capture.mode == cudaStreamCaptureModeGlobal) global_captures += by;
  if (capture.mode != cudaStreamCaptureModeRelaxed) own_captures += by;
}

void add_all(std::vector<int>& to, const std::vector<int>& from) {
  for (const int node : from) {
    if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
  }
}

// Whether the origin's end depends on the end of every other stream in the capture.
bool all_joined(Capture& capture) {
  std::vector<int> reached = capture.ends[capture.origin];
  for (size_t i = 0; i < reached.size(); ++i) {
    add_all(reached,
            std::vector<int>(capture.graph.nodes[static_cast<size_t>(reached[i])].dependencies));
  }
  for (const auto& [stream, ends] : capture.ends) {
    for (const int end : ends) {
      if (std::find(reached.begin(), reached.end(), end) == reached.end()) return false;
    }
  }
  return true;
}

// The nodes in a topological order.
std::vector<const CUgraph_st::Node*> ordered(const CUgraph_st& graph) {
  static thread_local Draw draw(3);
  std::vector<const CUgraph_st::Node*> order;
  std::vector<bool> taken(graph.nodes.size());
  while (order.size() < graph.nodes.size()) {
    std::vector<size_t> free;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const auto& dependencies = graph.nodes[i].dependencies;
      if (!taken[i] && std::all_of(dependencies.begin(), dependencies.end(),
                                   [&](int node) { return taken[static_cast<size_t>(node)]; })) {
        free.push_back(i);
      }
    }
    const Order how = settings().order;
    const size_t chosen = how == Order::kForward    ? free.front()
                          : how == Order::kBackward ? free.back()
                                                    : free[draw.number(free.size())];
    taken[chosen] = true;
    order.push_back(&graph.nodes[chosen]);
  }
  return order;
}

}  // namespace

cudaError_t capture_work(CUstream_st& stream, Work work) {
  Capture& capture = *stream.capture;
  if (capture.invalid != cudaSuccess) return cudaErrorStreamCaptureInvalidated;
  std::vector<int>& ends = capture.ends[&stream];
  capture.graph.nodes.push_back({std::move(work), ends});
  ends = {static_cast<int>(capture.graph.nodes.size()) - 1};
  return cudaSuccess;
}

void capture_record(CUstream_st& stream, CUevent_st& event) {
  event.capture = stream.capture;
  event.captured = stream.capture->ends[&stream];
  event.mark = nullptr;
}

cudaError_t capture_wait(CUstream_st& stream, const CUevent_st& event) {
  // The capture has ended.
  if (event.capture->origin == nullptr) return cudaErrorStreamCaptureIsolation;
  if (stream.capture && stream.capture != event.capture) {
    return invalid_capture(stream, cudaErrorStreamCaptureMerge);
  }
  stream.capture = event.capture;
  add_all(event.capture->ends[&stream], event.captured);
  return cudaSuccess;
}

cudaError_t invalid_capture(CUstream_st& stream, cudaError_t error) {
  stream.capture->invalid = error;
  return error;
}

cudaError_t forbidden_in_capture(CUstream_st& stream, const char* call) {
  explain(fmt::format("{} of stream {}, which is being captured", call, stream.number));
  return invalid_capture(stream, cudaErrorStreamCaptureUnsupported);
}

bool any_capture_forbids() { return global_captures > 0 || own_captures > 0; }

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    if (stream->capture) return cudaErrorIllegalState;
    stream->capture = std::make_shared<Capture>(Capture{.origin = stream, .mode = mode});
    stream->capture->ends[stream] = {};
    count(*stream->capture, 1);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&] {
    *graph = nullptr;
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture) return cudaErrorIllegalState;
    if (capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
    const bool joined = all_joined(*capture);
    for (const auto& [taking_part, ends] : capture->ends) taking_part->capture = nullptr;
    capture->origin = nullptr;
    count(*capture, -1);
    if (capture->invalid != cudaSuccess) return cudaErrorStreamCaptureInvalidated;
    if (!joined) return cudaErrorStreamCaptureUnjoined;
    *graph = new CUgraph_st(std::move(capture->graph));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    *status = !stream->capture                          ? cudaStreamCaptureStatusNone
              : stream->capture->invalid != cudaSuccess ? cudaStreamCaptureStatusInvalidated
                                                        : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph,
                                 unsigned long long /*flags*/) {
  return call([&] {
    *made = new CUgraphExec_st{.graph = std::make_shared<CUgraph_st>(*graph), .last = nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    if (stream->capture) return forbidden_in_capture(*stream, "cudaGraphLaunch");
    if (exec->last) {  // launches of one graph are ordered
      enqueue(stream, {.kind = Work::Kind::kWait, .name = "cudaGraphLaunch", .mark = exec->last});
    }
    ++settings().graph_launches;
    for (const CUgraph_st::Node* node : ordered(*exec->graph)) {
      Work work = node->work;
      work.held_by_graph = nullptr;
      enqueue(stream, std::move(work));
    }
    exec->last = std::make_shared<Mark>(Mark{.stream = stream});
    return enqueue(stream,
                   {.kind = Work::Kind::kMark, .name = "end of a graph", .mark = exec->last});
  });
}

// Graphs are host objects: they can be destroyed after a sticky error of the GPU.
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return call([] { return cudaSuccess; });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;  // a pending launch owns what it needs
  return call([] { return cudaSuccess; });
}
