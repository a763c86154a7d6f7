// The scheduler of a block's threads, and its barrier.
#include "support/cuda_on_cpu/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "support/cuda_on_cpu/block_state.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/settings.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace cuda_on_cpu {
namespace {

using State = Thread::State;

char block_token;
Draw draw(1);

// Fibers that no thread holds. They are kept for the next block.
std::vector<std::unique_ptr<Fiber>> all_fibers;
std::vector<Fiber*> spare_fibers;

// What each fiber does: it runs the thread that it was given, and the next one when that has ended.
void run_threads() {
  for (;;) {
    Block& now = block();
    order_before(&block_token);
    (*now.grid->body)();
    order_after(&block_token);
    Thread& ended = now.thread();
    ended.state = State::kDone;
    ++now.done;
    ended.fiber->leave();
  }
}

Fiber* take_fiber(int thread) {
  const auto index = static_cast<size_t>(thread);
  if (fibers_are_threads()) {
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

void run_thread(int index) {
  Block& now = block();
  now.current = index;
  Thread& thread = now.thread();
  if (thread.state == State::kFresh) {
    const auto [width, height] = std::pair{now.grid->threads.x, now.grid->threads.y};
    const auto linear = static_cast<unsigned>(index);
    thread.index = {linear % width, linear / width % height, linear / (width * height)};
    thread.fiber = take_fiber(index);
  }
  threadIdx = thread.index;
  thread.fiber->resume();
  if (thread.state != State::kDone) return;
  if (!fibers_are_threads()) spare_fibers.push_back(thread.fiber);
  settle_warp(index / kWarp);
}

// 0 .. n-1 in the order of the settings.
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

// A step that visits all of 0 .. n-1.
uint64_t drawn_step(uint64_t n) {
  uint64_t step = 1 + draw.number(n);
  while (std::gcd(step, n) != 1) ++step;
  return step;
}

// Runs the lanes of a warp until all have ended or wait for other warps.
bool run_warp(int warp) {
  Block& now = block();
  const int first = warp * kWarp;
  const auto lanes = static_cast<uint64_t>(std::min(kWarp, now.size - first));
  const uint64_t step = lanes > 1 && draw.number(2) == 0 ? lanes - 1 : 1;
  const uint64_t begin = draw.number(lanes);
  bool moved = false;
  for (bool again = true; again;) {
    again = false;
    for (uint64_t k = 0; k < lanes; ++k) {
      const int index = first + static_cast<int>(ordered(k, lanes, step, begin));
      const State state = now.threads[static_cast<size_t>(index)].state;
      if (state != State::kFresh && state != State::kReady) continue;
      run_thread(index);
      again = moved = true;
    }
  }
  return moved;
}

std::string threads_at(State state) {
  const Block& now = block();
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

void run_block() {
  Block& now = block();
  now.done = now.arrived = now.votes = 0;
  for (int i = 0; i < now.size; ++i) now.threads[static_cast<size_t>(i)].state = State::kFresh;
  const auto warps = static_cast<uint64_t>((now.size + kWarp - 1) / kWarp);
  while (now.done < now.size) {
    const uint64_t step = drawn_step(warps);
    const uint64_t first = draw.number(warps);
    bool moved = false;
    for (uint64_t k = 0; k < warps; ++k) {
      moved |= run_warp(static_cast<int>(ordered(k, warps, step, first)));
    }
    if (!moved) fail_stuck();
  }
}

}  // namespace

Block& block() {
  static Block now;
  return now;
}

void* launch_token() { return &block_token; }

void run_grid(const Grid& grid) {
  Block& now = block();
  now.grid = &grid;
  now.size = static_cast<int>(grid.threads.x * grid.threads.y * grid.threads.z);
  now.threads.resize(static_cast<size_t>(std::max(now.size, static_cast<int>(now.threads.size()))));
  blockDim = grid.threads;
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
  const Block& now = block();
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
  Block& now = block();
  Thread& self = now.thread();
  if (now.arrived == 0) {
    now.site = site;
    now.vote = vote;
    now.votes = 0;
  } else if (now.site.line != site.line || std::string_view(now.site.file) != site.file) {
    fail(fmt::format("threads of a block wait at different barriers, {}:{} and {}:{}, in {}",
                     now.site.file, now.site.line, site.file, site.line, where_now()));
  }
  order_after(&now);
  now.votes += predicate != 0 ? 1 : 0;
  if (++now.arrived < now.size) {
    now.wait(State::kAtBlock, site);
  } else {
    now.arrived = 0;
    now.result = now.vote == Vote::kCount ? now.votes
                 : now.vote == Vote::kAnd ? static_cast<int>(now.votes == now.size)
                                          : static_cast<int>(now.votes > 0);
    for (int i = 0; i < now.size; ++i) {
      Thread& thread = now.threads[static_cast<size_t>(i)];
      if (&thread != &self) thread.state = State::kReady;
    }
  }
  order_before(&now);
  return now.result;
}

void memory_fence() {}

}  // namespace cuda_on_cpu
