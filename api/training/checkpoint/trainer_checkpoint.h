// A trainer on disk: all that it needs to go on, on any mesh.
//
//   training::save("ckpt", trainer);
//   training::load(checkpoint::open("ckpt"), &other);     // other mesh, ZeRO stage, schedule
//
// Tensors have the names of Trainer::states(): parameters and buffers as the model names them, so
// that the folder can be given wherever weights are wanted, and optimizer states as
// "optimizer.moment1.layer0.up.weight". Numbers are in the metadata under kTrainerKey, as JSON.
#pragma once

#include <optional>
#include <string>

#include "api/training/trainer.h"
#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/save.h"
#include "phi/common/errors.h"

namespace phi::training {

/// Of metadata: TrainerNumbers.
inline constexpr const char* kTrainerKey = "trainer";

/// `options`, and in their metadata what load() needs beside the tensors. States that are not
/// finite are refused.
distributed::checkpoint::SaveOptions options_of(const Trainer& trainer,
                                                distributed::checkpoint::SaveOptions options = {});

/// Ranks and errors: as checkpoint::save.
void save(const std::string& folder, const Trainer& trainer,
          distributed::checkpoint::SaveOptions options = {});

/// Errors: InvalidArgument for a checkpoint without (of weights alone), or with wrong ones.
TrainerNumbers numbers_in(const distributed::checkpoint::Checkpoint& from);

/// Errors: InvalidArgument if load() would not fit the two together.
void check_loads(const distributed::checkpoint::Checkpoint& from, const Trainer& trainer);

/// The trainer goes on where the saved one was. Each rank reads the boxes that it holds, at once,
/// but for those of a job under memory limits: these are read once to be checked, and again when
/// they are needed. 16-bit parameters come from 32-bit ones of the checkpoint and the other way.
///
/// Collective. Errors, the same on all ranks: those of check_loads (nothing is changed then), with
/// all that does not fit; those of reading: the trainer's states are undefined then, load another.
void load(const distributed::checkpoint::Checkpoint& from, Trainer* trainer);

/// load() of a checkpoint that check_loads() accepts. Returns the error of the first rank that
/// cannot read its part, the same on all ranks, instead of throwing it. Collective.
std::optional<Error> fault_of_load(const distributed::checkpoint::Checkpoint& from,
                                   Trainer* trainer);

}  // namespace phi::training
