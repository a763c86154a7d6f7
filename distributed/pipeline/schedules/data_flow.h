// What passes between virtual stages: activations forward, gradients backward. Each piece has a
// number, so that whoever walks through a schedule can keep a table of them.
#pragma once

#include <cstddef>
#include <optional>

#include "distributed/pipeline/schedules/schedule.h"

namespace phi::distributed::pipeline {

class DataFlow {
 public:
  /// The schedule must outlive this.
  explicit DataFlow(const Schedule& schedule) : schedule_(schedule) {}

  /// Pieces have numbers below this.
  size_t size() const { return 2 * pieces_per_direction(); }

  /// What an action takes from another virtual stage: nothing for the first forward, the last
  /// backward and every backward for the weight.
  std::optional<size_t> taken_by(int stage, const Action& action) const;
  /// What an action makes for another virtual stage.
  std::optional<size_t> made_by(int stage, const Action& action) const;
  /// The stage that takes what `action` makes; may be the same stage.
  int taker(int stage, const Action& action) const;

 private:
  size_t pieces_per_direction() const {
    return static_cast<size_t>(schedule_.virtual_stages()) *
           static_cast<size_t>(schedule_.micro_batches);
  }
  /// The piece that `virtual_stage` makes of a micro-batch.
  size_t piece(bool forward, int virtual_stage, int micro_batch) const {
    return (forward ? 0 : pieces_per_direction()) +
           static_cast<size_t>(virtual_stage) * static_cast<size_t>(schedule_.micro_batches) +
           static_cast<size_t>(micro_batch);
  }

  const Schedule& schedule_;
};

}  // namespace phi::distributed::pipeline
