// Runs programs on real bytes in the plainest way: once with every buffer in memory of its own,
// once as a plan says, with transfers at random moments among those that the plan allows.
#pragma once

#include <cstring>
#include <map>
#include <random>

#include "phi/common/errors.h"
#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

using Bytes = std::vector<uint8_t>;

inline uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  return x ^ (x >> 29);
}

inline uint64_t digest(const uint8_t* bytes, int64_t nbytes) {
  uint64_t sum = 1469598103934665603ULL;
  for (int64_t i = 0; i < nbytes; ++i) sum = (sum ^ bytes[i]) * 1099511628211ULL;
  return sum;
}

inline void fill(uint8_t* bytes, int64_t nbytes, uint64_t seed) {
  for (int64_t i = 0; i < nbytes; ++i) {
    bytes[i] = static_cast<uint8_t>(mix(seed + static_cast<uint64_t>(i) / 8) >> (i % 8 * 8));
  }
}

/// What a step does to its operands; scratch, if any, comes last and is only scribbled on.
/// Mentioned more than once, a buffer counts as one that is updated unless all mentions agree.
inline void run_step(const SwapProgram& program, int32_t number,
                     const std::vector<uint8_t*>& pointers) {
  const SwapStep& step = program.steps[static_cast<size_t>(number)];
  std::map<SwapBufferId, BufferAccess> access;
  for (const SwapOperand& operand : step.operands) {
    const auto [at, fresh] = access.emplace(operand.buffer, operand.access);
    if (!fresh && at->second != operand.access) at->second = BufferAccess::kUpdate;
  }
  const auto nbytes = [&](SwapBufferId b) {
    return program.buffers[static_cast<size_t>(b)].nbytes;
  };
  uint64_t seed = mix(static_cast<uint64_t>(number) + 1);
  std::map<SwapBufferId, uint8_t*> where;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    where[step.operands[i].buffer] = pointers[i];
  }
  for (const auto& [buffer, how] : access) {
    if (how != BufferAccess::kWrite) seed = mix(seed ^ digest(where[buffer], nbytes(buffer)));
  }
  if (step.scratch_bytes > 0) fill(pointers.back(), step.scratch_bytes, 99);
  for (const auto& [buffer, how] : access) {
    if (how != BufferAccess::kRead) {
      fill(where[buffer], nbytes(buffer), seed + static_cast<uint64_t>(buffer) * 7919);
    }
  }
}

/// Every buffer in memory of its own.
class PlainRun {
 public:
  explicit PlainRun(const SwapProgram& program) : program_(program) {
    for (const SwapBuffer& buffer : program.buffers) {
      values_.emplace_back(static_cast<size_t>(buffer.nbytes));
    }
    scratch_.resize(1 << 20);
  }
  Bytes& value(SwapBufferId buffer) { return values_[static_cast<size_t>(buffer)]; }
  void run() {
    for (int32_t s = 0; s < static_cast<int32_t>(program_.steps.size()); ++s) {
      std::vector<uint8_t*> pointers;
      for (const SwapOperand& operand : program_.steps[static_cast<size_t>(s)].operands) {
        pointers.push_back(value(operand.buffer).data());
      }
      pointers.push_back(scratch_.data());
      run_step(program_, s, pointers);
    }
  }

 private:
  const SwapProgram& program_;
  std::vector<Bytes> values_;
  Bytes scratch_;
};

/// As the plan says.
class PlanRun {
 public:
  PlanRun(const SwapProgram& program, const SwapPlan& plan, uint32_t seed)
      : program_(program),
        plan_(plan),
        random_(seed),
        arena_(static_cast<size_t>(plan.arena_bytes), 0xEE) {}

  void put(SwapBufferId b, const Bytes& value) {
    const SwapResidence& at = plan_.start[static_cast<size_t>(b)];
    if (at.device_offset >= 0) copy(value, at.device_offset);
    if (at.host) below_[{Tier::kHost, b}] = value;
    if (at.disk) below_[{Tier::kDisk, b}] = value;
  }
  /// From each tier that has it; all must agree.
  Bytes get(SwapBufferId b) const {
    const SwapResidence& at = plan_.end[static_cast<size_t>(b)];
    const auto nbytes = program_.buffers[static_cast<size_t>(b)].nbytes;
    std::vector<Bytes> found;
    if (at.device_offset >= 0) {
      const auto begin = arena_.begin() + at.device_offset;
      found.emplace_back(begin, begin + nbytes);
    }
    if (at.host) found.push_back(below_.at({Tier::kHost, b}));
    if (at.disk) found.push_back(below_.at({Tier::kDisk, b}));
    for (const Bytes& other : found) {
      PHI_CHECK(other == found.front(), errors::Internal("copies of buffer {} differ", b));
    }
    return found.at(0);
  }

  void run() {
    done_.assign(plan_.actions.size(), false);
    open_.clear();
    for (size_t b = 0; b < plan_.end.size(); ++b) {
      if (plan_.buffers[b].given) continue;
      for (Tier tier : {Tier::kHost, Tier::kDisk})
        below_.erase({tier, static_cast<SwapBufferId>(b)});
    }
    size_t next = 0;
    const auto launches = static_cast<int32_t>(plan_.launches.size());
    for (int32_t launch = 0; launch <= launches; ++launch) {
      for (; next < plan_.actions.size() && plan_.actions[next].issue == launch; ++next) {
        issue(static_cast<int32_t>(next));
      }
      run_some(launch);
      if (launch < launches) run_launch(launch);
      run_some(launch);
    }
  }
  int64_t most_on(Tier tier) const { return most_[static_cast<size_t>(tier)]; }

 private:
  void copy(const Bytes& value, int64_t offset) {
    if (!value.empty()) std::memcpy(arena_.data() + offset, value.data(), value.size());
  }
  void issue(int32_t action) {
    const SwapAction& a = plan_.actions[static_cast<size_t>(action)];
    if (a.kind == SwapAction::Kind::kDrop && a.after.empty()) {
      execute(action);
    } else {
      open_.push_back(action);
    }
  }
  /// Those that are due, and some others, in a random order that `after` allows.
  void run_some(int32_t launch) {
    std::shuffle(open_.begin(), open_.end(), random_);
    const std::vector<int32_t> open = open_;
    for (int32_t action : open) {
      const bool due = plan_.actions[static_cast<size_t>(action)].due <= launch;
      if (due || random_() % 3 == 0) execute_after_others(action);
    }
    std::erase_if(open_, [&](int32_t action) { return done_[static_cast<size_t>(action)]; });
  }
  void execute_after_others(int32_t action) {
    if (done_[static_cast<size_t>(action)]) return;
    for (int32_t other : plan_.actions[static_cast<size_t>(action)].after) {
      execute_after_others(other);
    }
    execute(action);
  }
  void execute(int32_t action) {
    done_[static_cast<size_t>(action)] = true;
    const SwapAction& a = plan_.actions[static_cast<size_t>(action)];
    if (a.kind == SwapAction::Kind::kCopy) {
      Bytes value;
      if (a.from == Tier::kDevice) {
        const auto begin = arena_.begin() + a.from_offset;
        value.assign(begin, begin + program_.buffers[static_cast<size_t>(a.buffer)].nbytes);
      } else {
        value = below_.at({a.from, a.buffer});
      }
      if (a.to == Tier::kDevice) {
        copy(value, a.to_offset);
      } else {
        below_[{a.to, a.buffer}] = value;
        count(a.to);
      }
    }
    if (a.kind == SwapAction::Kind::kDrop || a.release_source) below_.erase({a.from, a.buffer});
  }
  void count(Tier tier) {
    int64_t held = tier == Tier::kHost ? plan_.staging_bytes : 0;
    for (const auto& [key, value] : below_) {
      if (key.first == tier) held += occupied_bytes(tier, static_cast<int64_t>(value.size()));
    }
    most_[static_cast<size_t>(tier)] = std::max(most_[static_cast<size_t>(tier)], held);
  }
  void run_launch(int32_t launch) {
    const int32_t step = plan_.launches[static_cast<size_t>(launch)].step;
    const SwapStep& given = program_.steps[static_cast<size_t>(step)];
    const size_t count = given.operands.size() + (given.scratch_bytes > 0 ? 1 : 0);
    std::vector<uint8_t*> pointers;
    for (size_t i = 0; i < count; ++i) {
      pointers.push_back(arena_.data() + plan_.offset(launch, static_cast<int32_t>(i)));
    }
    run_step(program_, step, pointers);
  }

  const SwapProgram& program_;
  const SwapPlan& plan_;
  std::mt19937 random_;
  Bytes arena_;
  std::map<std::pair<Tier, SwapBufferId>, Bytes> below_;
  std::vector<bool> done_;
  std::vector<int32_t> open_;
  std::array<int64_t, kNumTiers> most_{};
};

}  // namespace phi::memory
