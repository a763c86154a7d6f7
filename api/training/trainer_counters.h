// TrainerCounters: the counters that a trainer needs, besides its tensors, to continue.
#pragma once

#include <cstdint>
#include <tuple>

namespace phi::training {

struct TrainerCounters {
  int64_t steps = 0;        // completed, also skipped ones
  int64_t updates = 0;      // applied updates
  int64_t passes = 0;       // micro-batches; dropout draws from this number
  int64_t data_offset = 0;  // skipped batches
  double loss_scale = 1.0;
  int64_t finite_steps = 0;  // in a row, since the loss scale changed
  int64_t left_out = 0;      // steps skipped in a row, up to the last step

  friend bool operator==(const TrainerCounters&, const TrainerCounters&) = default;
};

/// A counter and its name in checkpoints and in Python.
template <typename T>
struct TrainerCounter {
  const char* name;
  T TrainerCounters::*value;
  bool is_optional = false;  // missing in checkpoints of older versions: 0
};

/// All counters. Code that saves, loads, prints or compares them iterates over this list.
inline constexpr std::tuple kTrainerCounters{
    TrainerCounter{"steps", &TrainerCounters::steps},
    TrainerCounter{"updates", &TrainerCounters::updates},
    TrainerCounter{"passes", &TrainerCounters::passes},
    TrainerCounter{"data_offset", &TrainerCounters::data_offset},
    TrainerCounter{"loss_scale", &TrainerCounters::loss_scale},
    TrainerCounter{"finite_steps", &TrainerCounters::finite_steps},
    TrainerCounter{"left_out", &TrainerCounters::left_out, /*is_optional=*/true}};
static_assert(sizeof(TrainerCounters) ==
                  std::tuple_size_v<decltype(kTrainerCounters)> * sizeof(int64_t),
              "kTrainerCounters lists every field of TrainerCounters, of 8 bytes each");

/// Calls visit(number) for each of kTrainerCounters.
template <typename Visit>
void for_each_trainer_counter(Visit&& visit) {
  std::apply([&](const auto&... number) { (visit(number), ...); }, kTrainerCounters);
}

}  // namespace phi::training
