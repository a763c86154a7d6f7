// Saving named tensors: weights, optimizer states, anything else.
//
//   const std::vector<NamedTensor> tensors{{"w", w}, {"b", b}};
//   save("ckpt", tensors);
//
// The folder gets one safetensors file per rank that has data to write
// (model-00003-of-00008.safetensors; model.safetensors if one process saves), and an index
// (format/index.h). Files of a single process, and tensors that are whole on one rank, can be read
// by other tools too.
//
// start_save() returns when the values are copied, and writes while training continues:
//
//   PendingSave pending = start_save("ckpt", tensors);
//   while (!pending.poll()) train_step();
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "distributed/tensor/dist_tensor.h"

namespace phi::distributed::checkpoint {

class FolderLock;
class CollectiveSave;

struct NamedTensor {
  std::string name;
  DistTensor tensor;
};

/// Options of a save. `metadata`, `fallback` and the folder are equal on every rank.
struct SaveOptions {
  /// Texts to store in the checkpoint (Checkpoint::metadata()), for example a step or a config. The
  /// keys "total_size", "save" and "format" are reserved.
  std::map<std::string, std::string> metadata{};
  /// Time limit of the save. The deadline of messages does not apply while a rank writes. Every 10
  /// s rank 0 logs the progress of each rank.
  std::chrono::milliseconds deadline = std::chrono::minutes(30);
  /// A second folder, used if the save fails in the first; empty: none.
  std::string fallback{};
  /// Refuses values that are not finite: OutOfRange that names the first such tensor and its rank.
  /// Nothing is written then.
  bool must_be_finite = false;
  /// The folder's lock, if the caller holds it; null: the save acquires it.
  std::shared_ptr<const FolderLock> lock{};
};

/// Writes the tensors to `folder`, which is created if necessary and must be on a file system
/// shared by all ranks. The folder is locked (storage/folder_lock.h) until all is written.
///
/// Ranks    Collective over all ranks of the world. Each passes the same tensors in the same order,
///          whether in their meshes or not. A rank writes shards that it holds. Each distinct shard
///          is written once; replicas share the work. No tensor's bytes travel between ranks.
/// Crash    Files are written under temporary names and synced. Renaming the index makes the save
///          valid atomically; the files get their names after it is on disk. If the job or the
///          machine fails at any time, the folder holds the old checkpoint or the new one (open()
///          finds files that did not get their names). At the end, files of older saves that the
///          index does not name are removed. When save returns, all names are on disk.
/// Errors   The same on all ranks. The old checkpoint is intact unless the new index already has
///          its name; the new checkpoint is valid then. InvalidArgument: a partial tensor (reshard
///          it first), an empty or repeated name, ranks that differ (also in metadata), metadata
///          that is not UTF-8. AlreadyExists: another job saves there, or the folder has weights
///          that no index of this library names (nothing is written then). Unavailable: the
///          system's reason. PreconditionNotMet: a rank has no bytes of its shard.
///          ExecutionTimeout: the deadline.
void save(const std::string& folder, std::span<const NamedTensor> tensors,
          const SaveOptions& options = {});

/// A save in progress. Complete it or destroy it before the world ends.
class PendingSave {
 public:
  explicit PendingSave(std::unique_ptr<CollectiveSave> saving);
  /// Abandons an unfinished save: the old checkpoint stays, or the new one is complete.
  ~PendingSave();
  PendingSave(PendingSave&&) noexcept;
  PendingSave& operator=(PendingSave&&) noexcept;

  /// Whether this rank has no more work, successful or not. No communication.
  bool done() const;
  /// Whether the save is complete. Collective. It does not wait for the disk, so call it between
  /// steps. Errors: those of save(), once, on all ranks when any of them fails.
  bool poll();
  /// Polls until it is complete. Errors: those of poll().
  void wait();
  /// The target folder: the fallback if the first one failed.
  const std::string& folder() const;

 private:
  std::unique_ptr<CollectiveSave> saving_;
};

/// Like save(), but returns when all ranks have copied their data to host memory. A rank
/// with a memory limit, or without room for the copy, makes no copy. All ranks then wait here until
/// all is written, and this call throws errors of writing.
PendingSave start_save(const std::string& folder, std::span<const NamedTensor> tensors,
                       const SaveOptions& options = {});

}  // namespace phi::distributed::checkpoint
