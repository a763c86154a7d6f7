// Generator: numbers the seeds that a rank draws for random calls without an explicit seed.
//
// Draw n is a function of the generator's seed and n (phi/kernels/functors/drawn_seed.h). Two
// numbers therefore suffice to repeat any draw or to continue from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace phi {

/// Determines all later draws of a generator.
struct GeneratorState {
  uint64_t seed = 0;
  uint64_t draws = 0;  // number of the next draw
  /// Number of the micro-batch that runs; nullopt outside of a forward context.
  std::optional<uint64_t> pass = std::nullopt;
  std::vector<const void*> named = {};  // callers that have drawn by the micro-batch's number

  friend bool operator==(const GeneratorState&, const GeneratorState&) = default;
};

class Generator {
 public:
  const GeneratorState& state() const { return state_; }
  void set_state(GeneratorState state) { state_ = std::move(state); }

  /// Returns the number of the next draw and advances.
  uint64_t take() { return state_.draws++; }
  void skip(uint64_t draws) { state_.draws += draws; }

  /// Returns the micro-batch's number for the first call by `who` in the forward context; nullopt
  /// for its later calls, and outside of a forward context.
  std::optional<uint64_t> first_in_pass(const void* who) {
    auto& named = state_.named;
    if (!state_.pass || std::find(named.begin(), named.end(), who) != named.end()) {
      return std::nullopt;
    }
    named.push_back(who);
    return state_.pass;
  }

  /// Sets the generator's state to `inside` and restores the previous one on destruction.
  class Scope {
   public:
    Scope(Generator& generator, GeneratorState inside)
        : generator_(generator), outside_(std::exchange(generator.state_, std::move(inside))) {}
    ~Scope() { generator_.state_ = std::move(outside_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Generator& generator_;
    GeneratorState outside_;
  };

 private:
  GeneratorState state_;
};

/// Draws of micro-batch `number` are numbered from (number + 1) 2^32, and draws outside of a
/// forward context from 0. The two ranges are therefore independent.
inline constexpr int kPassBits = 32;

/// The state at the beginning of micro-batch `number` under `seed`.
inline GeneratorState state_in_pass(uint64_t seed, uint64_t number) {
  return {.seed = seed, .draws = (number + 1) << kPassBits, .pass = number};
}

}  // namespace phi
