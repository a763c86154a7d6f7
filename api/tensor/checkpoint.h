// Saves and loads checkpoints of Tensor handles. Wraps distributed/checkpoint, which works on
// DistTensors.
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

/// Saves the tensors under these names. Collective over all ranks of the job. Files, crash safety
/// and errors are those of the NamedTensor overload of save(). A plain tensor must have the same
/// value on every rank.
void save(const std::string& folder, std::span<const std::pair<std::string, Tensor>> tensors,
          const SaveOptions& options = {});

/// Same contract as save(), but writes in the background while training continues; see the
/// NamedTensor overload of start_save().
PendingSave start_save(const std::string& folder,
                       std::span<const std::pair<std::string, Tensor>> tensors,
                       const SaveOptions& options = {});

/// Fills the tensors from the checkpoint. Each tensor keeps its dtype and placements; a plain
/// tensor receives the whole value. Errors: InvalidArgument that lists all names that are missing,
/// extra, or have another shape.
void load(const Checkpoint& from, std::span<const std::pair<std::string, Tensor>> tensors,
          Checkpoint::Extras extras = Checkpoint::Extras::kRefused);

/// Returns a deferred tensor that reads its bytes from the checkpoint at first use. shard_tensor of
/// it reads this rank's part only. `dtype`: UNDEFINED keeps the dtype on disk. Errors: those of
/// Checkpoint::source.
Tensor deferred(const Checkpoint& from, const std::string& name,
                DataType dtype = DataType::UNDEFINED);

}  // namespace phi::distributed::checkpoint
