// Saving tensors: weights, optimizer states, anything that has a name.
//
//   const std::vector<NamedTensor> tensors{{"w", w}, {"b", b}};
//   save("ckpt", tensors);
//
// In the folder: one safetensors file per rank that has something to write
// (model-00003-of-00008.safetensors; model.safetensors where one process saves), and an index
// (index.h). What one process saves, and what lies whole on one rank, opens in other tools too.
#pragma once

#include <map>
#include <span>
#include <string>

#include "distributed/tensor/dist_tensor.h"

namespace phi::distributed::checkpoint {

struct NamedTensor {
  std::string name;
  DistTensor tensor;
};

/// What goes with a save; the same on every rank.
struct SaveOptions {
  /// Texts that the checkpoint keeps and gives back (Checkpoint::metadata()): a step, a config.
  /// The keys "total_size", "save" and "format" are taken.
  std::map<std::string, std::string> metadata{};
};

/// Writes the tensors to `folder`, which is made if need be and must be on a file system that all
/// ranks share.
///
/// Ranks    Collective over all ranks of the world; each names the same tensors, in the same order,
///          whether in their meshes or not. A rank writes shards that it holds; each distinct shard
///          is written once, the replicas share the work. No tensor's bytes travel between ranks.
/// Crash    Files are written under temporary names and synced; the index's rename then makes the
///          save valid in one step, and files take their names when it is on the disk. Whenever a
///          job ends or a machine stops, the folder holds the old checkpoint or the new one (open()
///          finds files that did not get their names). At the end, files of older saves that the
///          index does not name are removed. When rank 0 returns, all names are on the disk.
/// Errors   The same on all ranks. The old checkpoint is unharmed, unless the index has taken its
///          name: the new one is there then. InvalidArgument: a partial tensor
///          (reshard it first), a name that is empty or used twice, ranks that differ (also in
///          the metadata), metadata that are not UTF-8; Unavailable:
///          the system's reason; PreconditionNotMet: a rank has no bytes of its shard.
void save(const std::string& folder, std::span<const NamedTensor> tensors,
          const SaveOptions& options = {});

}  // namespace phi::distributed::checkpoint
