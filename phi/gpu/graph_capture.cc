// Capture of launches into a CUDA graph, and the scratch memory of the graph.
#include "phi/gpu/graph_capture.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/gpu/errors.h"
#include "phi/gpu/gpu_device.h"
#include "phi/gpu/graph.h"

namespace phi::gpu {
namespace {

class CapturedGraph final : public LaunchGraph {
 public:
  CapturedGraph(GpuDevice& device, Graph graph, GraphCapture::GraphMemory memory)
      : device_(device),
        graph_(std::move(graph)),
        memory_(std::move(memory)),
        account_(RankContext::current().memory()) {
    account_->add(device_.place().kind, static_cast<int64_t>(memory_.nbytes));
  }
  ~CapturedGraph() override {
    for (std::byte* piece : memory_.pieces) device_.give_back(piece);
    account_->remove(device_.place().kind, static_cast<int64_t>(memory_.nbytes));
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch() override {
    device_.make_current();
    device_.launched(graph_->launch(device_.compute()));
  }
  void discard() override { graph_.reset(); }

 private:
  GpuDevice& device_;
  std::optional<Graph> graph_;
  GraphCapture::GraphMemory memory_;
  IntrusivePtr<MemoryAccount> account_;
};

// Prints once per process. Falling back from graphs is no error and changes only the speed, so it
// would otherwise go unnoticed.
void tell_once(cudaError_t why) {
  static std::atomic<bool> is_told{false};
  if (why == cudaSuccess || is_told.exchange(true)) return;
  fmt::print(stderr,
             "CUDA graphs cannot capture all work of captured programs ({}); kernels are launched "
             "one by one, which is slower.\n",
             describe(why));
}

}  // namespace

GraphCapture::~GraphCapture() {
  for (const auto& [size, piece] : spare_) (void)cudaFreeAsync(piece, stream_);
}

void GraphCapture::check_thread(const GpuDevice& device) const {
  PHI_CHECK(is_of_this_thread(),
            errors::Unavailable(
                "two threads use {} while one of them captures a CUDA graph, which would contain "
                "the work of both. Ranks that share a GPU cannot use graphs: assign each its own "
                "GPU, or call program.use_graphs(false) on all of them.",
                device.place().to_string()));
}

std::byte* GraphCapture::allocate(size_t nbytes) {
  const std::lock_guard lock(mutex_);
  // Reuses pieces of up to twice the size: the kernels of a step request the same sizes repeatedly.
  const auto found = spare_.lower_bound(nbytes);
  if (found != spare_.end() && found->first / 2 <= nbytes) {
    std::byte* const piece = found->second;
    in_use_[piece] = found->first;
    spare_.erase(found);
    return piece;
  }
  void* memory = nullptr;
  const cudaError_t status = cudaMallocFromPoolAsync(&memory, nbytes, pool_, stream_);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    throw NotCapturable{};
  }
  auto* const piece = static_cast<std::byte*>(memory);
  in_use_[piece] = nbytes;
  return piece;
}

void GraphCapture::free(std::byte* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = in_use_.find(memory);
  if (found == in_use_.end()) {
    others_.push_back(memory);
    frees_others_ |= is_of_this_thread();
    return;
  }
  spare_.emplace(found->second, memory);
  in_use_.erase(found);
}

GraphCapture::GraphMemory GraphCapture::take() {
  GraphMemory memory;
  for (const auto& [size, piece] : std::exchange(spare_, {})) {
    memory.pieces.push_back(piece);
    memory.nbytes += size;
  }
  return memory;
}

// Capture of a device's compute stream. It begins and ends while no other thread has access to the
// stream. Other threads see `graph_capture_` as long as the capture lasts.
class GpuDevice::Capture {
 public:
  /// Errors: Unavailable if another thread captures.
  Capture(GpuDevice& device, GraphCapture& graph_capture) : device_(device) {
    const std::unique_lock closed(device_.gate_);
    if (device_.graph_capture_) device_.graph_capture_->check_thread(device_);
    capture_.emplace(device_.compute_);
    device_.graph_capture_ = &graph_capture;
  }
  /// Discards the capture unless end() was called.
  ~Capture() {
    if (!capture_) return;
    const std::unique_lock closed(device_.gate_);
    device_.graph_capture_ = nullptr;
    capture_.reset();
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Ends the capture; see StreamCapture::end().
  cudaGraph_t end() {
    const std::unique_lock closed(device_.gate_);
    device_.graph_capture_ = nullptr;
    const cudaGraph_t graph = capture_->end();
    capture_.reset();
    return graph;
  }

 private:
  GpuDevice& device_;
  std::optional<StreamCapture> capture_;
};

std::unique_ptr<LaunchGraph> GpuDevice::capture(const std::function<void()>& body) {
  make_current();
  GraphCapture graph_capture(pool_, copies_->stream(CopyQueues::kToDevice));
  std::exception_ptr failure;
  std::unique_ptr<CUgraph_st, cudaError_t (*)(cudaGraph_t)> captured(nullptr, cudaGraphDestroy);
  {
    Capture capture(*this, graph_capture);
    try {
      body();
      captured.reset(capture.end());
    } catch (const NotCapturable&) {
    } catch (...) {
      failure = std::current_exception();
      captured.reset(capture.end());
    }
  }
  for (std::byte* memory : graph_capture.freed_of_others()) give_back(memory);
  if (graph_capture.has_memory()) copies_->launch_after(*copies_->end_of(CopyQueues::kToDevice));
  // If CUDA cannot capture a call, the capture is abandoned; this is no error of the body.
  if (failure && !is_capture_error(failure)) std::rethrow_exception(failure);
  std::optional<Graph> graph = !failure && captured && graph_capture.is_closed()
                                   ? Graph::of(captured.release())
                                   : std::nullopt;
  if (!graph) {
    tell_once(last_capture_error());
    return nullptr;
  }
  return std::make_unique<CapturedGraph>(*this, std::move(*graph), graph_capture.take());
}

}  // namespace phi::gpu
