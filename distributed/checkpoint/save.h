// Saving tensors: weights, optimizer states, anything that has a name.
//
//   const std::vector<NamedTensor> tensors{{"w", w}, {"b", b}};
//   save("ckpt", tensors);
//
// In the folder: one safetensors file per rank that has something to write
// (model-00003-of-00008.safetensors; model.safetensors where one process saves), and an index
// (index.h). What one process saves, and what lies whole on one rank, opens in other tools too.
//
// start_save() returns when the values are copied, and writes while training goes on:
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
class Saving;

struct NamedTensor {
  std::string name;
  DistTensor tensor;
};

/// What goes with a save; metadata are the same on every rank, and so are folders.
struct SaveOptions {
  /// Texts that the checkpoint keeps and gives back (Checkpoint::metadata()): a step, a config.
  /// The keys "total_size", "save" and "format" are taken.
  std::map<std::string, std::string> metadata{};
  /// How long it may take. The deadline of messages does not count while a rank writes; every 10 s
  /// rank 0 logs how far each rank is.
  std::chrono::milliseconds deadline = std::chrono::minutes(30);
  /// A second folder, for a save that fails in the first; empty: none.
  std::string fallback{};
  /// Numbers that are not finite are refused: OutOfRange with the first tensor that has one, and
  /// its rank. Nothing is written then.
  bool must_be_finite = false;
  /// If the caller holds the folder's lock; null: the save takes it for itself.
  std::shared_ptr<const FolderLock> lock{};
};

/// Writes the tensors to `folder`, which is made if need be and must be on a file system that all
/// ranks share. It is locked (storage/folder_lock.h) until all is written.
///
/// Ranks    Collective over all ranks of the world; each names the same tensors, in the same order,
///          whether in their meshes or not. A rank writes shards that it holds; each distinct shard
///          is written once, the replicas share the work. No tensor's bytes travel between ranks.
/// Crash    Files are written under temporary names and synced; the index's rename then makes the
///          save valid in one step, and files take their names when it is on the disk. Whenever a
///          job ends or a machine stops, the folder holds the old checkpoint or the new one (open()
///          finds files that did not get their names). At the end, files of older saves that the
///          index does not name are removed. When it returns, all names are on the disk.
/// Errors   The same on all ranks. The old checkpoint is unharmed, unless the index has taken its
///          name: the new one is there then. InvalidArgument: a partial tensor
///          (reshard it first), a name that is empty or used twice, ranks that differ (also in
///          the metadata), metadata that are not UTF-8; AlreadyExists: another job saves there, or
///          there are weights that no index of ours names (nothing is written then); Unavailable:
///          the system's reason; PreconditionNotMet: a rank has no bytes of its shard;
///          ExecutionTimeout: the deadline.
void save(const std::string& folder, std::span<const NamedTensor> tensors,
          const SaveOptions& options = {});

/// A save that is under way. It must be over, or given up, before the world ends.
class PendingSave {
 public:
  explicit PendingSave(std::unique_ptr<Saving> saving);
  /// Gives it up if it is not over: the old checkpoint stays, or the new one is complete.
  ~PendingSave();
  PendingSave(PendingSave&&) noexcept;
  PendingSave& operator=(PendingSave&&) noexcept;

  /// This rank has no more to do, one way or the other. No communication.
  bool done() const;
  /// True when the save is complete. Collective; it waits for no disk, so call it between steps.
  /// Errors: as save(); the same on all ranks when any of them has one, once.
  bool poll();
  /// Polls until it is complete. Errors: as poll().
  void wait();
  /// Where it goes: the second folder if the first has failed.
  const std::string& folder() const;

 private:
  std::unique_ptr<Saving> saving_;
};

/// As save(), but returns when all ranks have copied what they write to memory of the host. A rank
/// with a limit of memory, or without room for the copy, has none: all ranks then wait here until
/// all is written, and errors of writing come from here.
PendingSave start_save(const std::string& folder, std::span<const NamedTensor> tensors,
                       const SaveOptions& options = {});

}  // namespace phi::distributed::checkpoint
