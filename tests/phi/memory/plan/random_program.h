// Random programs for tests of the planner: every legal shape, small.
#pragma once

#include <algorithm>
#include <random>

#include "phi/memory/plan/program_index.h"

namespace phi::memory {

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return pick(0, 99) < percent; }

  SwapProgram make() {
    SwapProgram program;
    const int64_t count = pick(2, 16);
    const int64_t largest = chance(30) ? 200 : 9000;
    for (int64_t b = 0; b < count; ++b) {
      program.buffers.push_back(
          {"b" + std::to_string(b), pick(0, largest), chance(50), chance(50)});
      has_value_.push_back(program.buffers.back().given);
    }
    const int64_t steps = pick(1, 40);
    for (int64_t s = 0; s < steps; ++s) program.steps.push_back(step(s, count));
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      if (!has_value_[b]) program.buffers[b].keep = false;
    }
    return program;
  }

 private:
  SwapStep step(int64_t number, int64_t buffers) {
    SwapStep step{.name = "s" + std::to_string(number),
                  .scratch_bytes = chance(20) ? pick(1, 3000) : 0,
                  .seconds = chance(20) ? 0 : static_cast<double>(pick(1, 50)) * 1e-6,
                  .repeatable = chance(60)};
    std::vector<SwapBufferId> written;
    for (int64_t i = pick(1, 4); i > 0; --i) {
      const auto buffer = static_cast<SwapBufferId>(pick(0, buffers - 1));
      const bool known = has_value_[static_cast<size_t>(buffer)];
      const bool twice = std::any_of(step.operands.begin(), step.operands.end(),
                                     [&](const SwapOperand& o) { return o.buffer == buffer; });
      if (!known) {
        if (twice) continue;
        written.push_back(buffer);
      }
      const BufferAccess access = !known       ? BufferAccess::kWrite
                                  : chance(55) ? BufferAccess::kRead
                                  : chance(50) ? BufferAccess::kWrite
                                               : BufferAccess::kUpdate;
      step.operands.push_back({buffer, access});
    }
    for (SwapBufferId buffer : written) has_value_[static_cast<size_t>(buffer)] = true;
    return step;
  }

  std::mt19937 random_;
  std::vector<bool> has_value_;
};

/// The largest step's bytes, and those of all values below the device.
inline int64_t least_device_bytes(const SwapProgram& program) {
  const ProgramIndex index(program);
  int64_t most = 0;
  for (int32_t s = 0; s < index.num_steps(); ++s) most = std::max(most, index.operand_bytes(s));
  return most;
}

inline int64_t bytes_below(const SwapProgram& program) {
  int64_t sum = 0;
  for (const SwapBuffer& buffer : program.buffers) {
    sum += occupied_bytes(Tier::kHost, buffer.nbytes);
  }
  return sum;
}

}  // namespace phi::memory
