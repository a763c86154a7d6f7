// Values that are swapped beside what a GPU computes, run by the emulator, which does what streams
// are given as late as it can and in drawn orders: a wait that is missing shows as a wrong value.
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "phi/gpu/gpu_device.h"
#include "phi/gpu/launch.h"
#include "phi/memory/engine/plan_arena.h"
#include "phi/memory/engine/swap_engine.h"
#include "tests/phi/memory/engine/engine_run.h"
#include "tests/phi/memory/plan/random_program.h"
#include "tests/support/cuda_on_cpu/cuda_on_cpu.h"

namespace phi::memory {
namespace {

using gpu::GpuDevice;

constexpr int64_t kKiB = 1024;
const Place kPlace = GPUPlace(0);

/// One step of a program; the program is the host's and outlives the launch.
struct StepCall {
  const SwapProgram* program;
  int32_t step;
  int count;
  uint8_t* pointers[8];
};
__global__ void step_kernel(StepCall call) {
  run_step(*call.program, call.step, {call.pointers, call.pointers + call.count});
}

/// Queues one run and waits for nothing.
void queue_run(SwapEngine& engine, const SwapProgram& program) {
  engine.begin_run();
  for (int32_t i = 0; i < engine.num_launches(); ++i) {
    engine.before_launch(i);
    const SwapStep& step = program.steps[static_cast<size_t>(engine.step(i))];
    StepCall call{.program = &program, .step = engine.step(i), .count = 0, .pointers = {}};
    const size_t count = step.operands.size() + (step.scratch_bytes > 0 ? 1 : 0);
    for (; static_cast<size_t>(call.count) < count; ++call.count) {
      call.pointers[call.count] = reinterpret_cast<uint8_t*>(engine.pointer(i, call.count));
    }
    GpuDevice& device = GpuDevice::of(kPlace);
    const Device::Work work(device);
    gpu::launch(device, step_kernel, 1, 1, call);
    engine.after_launch(i);
  }
  engine.end_run();
}

void expect_kept_values(SwapEngine& engine, const SwapProgram& program, PlainRun& plain) {
  for (SwapBufferId b = 0; static_cast<size_t>(b) < program.buffers.size(); ++b) {
    if (!program.buffers[static_cast<size_t>(b)].keep) continue;
    Bytes value(plain.value(b).size());
    engine.get(b, std::as_writable_bytes(std::span(value)));
    ASSERT_EQ(value, plain.value(b)) << "buffer " << b;
  }
}

/// Four runs, each second one queued behind one that nobody has waited for.
void expect_plain_values(SwapEngine& engine, const SwapProgram& program) {
  PlainRun plain(program);
  for (int run = 0; run < 4; ++run) {
    put_inputs(engine, program, run, &plain);
    plain.run();
    queue_run(engine, program);
    if (run % 2 == 1) expect_kept_values(engine, program, plain);
  }
}

void in_each_order(const std::function<void()>& test) {
  using cuda_on_cpu::Order;
  const std::pair<Order, uint64_t> orders[] = {{Order::kForward, 0}, {Order::kBackward, 0},
                                               {Order::kDrawn, 1},   {Order::kDrawn, 2},
                                               {Order::kDrawn, 3},   {Order::kDrawn, 4}};
  for (const auto& [order, seed] : orders) {
    SCOPED_TRACE(::testing::Message() << "order " << static_cast<int>(order) << ", " << seed);
    cuda_on_cpu::set_order(order, seed);
    test();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

MemoryLimits tight_limits(const SwapProgram& program, RandomProgram& random, bool disk) {
  const int64_t below = bytes_below(program);
  return {.device_bytes = least_device_bytes(program),
          .host_bytes = disk ? kLeastStaging + random.pick(0, below) : below + 64 * kKiB,
          .disk_bytes = disk ? below : 0};
}

class SwappingOnEmulator : public ::testing::Test {
 protected:
  ~SwappingOnEmulator() override { cuda_on_cpu::reset(); }
};

TEST_F(SwappingOnEmulator, RandomProgramsGiveThePlainValues) {
  for (const bool disk : {false, true}) {
    in_each_order([&] {
      for (uint32_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", disk " << disk);
        RandomProgram random(seed);
        const SwapProgram program = random.make();
        const SwapPlan plan = make_swap_plan(program, tight_limits(program, random, disk));
        SwapEngine engine(plan, {.place = kPlace});
        expect_plain_values(engine, program);
        if (HasFatalFailure()) return;
      }
    });
  }
}

/// Weights that are read and written in turn, of which the device holds a few.
SwapProgram updates(int count) {
  SwapProgram program;
  for (int i = 0; i < count; ++i) {
    program.buffers.push_back({"w" + std::to_string(i), 16 * kKiB, true, true});
  }
  program.buffers.push_back({"x", 4 * kKiB, true, true});
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < count; ++i) {
      program.steps.push_back(
          {.name = "step" + std::to_string(i),
           .operands = {{count, BufferAccess::kUpdate}, {i, BufferAccess::kUpdate}},
           .seconds = 1e-6});
    }
  }
  return program;
}

TEST_F(SwappingOnEmulator, TheHostIsNotHeldUp) {
  const SwapProgram program = updates(12);
  const MemoryLimits limits{.device_bytes = 72 * kKiB, .host_bytes = 512 * kKiB};
  in_each_order([&] {
    SwapEngine engine(make_swap_plan(program, limits), {.place = kPlace});
    PlainRun plain(program);
    put_inputs(engine, program, 0, &plain);
    GpuDevice::of(kPlace).wait();
    const uint64_t before = cuda_on_cpu::launches();
    queue_run(engine, program);
    queue_run(engine, program);
    // The emulator does nothing until somebody waits, and then no more than that needs.
    EXPECT_EQ(cuda_on_cpu::launches(), before);
    EXPECT_GT(engine.stats().transfers.of(Tier::kDevice, Tier::kHost).count, 0);
    EXPECT_GT(engine.stats().transfers.of(Tier::kHost, Tier::kDevice).count, 0);
    plain.run();
    plain.run();
    expect_kept_values(engine, program, plain);
  });
}

TEST_F(SwappingOnEmulator, ATransferComesBehindWhatItNeedsAndNoMore) {
  GpuDevice& device = GpuDevice::of(kPlace);
  CopyQueues& copies = *device.copy_queues();
  const SwapProgram program = updates(1);
  for (const auto order : {cuda_on_cpu::Order::kForward, cuda_on_cpu::Order::kBackward}) {
    cuda_on_cpu::set_order(order);
    PlanArena arena(16 * kKiB, kPlace);
    const AlignedBuffer host(16 * kKiB, device);
    std::memset(host.data(), 1, host.size());
    copies.after(CopyQueues::kToDevice, *copies.launched());
    copies.from_host(arena.data(), host.data(), host.size());
    const QueueEventPtr there = copies.end_of(CopyQueues::kToDevice);
    const uint64_t before = cuda_on_cpu::launches();
    StepCall call{.program = &program, .step = 0, .count = 2, .pointers = {}};
    call.pointers[0] = call.pointers[1] = reinterpret_cast<uint8_t*>(arena.data());
    copies.launch_after(*there);
    {
      const Device::Work work(device);
      gpu::launch(device, step_kernel, 1, 1, call);
    }
    there->wait();
    EXPECT_EQ(cuda_on_cpu::launches(), before)
        << "what is launched behind a copy is not waited for";
    copies.after(CopyQueues::kFromDevice, *copies.launched());
    copies.to_host(host.data(), arena.data(), host.size());
    copies.end_of(CopyQueues::kFromDevice)->wait();
    EXPECT_EQ(cuda_on_cpu::launches(), before + 1);
    EXPECT_NE(static_cast<int>(host.data()[4096]), 1);
  }
}

TEST_F(SwappingOnEmulator, AnEngineMayGoAmidARun) {
  const SwapProgram program = updates(12);
  const MemoryLimits limits{.device_bytes = 72 * kKiB, .host_bytes = 512 * kKiB};
  in_each_order([&] {
    SwapEngine engine(make_swap_plan(program, limits), {.place = kPlace});
    put_inputs(engine, program, 0);
    engine.begin_run();
    for (int32_t launch = 0; launch < 7; ++launch) {
      engine.before_launch(launch);
      engine.after_launch(launch);
    }
  });
  GpuDevice::of(kPlace).wait();
}

}  // namespace
}  // namespace phi::memory
