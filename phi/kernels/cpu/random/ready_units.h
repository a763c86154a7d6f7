// Random numbers for single elements of a box of a global tensor. The first numbers of many
// elements are drawn at once.
//
//   for_each_element(where, seed, RandomUse::kPoisson, [&](int64_t at, ReadyUnits& units) {
//     out[at] = draw_poisson(units, rate);
//   });
#pragma once

#include <array>
#include <cstdint>

#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/random/random_stream.h"
#include "phi/kernels/functors/random_draws.h"

namespace phi {

/// The first numbers that ElementWords::unit() returns for each element of a batch.
struct BatchUnits {
  static constexpr int kTurns = 2;
  static constexpr int kReady = 2 * kTurns;

  BatchUnits(const BatchBlocks& elements, uint64_t seed, RandomUse use) {
    for (uint32_t turn = 0; turn < kTurns; ++turn) {
      const BatchWords random(elements, seed, use, turn);
      run_best_isa<float>([words = random.words.data(), out = &units[0][2 * turn]] {
#pragma GCC ivdep
        for (int64_t s = 0; s < kBatchBlocks; ++s) {
          out[kReady * s] = unit_of(words[4 * s], words[4 * s + 1]);
          out[kReady * s + 1] = unit_of(words[4 * s + 2], words[4 * s + 3]);
        }
      });
    }
  }

  double units[kBatchBlocks][kReady];
};

/// Returns the same numbers as ElementWords::unit(). The first ones, `ready`, are already drawn.
class ReadyUnits {
 public:
  ReadyUnits(const double (&ready)[BatchUnits::kReady], const PhiloxBlock& counter, PhiloxKey key)
      : next_(ready), end_(ready + BatchUnits::kReady), counter_(counter), key_(key) {
    counter_.word[3] = BatchUnits::kTurns;
  }
  ReadyUnits(const ReadyUnits&) = delete;
  ReadyUnits& operator=(const ReadyUnits&) = delete;

  double unit() {
    if (next_ == end_) draw();
    return *next_++;
  }

 private:
  [[gnu::noinline]] void draw() {
    const PhiloxBlock block = philox(counter_, key_);
    ++counter_.word[3];
    own_ = {unit_of(block.word[0], block.word[1]), unit_of(block.word[2], block.word[3])};
    next_ = own_.data();
    end_ = next_ + own_.size();
  }

  const double* next_;
  const double* end_;
  std::array<double, 2> own_;
  PhiloxBlock counter_;
  PhiloxKey key_;
};

/// Calls f(local index, units) for each element of where.box.
template <typename F>
void for_each_element(const ShardBox& where, uint64_t seed, RandomUse use, F&& f) {
  BatchBlocks elements{};
  std::array<int64_t, kBatchBlocks> places;
  size_t count = 0;
  const auto flush = [&] {
    const BatchUnits batch(elements, seed, use);
    for (size_t s = 0; s < count; ++s) {
      ReadyUnits units(batch.units[s], philox_counter(elements[s], use), philox_key(seed));
      f(places[s], units);
    }
    count = 0;
  };
  for_each_run(where, [&](int64_t index, int64_t at, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      elements[count] = static_cast<uint64_t>(index + i);
      places[count] = at + i;
      if (++count == elements.size()) flush();
    }
  });
  if (count > 0) flush();
}

}  // namespace phi
