// Stream queues and their scheduling.
#include "support/cuda_on_cpu/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

#include "support/cuda_on_cpu/capture.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/settings.h"

namespace cuda_on_cpu {
namespace {

using Lock = std::unique_lock<std::mutex>;

constexpr uint64_t kOthers = 4;  // in drawn order, one in this many runs other streams' work

// A waiting thread. It sleeps until it is notified individually, because waking all threads at each
// step would cause contention.
struct Sleeper {
  const std::function<bool()>& over;
  bool works;  // runs any work that can run
  bool told = false;
  std::condition_variable moved{};
};

struct Engine {
  std::mutex mutex;
  std::vector<Sleeper*> sleepers;
  std::vector<std::unique_ptr<CUstream_st>> streams;
  int made = 0;
  bool busy = false;  // device work is running
  uint64_t progress = 0;
  std::set<int> open;
  Draw draw{2};

  bool can_run(const CUstream_st& stream) const {
    if (stream.running || stream.work.empty()) return false;
    const Work& head = stream.work.front();
    if (head.held_up && head.held_up()) return false;
    switch (head.kind) {
      case Work::Kind::kDevice:
        return !busy;
      case Work::Kind::kWait:
        return head.mark->done;
      default:
        return true;
    }
  }
};

Engine& engine() {
  static Engine& all = *new Engine;  // never freed: threads may wait at process exit
  return all;
}
// Constructed before there are threads: ThreadSanitizer does not see synchronisation of its
// construction here.
const bool made_early = (engine(), true);

bool exists(const CUstream_st* stream) {
  const auto& all = engine().streams;
  return std::any_of(all.begin(), all.end(),
                     [=](const auto& s) { return s.get() == stream && !s->destroyed; });
}

// The stream whose head must run next for this one to progress; null if that depends on others.
CUstream_st* needed_by(CUstream_st& stream, std::set<const CUstream_st*>& seen) {
  if (!seen.insert(&stream).second || stream.work.empty()) return nullptr;
  if (engine().can_run(stream)) return &stream;
  const Work& head = stream.work.front();
  if (head.kind == Work::Kind::kWait && !head.mark->done) {
    return needed_by(*head.mark->stream, seen);
  }
  if (!head.needs || stream.running) return nullptr;
  for (CUstream_st* other : head.needs()) {
    if (CUstream_st* needed = needed_by(*other, seen)) return needed;
  }
  return nullptr;
}

CUstream_st* any_that_can_run() {
  Engine& all = engine();
  std::vector<CUstream_st*> found;
  for (const auto& stream : all.streams) {
    if (all.can_run(*stream)) found.push_back(stream.get());
  }
  if (found.empty()) return nullptr;
  switch (settings().order) {
    case Order::kForward:
      return found.front();
    case Order::kBackward:
      return found.back();
    case Order::kDrawn:
      return found[all.draw.number(found.size())];
  }
  return nullptr;
}

CUstream_st* next_for(std::vector<CUstream_st*> targets) {
  Engine& all = engine();
  const Order order = settings().order;
  if (order == Order::kDrawn && all.draw.number(kOthers) == 0) {
    if (CUstream_st* other = any_that_can_run()) return other;
  }
  if (order == Order::kBackward) std::reverse(targets.begin(), targets.end());
  if (order == Order::kDrawn && !targets.empty()) {
    std::rotate(targets.begin(),
                targets.begin() + static_cast<int64_t>(all.draw.number(targets.size())),
                targets.end());
  }
  for (CUstream_st* target : targets) {
    std::set<const CUstream_st*> seen;
    if (CUstream_st* needed = needed_by(*target, seen)) return needed;
  }
  return any_that_can_run();
}

void tell(Sleeper& sleeper) {
  sleeper.told = true;
  sleeper.moved.notify_one();
}

// Wakes the threads whose wait is over.
void tell_waiters() {
  for (Sleeper* sleeper : engine().sleepers) {
    if (sleeper->over()) tell(*sleeper);
  }
}

// Wakes a sleeping thread to run available work. Called by a thread that runs no work next, or work
// for which the others need not wait.
void hand_on() {
  Engine& all = engine();
  const auto able =
      std::ranges::find_if(all.sleepers, [](Sleeper* s) { return s->works && !s->told; });
  if (able == all.sleepers.end()) return;
  const bool work =
      std::ranges::any_of(all.streams, [&](const auto& s) { return all.can_run(*s); });
  if (work) tell(**able);
}

void changed() {
  ++engine().progress;
  tell_waiters();
  hand_on();
}

// Sleeps until notified; returns false if the time limit expires.
bool sleep(Lock& lock, const std::function<bool()>& over, bool works) {
  Sleeper self{over, works};
  auto& all = engine().sleepers;
  all.push_back(&self);
  const std::chrono::milliseconds patience(settings().patience_ms.load());
  const bool told = self.moved.wait_for(lock, patience, [&] { return self.told; });
  std::erase(all, &self);
  return told;
}

void wait_for_turn(Lock& lock) {
  const std::function<bool()> over = [] { return !engine().busy; };
  while (!over()) sleep(lock, over, false);
}

void open_only(const std::vector<int>& devices) {
  std::set<int>& open = engine().open;
  const std::set<int> wanted(devices.begin(), devices.end());
  for (const int device : open) {
    if (!wanted.contains(device)) gpu(device).arena.close();
  }
  for (const int device : wanted) gpu(device).arena.open();
  open = wanted;
}

// Runs device work alone and without the lock. Opening and closing memory is slow and happens
// without the lock too, which is safe because only one thread runs device work.
void run_alone(Lock& lock, const std::vector<int>& devices, const std::function<void()>& body) {
  Engine& all = engine();
  all.busy = true;
  hand_on();
  lock.unlock();
  open_only(devices);
  body();
  lock.lock();
  all.busy = false;
}

// Makes GPU memory inaccessible to the host while no work runs there.
void close_all(Lock& lock) {
  if (engine().busy || engine().open.empty()) return;
  run_alone(lock, {}, [] {});
  tell_waiters();
}

void drop_if_over(CUstream_st& stream) {
  if (!stream.destroyed || !stream.work.empty() || stream.running) return;
  std::erase_if(engine().streams, [&](const auto& s) { return s.get() == &stream; });
}

void run_head(Lock& lock, CUstream_st& stream) {
  Engine& all = engine();
  Work work = std::move(stream.work.front());
  stream.work.front() =
      Work{.kind = work.kind, .name = work.name, .mark = work.mark, .state = work.state};
  stream.running = true;
  switch (work.kind) {
    case Work::Kind::kDevice:
      run_alone(lock, work.devices, work.run);
      break;
    case Work::Kind::kHost:
      close_all(lock);
      hand_on();
      lock.unlock();
      work.run();
      lock.lock();
      break;
    case Work::Kind::kMark:
      work.mark->at = std::chrono::steady_clock::now();
      work.mark->done = true;
      break;
    case Work::Kind::kWait:
      break;
  }
  stream.running = false;
  if (work.unfinished && work.unfinished()) {
    stream.work.front() = std::move(work);
  } else {
    stream.work.pop_front();
  }
  ++all.progress;
  drop_if_over(stream);
  tell_waiters();
}

// Call before a thread returns to its program: closes GPU memory and lets other threads run the
// remaining work.
void stop_working(Lock& lock) {
  close_all(lock);
  hand_on();
}

std::string described(const CUstream_st& stream) {
  const Work& head = stream.work.front();
  std::string text =
      fmt::format("stream {} of GPU {}: {}", stream.number, stream.device, head.name);
  if (head.state) text += head.state();
  if (stream.running) text += " (runs)";
  if (head.kind == Work::Kind::kWait && !head.mark->done) {
    text += fmt::format(" (an event of stream {})", head.mark->stream->number);
  }
  return fmt::format("{}, {} queued after it", text, stream.work.size() - 1);
}

// Runs work until `over`. Without work it waits for other threads, up to the time limit.
void wait_until(Lock& lock, const std::function<bool()>& over,
                const std::function<std::vector<CUstream_st*>()>& targets) {
  Engine& all = engine();
  while (!over()) {
    if (CUstream_st* next = next_for(targets())) {
      run_head(lock, *next);
      continue;
    }
    const uint64_t before = all.progress;
    if (!sleep(lock, over, true) && all.progress == before && !over() && !all.busy) {
      fail("no stream can make progress: " + heads_of_streams());
    }
  }
  stop_working(lock);
}

}  // namespace

std::string heads_of_streams() {
  std::string text;
  for (const auto& stream : engine().streams) {
    if (!stream->work.empty()) text += "\n  " + described(*stream);
  }
  return text;
}

cudaError_t check_stream(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
    fail("the default stream is used; each piece of work needs a stream of its rank");
  }
  const Lock lock(engine().mutex);
  return exists(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t enqueue(cudaStream_t stream, Work work) {
  const Lock lock(engine().mutex);
  if (stream->capture) return capture_work(*stream, std::move(work));
  if (work.queued) work.queued(*stream, work);
  stream->work.push_back(std::move(work));
  changed();
  return cudaSuccess;
}

void wake_waiters() {
  const Lock lock(engine().mutex);
  changed();
}

void wait_for_stream(cudaStream_t stream) {
  Lock lock(engine().mutex);
  auto last = std::make_shared<Mark>(Mark{.stream = stream});
  if (stream->work.empty()) return;
  stream->work.push_back({.kind = Work::Kind::kMark, .name = "a waiter", .mark = last});
  wait_until(
      lock, [&] { return last->done; }, [&] { return std::vector{stream}; });
}

void wait_for_mark(const std::shared_ptr<Mark>& mark) {
  Lock lock(engine().mutex);
  wait_until(
      lock, [&] { return mark->done; }, [&] { return std::vector{mark->stream}; });
}

namespace {

// The streams of a GPU with work, or only those with which the default stream synchronises.
std::vector<CUstream_st*> working(int device, bool blocking_only) {
  std::vector<CUstream_st*> found;
  for (const auto& stream : engine().streams) {
    const bool counts = !blocking_only || (stream->flags & cudaStreamNonBlocking) == 0;
    if (stream->device == device && counts && !stream->work.empty()) found.push_back(stream.get());
  }
  return found;
}

}  // namespace

void wait_for_device(int device, bool blocking_only) {
  Lock lock(engine().mutex);
  const auto targets = [=] { return working(device, blocking_only); };
  wait_until(
      lock, [&] { return targets().empty(); }, targets);
}

void run_what_can(int device) {
  Engine& all = engine();
  Lock lock(all.mutex);
  for (;;) {
    wait_for_turn(lock);
    CUstream_st* next = nullptr;
    for (CUstream_st* stream : working(device, false)) {
      std::set<const CUstream_st*> seen;
      if (next == nullptr) next = needed_by(*stream, seen);
    }
    if (next == nullptr) break;
    run_head(lock, *next);
  }
  stop_working(lock);
}

bool poll_mark(const std::shared_ptr<Mark>& mark) {
  Lock lock(engine().mutex);
  if (mark->done) return true;
  if (CUstream_st* next = next_for({mark->stream})) run_head(lock, *next);
  stop_working(lock);
  return false;
}

bool poll_stream(cudaStream_t stream) {
  Lock lock(engine().mutex);
  if (stream->work.empty()) return true;
  if (CUstream_st* next = next_for({stream})) run_head(lock, *next);
  stop_working(lock);
  return false;
}

void with_devices(const std::vector<int>& devices, const std::function<void()>& body) {
  Lock lock(engine().mutex);
  wait_for_turn(lock);
  run_alone(lock, devices, body);
  close_all(lock);
  changed();
}

cudaError_t make_stream(cudaStream_t* made, unsigned flags, int priority) {
  if ((flags & ~unsigned{cudaStreamNonBlocking}) != 0) return cudaErrorInvalidValue;
  auto stream = std::make_unique<CUstream_st>();
  stream->device = current_device();
  stream->flags = flags;
  stream->priority = priority;
  const Lock lock(engine().mutex);
  stream->number = ++engine().made;
  *made = engine().streams.emplace_back(std::move(stream)).get();
  return cudaSuccess;
}

void destroy_stream(cudaStream_t stream) {
  const Lock lock(engine().mutex);
  stream->destroyed = true;  // remaining work runs when it or the GPU is waited for
  drop_if_over(*stream);
}

}  // namespace cuda_on_cpu
