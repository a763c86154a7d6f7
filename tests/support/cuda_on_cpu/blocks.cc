// The scheduler of a block's threads, and its barrier.
#include "support/cuda_on_cpu/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "support/cuda_on_cpu/block_state.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/settings.h"
#include "support/cuda_on_cpu/symbols.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace cuda_on_cpu {
namespace {

using State = Thread::State;

constexpr int kNaNByte = 0xff;

// ThreadSanitizer tokens: the threads of a block come after the whole previous block and are
// unordered among themselves.
char begin_token;
char end_token;
Draw draw(1);

// Fibers that no thread uses, for reuse by the next block.
std::vector<std::unique_ptr<Fiber>> all_fibers;
std::vector<Fiber*> spare_fibers;

// The lanes of the running warp, in the order in which they run.
struct Turns {
  Warp* warp = nullptr;
  int begin = 0;
  bool backward = false;
  int over = 0;

  int next() const {
    int lane = begin + over;
    if (lane >= warp->lanes) lane -= warp->lanes;
    return backward ? warp->lanes - 1 - lane : lane;
  }
};
Turns turns;

// The next lane that can run; null after the last one.
Thread* find_next() {
  for (; turns.over < turns.warp->lanes; ++turns.over) {
    Thread& thread = now.lane(*turns.warp, turns.next());
    if (thread.state == State::kFresh || thread.state == State::kReady) return &thread;
  }
  return nullptr;
}

// Makes the lane that find_next returned the running one.
void begin_turn(const Thread& thread) {
  now.current = turns.warp->first + turns.next();
  threadIdx = thread.index;
  ++turns.over;
}

void end_thread(Thread& thread) {
  Warp& warp = *turns.warp;
  thread.state = State::kDone;
  ++now.done;
  warp.ended |= 1u << (now.current - warp.first);
  if (warp.waiting != 0) settle(warp);
}

// A fiber whose thread has ended continues with the next thread, if that has not begun, without a
// switch to the scheduler.
bool takes_next(Fiber* fiber) {
  if (kFibersAreThreads) return false;
  Thread* const next = find_next();
  if (next == nullptr || next->state != State::kFresh) return false;
  begin_turn(*next);
  next->fiber = fiber;
  return true;
}

// The body of a fiber: runs its thread, then further threads.
void run_threads() {
  for (;;) {
    order_before(&begin_token);
    (*now.grid->body)();
    order_after(&end_token);
    Thread& ended = now.thread();
    Fiber* const fiber = ended.fiber;
    end_thread(ended);
    if (takes_next(fiber)) continue;
    if (!kFibersAreThreads) spare_fibers.push_back(fiber);
    fiber->leave();
  }
}

Fiber* take_fiber(int thread) {
  const auto index = static_cast<size_t>(thread);
  if (kFibersAreThreads) {
    while (all_fibers.size() <= index) {
      all_fibers.push_back(std::make_unique<Fiber>(&run_threads));
    }
    return all_fibers[index].get();
  }
  if (spare_fibers.empty()) {
    spare_fibers.push_back(all_fibers.emplace_back(std::make_unique<Fiber>(&run_threads)).get());
  }
  Fiber* fiber = spare_fibers.back();
  spare_fibers.pop_back();
  return fiber;
}

void run_thread(Thread& thread) {
  begin_turn(thread);
  if (thread.state == State::kFresh) thread.fiber = take_fiber(now.current);
  thread.fiber->resume();
}

// Element i of a permutation of 0 .. n-1 in the order of the settings.
uint64_t ordered(uint64_t i, uint64_t n, uint64_t step, uint64_t first) {
  switch (settings().order) {
    case Order::kForward:
      return i;
    case Order::kBackward:
      return n - 1 - i;
    case Order::kDrawn:
      return (first + i * step) % n;
  }
  return i;
}

// A random step that visits all of 0 .. n-1.
uint64_t drawn_step(uint64_t n) {
  uint64_t step = 1 + draw.number(n);
  while (std::gcd(step, n) != 1) ++step;
  return step;
}

// Runs the lanes of a warp until all have ended or wait for other warps.
bool run_warp(Warp& warp) {
  const Order order = settings().order;
  const bool backward =
      order == Order::kBackward || (order == Order::kDrawn && draw.number(2) == 0);
  const int begin = order == Order::kDrawn ? static_cast<int>(draw.number(warp.lanes)) : 0;
  bool moved = false;
  for (bool again = true; again;) {
    again = false;
    turns = {&warp, begin, backward};
    while (Thread* const thread = find_next()) {
      run_thread(*thread);
      again = moved = true;
    }
  }
  return moved;
}

std::string threads_at(State state) {
  std::string text;
  int count = 0;
  for (int i = 0; i < now.size; ++i) {
    const Thread& thread = now.threads[static_cast<size_t>(i)];
    if (thread.state != state) continue;
    if (count++ == 0) {
      text = fmt::format("thread {}", i);
      if (state != State::kDone)
        text += fmt::format(" at {}:{}", thread.site.file, thread.site.line);
    }
  }
  return count > 1 ? fmt::format("{} and {} more", text, count - 1) : text;
}

[[noreturn]] void fail_stuck() {
  std::string text = "a barrier that some threads miss";
  const auto add = [&text](const char* what, State state) {
    const std::string threads = threads_at(state);
    if (!threads.empty()) text += fmt::format("; {}: {}", what, threads);
  };
  add("wait for the block", State::kAtBlock);
  add("wait for lanes of their warp", State::kAtWarp);
  add("have ended", State::kDone);
  fail(fmt::format("{}, in {}", text, where_now()));
}

void spoil_shared_memory() {
  for (const SharedArray& array : now.grid->shared) {
    std::memset(array.begin, kNaNByte, array.size);
  }
}

void run_block() {
  spoil_shared_memory();
  order_after(&begin_token);
  now.done = now.arrived = 0;
  for (int i = 0; i < now.size; ++i) now.threads[static_cast<size_t>(i)].state = State::kFresh;
  for (Warp& warp : now.warps) {
    warp.waiting = 0;
    warp.ended = warp.lanes < kWarp ? ~0u << warp.lanes : 0;
  }
  const uint64_t warps = now.warps.size();
  while (now.done < now.size) {
    const uint64_t step = drawn_step(warps);
    const uint64_t first = draw.number(warps);
    bool moved = false;
    for (uint64_t k = 0; k < warps; ++k) {
      moved |= run_warp(now.warps[ordered(k, warps, step, first)]);
    }
    if (!moved) fail_stuck();
  }
  order_before(&end_token);
}

// Sets up the threads and warps of a block. Usually they are those of the previous grid.
void set_size(const dim3& size) {
  if (now.size > 0 && size.x == blockDim.x && size.y == blockDim.y && size.z == blockDim.z) return;
  blockDim = size;
  now.size = static_cast<int>(size.x * size.y * size.z);
  if (now.threads.size() < static_cast<size_t>(now.size)) {
    now.threads.resize(static_cast<size_t>(now.size));
  }
  for (unsigned i = 0; i < static_cast<unsigned>(now.size); ++i) {
    now.threads[i].index = {i % size.x, i / size.x % size.y, i / (size.x * size.y)};
  }
  now.warps.resize(static_cast<size_t>((now.size + kWarp - 1) / kWarp));
  for (size_t w = 0; w < now.warps.size(); ++w) {
    now.warps[w].first = static_cast<int>(w) * kWarp;
    now.warps[w].lanes = std::min(kWarp, now.size - now.warps[w].first);
  }
}

}  // namespace

Block now;

void run_grid(const Grid& grid) {
  now.grid = &grid;
  set_size(grid.threads);
  gridDim = grid.blocks;
  const uint64_t width = grid.blocks.x;
  const uint64_t height = grid.blocks.y;
  const uint64_t count = width * height * grid.blocks.z;
  const uint64_t step = drawn_step(count);
  const uint64_t first = draw.number(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t linear = ordered(i, count, step, first);
    now.index = {static_cast<unsigned>(linear % width),
                 static_cast<unsigned>(linear / width % height),
                 static_cast<unsigned>(linear / (width * height))};
    blockIdx = now.index;
    run_block();
  }
}

std::string where_now() {
  return fmt::format("block ({}, {}, {}) of {} threads of kernel {}", now.index.x, now.index.y,
                     now.index.z, now.size, function_name(now.grid->kernel));
}

void Block::wait(State state, const Site& site) {
  Thread& self = thread();
  self.state = state;
  self.site = site;
  self.fiber->leave();
}

int block_barrier(Vote vote, int predicate, const Site& site) {
  Thread& self = now.thread();
  if (now.arrived == 0) {
    now.site = site;
    now.vote = vote;
    now.votes = 0;
  } else if (now.site.line != site.line ||
             (now.site.file != site.file && std::string_view(now.site.file) != site.file)) {
    fail(fmt::format("threads of a block wait at different barriers, {}:{} and {}:{}, in {}",
                     now.site.file, now.site.line, site.file, site.line, where_now()));
  }
  void* token = &now.tokens[now.phase];
  order_after(token);
  now.votes += predicate != 0 ? 1 : 0;
  if (++now.arrived < now.size) {
    now.wait(State::kAtBlock, site);
  } else {
    now.arrived = 0;
    now.phase ^= 1;
    now.result = now.vote == Vote::kCount ? now.votes
                 : now.vote == Vote::kAnd ? static_cast<int>(now.votes == now.size)
                                          : static_cast<int>(now.votes > 0);
    for (int i = 0; i < now.size; ++i) {
      Thread& thread = now.threads[static_cast<size_t>(i)];
      if (&thread != &self) thread.state = State::kReady;
    }
  }
  order_before(token);
  return now.result;
}

void memory_fence() {}

}  // namespace cuda_on_cpu
