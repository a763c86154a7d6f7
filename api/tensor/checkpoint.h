// Checkpoints of Tensor handles: what distributed/checkpoint does, in the words of the API.
//
//   checkpoint::save("ckpt", parameters);                                // on any mesh
//   const auto from = checkpoint::open("ckpt");
//   Tensor w = shard_tensor(checkpoint::deferred(from, "w"), mesh, {Shard(0)});  // reads its part
//   checkpoint::load(from, parameters);                                  // or into what is there
#pragma once

#include <span>
#include <string>
#include <utility>

#include "api/tensor/tensor.h"
#include "distributed/checkpoint/checkpoint.h"

namespace phi::distributed::checkpoint {

/// The tensors under these names, by all ranks of the job together; see NamedTensor's save() for
/// files, crashes and errors. A plain tensor is the same on every rank.
void save(const std::string& folder, std::span<const std::pair<std::string, Tensor>> tensors,
          const SaveOptions& options = {});

/// The same in the background, while training goes on; see NamedTensor's start_save().
PendingSave start_save(const std::string& folder,
                       std::span<const std::pair<std::string, Tensor>> tensors,
                       const SaveOptions& options = {});

/// Fills the tensors, each of which keeps its dtype and placements. A plain tensor is filled whole.
/// Errors: InvalidArgument that lists all that is missing, extra, or of another shape.
void load(const Checkpoint& from, std::span<const std::pair<std::string, Tensor>> tensors,
          Checkpoint::Extras extras = Checkpoint::Extras::kRefused);

/// A tensor of the checkpoint, without bytes until it is used; shard_tensor reads this rank's part
/// only. `dtype`: UNDEFINED keeps that on disk. Errors: as Checkpoint::source.
Tensor deferred(const Checkpoint& from, const std::string& name,
                DataType dtype = DataType::UNDEFINED);

}  // namespace phi::distributed::checkpoint
