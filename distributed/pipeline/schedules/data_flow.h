// The data between virtual stages: activations forward, gradients backward. Each piece has a
// number, so that code that walks through a schedule can index a table of them.
#pragma once

#include <cstddef>
#include <optional>

#include "distributed/pipeline/schedules/schedule.h"

namespace phi::distributed::pipeline {

class DataFlow {
 public:
  /// The schedule must outlive this.
  explicit DataFlow(const Schedule& schedule) : schedule_(schedule) {}

  /// Pieces are numbered from 0 to size() - 1.
  size_t size() const { return 2 * pieces_per_direction(); }

  /// The piece that an action consumes from another virtual stage; nullopt for the first forward,
  /// the last backward and every backward_weight.
  std::optional<size_t> consumed_by(int stage, const Action& action) const;
  /// The piece that an action produces for another virtual stage.
  std::optional<size_t> produced_by(int stage, const Action& action) const;
  /// The stage that consumes the piece that `action` produces; may be the same stage.
  int consumer(int stage, const Action& action) const;

 private:
  size_t pieces_per_direction() const {
    return static_cast<size_t>(schedule_.virtual_stages()) *
           static_cast<size_t>(schedule_.micro_batches);
  }
  /// The piece that `virtual_stage` produces for a micro-batch.
  size_t piece(bool forward, int virtual_stage, int micro_batch) const {
    return (forward ? 0 : pieces_per_direction()) +
           static_cast<size_t>(virtual_stage) * static_cast<size_t>(schedule_.micro_batches) +
           static_cast<size_t>(micro_batch);
  }

  const Schedule& schedule_;
};

}  // namespace phi::distributed::pipeline
