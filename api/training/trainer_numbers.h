// What a trainer counts from step to step: beside the tensors, all that it needs to go on.
#pragma once

#include <cstdint>
#include <tuple>

namespace phi::training {

struct TrainerNumbers {
  int64_t steps = 0;        // done, also those that were left out
  int64_t updates = 0;      // applied
  int64_t passes = 0;       // micro-batches: what dropout is drawn by
  int64_t data_offset = 0;  // batches that were passed over
  double loss_scale = 1.0;
  int64_t finite_steps = 0;  // in a row, since the loss scale changed
  int64_t left_out = 0;      // steps, in a row, until now

  friend bool operator==(const TrainerNumbers&, const TrainerNumbers&) = default;
};

/// A number under the name that checkpoints and Python give it.
template <typename T>
struct TrainerNumber {
  const char* name;
  T TrainerNumbers::*value;
  bool is_optional = false;  // a checkpoint of an older version may be without: then it is 0
};

/// Every number. Whoever saves, loads, shows or compares them goes through this list.
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

/// visit(number) for each of kTrainerNumbers.
template <typename Visit>
void for_each_trainer_number(Visit&& visit) {
  std::apply([&](const auto&... number) { (visit(number), ...); }, kTrainerNumbers);
}

}  // namespace phi::training
