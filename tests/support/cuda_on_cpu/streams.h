// Streams: work is queued and runs as late as possible, on the thread that waits for it.
//
// A waiting thread runs the work that it needs: the heads of its stream, and of the streams for
// whose events that stream waits. In a drawn order it also runs heads of other streams. One piece
// of device work runs at a time in the process, so that only its GPU's memory is open meanwhile.
// Host functions run concurrently.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cuda_on_cpu {

/// One record of an event: a position in a stream.
struct Mark {
  CUstream_st* stream;
  bool done = false;
  std::chrono::steady_clock::time_point at{};
};

struct Work {
  enum class Kind { kDevice, kHost, kMark, kWait };
  Kind kind = Kind::kDevice;
  std::string name;
  std::function<void()> run = {};        // for the first two kinds
  std::vector<int> devices = {};         // GPUs whose memory it accesses
  std::shared_ptr<Mark> mark = nullptr;  // for the last two kinds
  // The members below are for NCCL messages, which match at the heads of streams. All require the
  // lock.
  /// Whether the work, which is at the head, cannot run yet, for example because the peer has not
  /// arrived.
  std::function<bool()> held_up = nullptr;
  /// Streams whose work may unblock it.
  std::function<std::vector<CUstream_st*>()> needs = nullptr;
  /// Whether the work has run but stays at the head because it is not finished.
  std::function<bool()> unfinished = nullptr;
  /// Text that follows the name in reports.
  std::function<std::string()> state = nullptr;
  /// Called when the work enters a stream. It may replace the functions above, because work of a
  /// graph enters at each launch.
  std::function<void(CUstream_st&, Work&)> queued = nullptr;
  /// For work of a graph: an object that lives as long as the graph.
  std::shared_ptr<void> held_by_graph = nullptr;
};

struct Capture;

}  // namespace cuda_on_cpu

struct CUstream_st {
  int number = 0;
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  bool destroyed = false;
  bool running = false;  // its head is running
  std::deque<cuda_on_cpu::Work> work;
  std::shared_ptr<cuda_on_cpu::Capture> capture;
};

struct CUevent_st {
  int device = 0;
  unsigned flags = 0;
  std::shared_ptr<cuda_on_cpu::Mark> mark = nullptr;        // position of the last record
  std::shared_ptr<cuda_on_cpu::Capture> capture = nullptr;  // capture of the last record
  std::vector<int> captured = {};  // nodes after which the captured record comes
};

namespace cuda_on_cpu {

/// Creates a stream on the current device.
cudaError_t make_stream(cudaStream_t* made, unsigned flags, int priority);
void destroy_stream(cudaStream_t stream);
/// cudaSuccess if the stream exists. The default stream fails the test.
cudaError_t check_stream(cudaStream_t stream);
/// Appends work to a stream, or adds it to the graph if the stream is being captured.
cudaError_t enqueue(cudaStream_t stream, Work work);

void wait_for_stream(cudaStream_t stream);
void wait_for_mark(const std::shared_ptr<Mark>& mark);
/// Waits for all streams of a GPU, or only for those with which the default stream synchronises.
void wait_for_device(int device, bool blocking_only = false);
/// Runs all work of a GPU that does not wait for other work.
void run_what_can(int device);
/// Whether the work is complete. If not, runs one piece of the work that it depends on.
bool poll_stream(cudaStream_t stream);
bool poll_mark(const std::shared_ptr<Mark>& mark);
/// Runs `body` immediately, with the memory of these GPUs open.
void with_devices(const std::vector<int>& devices, const std::function<void()>& body);
/// Wakes waiting threads after a change that may unblock work.
void wake_waiters();
/// The head of each stream, for the error of a wait that cannot end.
std::string heads_of_streams();

}  // namespace cuda_on_cpu
