// Random numbers of single elements of a box of a global tensor, the first of them drawn for many
// elements at once.
//
//   for_each_element(where, seed, RandomUse::kPoisson, [&](int64_t at, ReadyUnits& units) {
//     out[at] = draw_poisson(units, rate);
//   });
#pragma once

#include <array>
#include <cstdint>

#include "phi/kernels/cpu/random/random_stream.h"
#include "phi/kernels/functors/random_draws.h"

namespace phi {

/// Of the elements of a batch the numbers that ElementWords::unit() gives first.
struct BatchUnits {
  static constexpr int kReady = 4;

  BatchUnits(const BatchBlocks& elements, uint64_t seed, RandomUse use) {
    constexpr int kOfTurn = kReady / 2;
    for (uint32_t turn = 0; turn < 2; ++turn) {
      const BatchWords random(elements, seed, use, turn);
      for (int s = 0; s < kBatchBlocks; ++s) {
        for (int k = 0; k < kOfTurn; ++k) {
          const uint32_t* pair = random.words.data() + 4 * s + 2 * k;
          units[s][kOfTurn * turn + k] = unit_of(pair[0], pair[1]);
        }
      }
    }
  }

  double units[kBatchBlocks][kReady];
};

/// The numbers that ElementWords::unit() gives, of which `ready` are there.
class ReadyUnits {
 public:
  ReadyUnits(const double (&ready)[BatchUnits::kReady], const PhiloxBlock& counter, PhiloxKey key)
      : next_(ready), end_(ready + BatchUnits::kReady), counter_(counter), key_(key) {
    counter_.word[3] = 2;
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

/// Calls f(index here, units) for each element of where.box.
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
