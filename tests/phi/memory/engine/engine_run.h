// Programs run by a swap engine and by a plain run beside it.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "phi/core/device/device.h"
#include "phi/memory/engine/swap_engine.h"
#include "tests/phi/memory/plan/plan_interpreter.h"

namespace phi::memory {

/// The value that a given buffer has in run number `run`.
inline Bytes input(SwapBufferId buffer, int64_t nbytes, int run) {
  Bytes value(static_cast<size_t>(nbytes));
  fill(value.data(), nbytes, mix(static_cast<uint64_t>(buffer) * 31 + static_cast<uint64_t>(run)));
  return value;
}

/// Runs the program once, as a captured one is run.
inline void run_once(SwapEngine& engine, const SwapProgram& program) {
  engine.begin_run();
  for (int32_t i = 0; i < engine.num_launches(); ++i) {
    engine.before_launch(i);
    const SwapStep& step = program.steps[static_cast<size_t>(engine.step(i))];
    const size_t count = step.operands.size() + (step.scratch_bytes > 0 ? 1 : 0);
    std::vector<uint8_t*> pointers;
    for (size_t k = 0; k < count; ++k) {
      pointers.push_back(reinterpret_cast<uint8_t*>(engine.pointer(i, static_cast<int32_t>(k))));
    }
    const Device::Work work(Device::of(engine.place()));  // opens memory that the host cannot reach
    run_step(program, engine.step(i), pointers);
    engine.after_launch(i);
  }
  engine.end_run();
}

/// Gives the engine, and a plain run, what run number `run` needs.
inline void put_inputs(SwapEngine& engine, const SwapProgram& program, int run,
                       PlainRun* plain = nullptr) {
  for (SwapBufferId b = 0; static_cast<size_t>(b) < program.buffers.size(); ++b) {
    const SwapBuffer& buffer = program.buffers[static_cast<size_t>(b)];
    if (!buffer.given || (buffer.keep && run > 0)) continue;
    const Bytes value = input(b, buffer.nbytes, run);
    engine.put(b, std::as_bytes(std::span(value)));
    if (plain) plain->value(b) = value;
  }
}

/// Three runs leave the kept values that plain runs leave.
inline void expect_values_of_plain_run(SwapEngine& engine, const SwapProgram& program) {
  PlainRun plain(program);
  for (int run = 0; run < 3; ++run) {
    put_inputs(engine, program, run, &plain);
    plain.run();
    run_once(engine, program);
    for (SwapBufferId b = 0; static_cast<size_t>(b) < program.buffers.size(); ++b) {
      if (!program.buffers[static_cast<size_t>(b)].keep) continue;
      Bytes value(plain.value(b).size());
      engine.get(b, std::as_writable_bytes(std::span(value)));
      ASSERT_EQ(value, plain.value(b)) << "buffer " << b << " after run " << run;
    }
  }
}

}  // namespace phi::memory
