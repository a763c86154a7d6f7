// Generator: the seeds of a rank's random calls whose callers leave the seed out.
//
// Draw number n under a seed is a function of both (phi/kernels/functors/drawn_seed.h), so a state
// is two numbers, and any draw can be made again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace phi {

/// What a generator draws next.
struct GeneratorState {
  uint64_t seed = 0;
  uint64_t draws = 0;  // number of the next draw
  /// Number of the micro-batch whose pass runs; nothing outside of one.
  std::optional<uint64_t> pass = std::nullopt;
  std::vector<const void*> named = {};  // who has drawn by the pass's number in it

  friend bool operator==(const GeneratorState&, const GeneratorState&) = default;
};

class Generator {
 public:
  const GeneratorState& state() const { return state_; }
  void set_state(GeneratorState state) { state_ = std::move(state); }

  /// The number of the next draw, which is used up.
  uint64_t take() { return state_.draws++; }
  void skip(uint64_t draws) { state_.draws += draws; }

  /// The pass's number for the first call by `who` in it. Nothing for later ones, nor outside of a
  /// pass.
  std::optional<uint64_t> first_in_pass(const void* who) {
    auto& named = state_.named;
    if (!state_.pass || std::find(named.begin(), named.end(), who) != named.end()) {
      return std::nullopt;
    }
    named.push_back(who);
    return state_.pass;
  }

  /// The generator has another state while one lives; then it has the former one again.
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

/// The numbers of a micro-batch's draws begin at (number + 1) 2^32, those outside of passes at 0,
/// so that neither depends on the other.
inline constexpr int kPassBits = 32;

/// Draws of the micro-batch of this number under `seed`.
inline GeneratorState state_in_pass(uint64_t seed, uint64_t number) {
  return {.seed = seed, .draws = (number + 1) << kPassBits, .pass = number};
}

}  // namespace phi
