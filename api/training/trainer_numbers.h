// TrainerNumbers: the counters that a trainer needs, besides its tensors, to continue.
#pragma once

#include <cstdint>
#include <tuple>

namespace phi::training {

struct TrainerNumbers {
  int64_t steps = 0;        // completed, also skipped ones
  int64_t updates = 0;      // applied updates
  int64_t passes = 0;       // micro-batches; dropout draws from this number
  int64_t data_offset = 0;  // skipped batches
  double loss_scale = 1.0;
  int64_t finite_steps = 0;  // in a row, since the loss scale changed
  int64_t left_out = 0;      // steps skipped in a row, up to the last step

  friend bool operator==(const TrainerNumbers&, const TrainerNumbers&) = default;
};

/// A counter and its name in checkpoints and in Python.
template <typename T>
struct TrainerNumber {
  const char* name;
  T TrainerNumbers::*value;
  bool is_optional = false;  // missing in checkpoints of older versions: 0
};

/// All counters. Code that saves, loads, prints or compares them iterates over this list.
inline constexpr std::tuple kTrainerNumbers{
    TrainerNumber{"steps", &TrainerNumbers::steps},
    TrainerNumber{"updates", &TrainerNumbers::updates},
    TrainerNumber{"passes", &TrainerNumbers::passes},
    TrainerNumber{"data_offset", &TrainerNumbers::data_offset},
    TrainerNumber{"loss_scale", &TrainerNumbers::loss_scale},
    TrainerNumber{"finite_steps", &TrainerNumbers::finite_steps},
    TrainerNumber{"left_out", &TrainerNumbers::left_out, /*is_optional=*/true}};
static_assert(sizeof(TrainerNumbers) ==
                  std::tuple_size_v<decltype(kTrainerNumbers)> * sizeof(int64_t),
              "kTrainerNumbers lists every field of TrainerNumbers, of 8 bytes each");

/// Calls visit(number) for each of kTrainerNumbers.
template <typename Visit>
void for_each_trainer_number(Visit&& visit) {
  std::apply([&](const auto&... number) { (visit(number), ...); }, kTrainerNumbers);
}

}  // namespace phi::training
