// Saves and loads a trainer: all that it needs to continue, on any mesh.
//
//   training::save("ckpt", trainer);
//   training::load(checkpoint::open("ckpt"), &other);     // other mesh, ZeRO stage, schedule
//
// Tensors have the names of Trainer::states(). Parameters and buffers have their names in the
// model, so the folder can be used wherever weights are accepted. Optimizer states have names such
// as "optimizer.moment1.layer0.up.weight". Counters are stored in the metadata under kTrainerKey,
// as JSON.
#pragma once

#include <optional>
#include <string>

#include "api/training/trainer.h"
#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/save.h"
#include "phi/common/errors.h"

namespace phi::training {

/// The metadata key of TrainerCounters.
inline constexpr const char* kTrainerKey = "trainer";

/// `options` with the metadata that load() needs added. States that are not finite are refused.
distributed::checkpoint::SaveOptions options_of(const Trainer& trainer,
                                                distributed::checkpoint::SaveOptions options = {});

/// Ranks and errors: as checkpoint::save.
void save(const std::string& folder, const Trainer& trainer,
          distributed::checkpoint::SaveOptions options = {});

/// The counters of a checkpoint.
/// Errors: InvalidArgument for a checkpoint of weights alone, or with invalid counters.
TrainerCounters counters_in(const distributed::checkpoint::Checkpoint& from);

/// Errors: InvalidArgument if load() would fail because checkpoint and trainer do not match.
void check_loads(const distributed::checkpoint::Checkpoint& from, const Trainer& trainer);

/// Restores the state of a saved trainer. Each rank reads the boxes that it holds, at once. Under
/// memory limits, boxes are read once to be checked, and again when they are needed. Half-precision
/// parameters can be loaded from float32 ones and the reverse.
///
/// Ranks    Every rank calls it.
/// Errors   The same on all ranks. Those of check_loads, for all that does not match: nothing is
///          changed. Those of reading: the trainer's states are undefined until another checkpoint
///          is loaded.
void load(const distributed::checkpoint::Checkpoint& from, Trainer* trainer);

/// load() of a checkpoint that check_loads() accepts. If a rank cannot read its part, the error of
/// the first such rank is returned on all ranks instead of thrown. Collective.
std::optional<Error> load_or_error(const distributed::checkpoint::Checkpoint& from,
                                   Trainer* trainer);

}  // namespace phi::training
