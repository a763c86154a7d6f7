// Streams: work is queued and runs as late as possible, by whoever waits for it.
//
// A waiter runs what it needs: the heads of its stream, and of those whose events that stream waits
// for; with a drawn order others' heads, too. One piece of device work runs at a time in the
// process, so that only its own GPU's memory is open meanwhile; functions of the host run beside.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cuda_on_cpu {

/// One record of an event: a place in a stream.
struct Mark {
  CUstream_st* stream;
  bool done = false;
  std::chrono::steady_clock::time_point at{};
};

struct Work {
  enum class Kind { kDevice, kHost, kMark, kWait };
  Kind kind = Kind::kDevice;
  std::string name;
  std::function<void()> run = {};        // of the first two kinds
  std::vector<int> devices = {};         // whose memory it needs
  std::shared_ptr<Mark> mark = nullptr;  // of the last two
  // What follows is for messages, which meet others' at the heads of streams; all under the lock.
  /// It is the head, and cannot run yet: the other side has not come, say.
  std::function<bool()> held_up = nullptr;
  /// The streams whose work may end that.
  std::function<std::vector<CUstream_st*>()> needs = nullptr;
  /// It has run and stays the head, as it has more to do.
  std::function<bool()> unfinished = nullptr;
  /// Said behind its name.
  std::function<std::string()> state = nullptr;
  /// It comes into a stream, where it may make the above anew: work of a graph does so at each
  /// launch.
  std::function<void(CUstream_st&, Work&)> queued = nullptr;
  /// Of work of a graph: lives as long as the graph has it.
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
  bool running = false;  // its head
  std::deque<cuda_on_cpu::Work> work;
  std::shared_ptr<cuda_on_cpu::Capture> capture;
};

struct CUevent_st {
  int device = 0;
  unsigned flags = 0;
  std::shared_ptr<cuda_on_cpu::Mark> mark = nullptr;        // of the last record
  std::shared_ptr<cuda_on_cpu::Capture> capture = nullptr;  // the last record was captured
  std::vector<int> captured = {};                           // behind these nodes
};

namespace cuda_on_cpu {

/// A stream of the current device.
cudaError_t make_stream(cudaStream_t* made, unsigned flags, int priority);
void destroy_stream(cudaStream_t stream);
/// cudaSuccess for a stream that exists. The default stream ends the test.
cudaError_t check_stream(cudaStream_t stream);
/// Puts work at the end of a stream, or into the graph that the stream is being captured into.
cudaError_t enqueue(cudaStream_t stream, Work work);

void wait_for_stream(cudaStream_t stream);
void wait_for_mark(const std::shared_ptr<Mark>& mark);
/// All streams of a GPU; only those that the default stream waits for, if so wished.
void wait_for_device(int device, bool blocking_only = false);
/// All of a GPU's work that waits for nobody else.
void run_what_can(int device);
/// Whether it has come; does one piece of the work that it needs, if it has not.
bool poll_stream(cudaStream_t stream);
bool poll_mark(const std::shared_ptr<Mark>& mark);
/// Runs `body` now, with the memory of these GPUs open.
void with_devices(const std::vector<int>& devices, const std::function<void()>& body);
/// Something was changed that work was held up by.
void wake_waiters();
/// What a waiter who can wait no longer is told: the head of each stream.
std::string heads_of_streams();

}  // namespace cuda_on_cpu
