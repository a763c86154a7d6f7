// Checkpoint: tensors on disk, each of which can give any box of itself.
//
//   const Checkpoint checkpoint = open("ckpt");
//   checkpoint.check(wanted);                       // one error for all that does not fit
//   checkpoint.source("w")->read(box, &local);      // touches the bytes of this box only
//
// The placements and the number of ranks that saved do not matter: a read copies from whatever
// pieces overlap the box. Opening reads the index; a data file is mapped when first needed, so read
// what you need of a checkpoint before you save to its folder again (a later read is an error).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "distributed/checkpoint/save.h"
#include "phi/core/storage/storage.h"

namespace phi::distributed::checkpoint {

/// What a caller expects to find.
struct Wanted {
  std::string name;
  TensorMeta meta;
};

class Checkpoint {
 public:
  /// May the checkpoint have tensors that nobody wants?
  enum class Extras { kRefused, kAllowed };

  /// Where the tensors come from: files, or another checkpoint (view.h). Used from any thread.
  class Tensors {
   public:
    virtual ~Tensors() = default;
    virtual const std::string& path() const = 0;
    /// Shape, and dtype on disk, by name.
    virtual const std::map<std::string, TensorMeta>& metas() const = 0;
    /// SaveOptions::metadata of the save.
    virtual const std::map<std::string, std::string>& metadata() const = 0;
    /// Copies `box` of a tensor that is there to `out`, row-major, in a dtype that it converts to.
    virtual void read(const std::string& name, const Box& box, DataType dtype, void* out) const = 0;
    virtual int64_t bytes_read() const = 0;
    /// Names of the files in which the tensor lies, in order.
    virtual std::vector<std::string> files_of(const std::string& name) const = 0;
  };
  explicit Checkpoint(std::shared_ptr<const Tensors> tensors) : tensors_(std::move(tensors)) {}

  const std::string& path() const;
  /// What the save was given (SaveOptions::metadata); of other tools' files, their texts.
  const std::map<std::string, std::string>& metadata() const { return tensors_->metadata(); }
  /// In alphabetical order.
  std::vector<std::string> names() const;
  bool contains(const std::string& name) const;
  /// Shape, and dtype on disk. Errors: NotFound with the nearest name.
  const TensorMeta& meta(const std::string& name) const;
  /// Names of the files, in the checkpoint's folder, in which the tensor lies. Errors: as meta().
  std::vector<std::string> files_of(const std::string& name) const;

  /// Reads the tensor as it is on disk, or converted to another floating point type. It may be used
  /// from any thread and keeps the checkpoint's files.
  /// Errors: NotFound; InvalidArgument for types that do not convert. Of its read(): Unavailable or
  /// InvalidArgument naming the file if it is missing, damaged, of another save, or cut short.
  std::shared_ptr<const Storage::Source> source(const std::string& name) const;
  std::shared_ptr<const Storage::Source> source(const std::string& name, DataType dtype) const;
  /// Copies `box` to `out`, row-major on the host, as the source of this dtype does.
  void read(const std::string& name, const Box& box, DataType dtype, void* out) const;

  /// Errors: InvalidArgument that lists all that does not fit: tensors that are missing (the first
  /// 32 with the nearest name), other shapes, dtypes that do not convert, and extra ones if those
  /// are refused.
  void check(std::span<const Wanted> wanted, Extras extras = Extras::kRefused) const;

  /// Bytes of tensors that sources of this checkpoint have copied out of the files so far.
  int64_t bytes_read() const;

 private:
  class BoxSource;

  std::shared_ptr<const Tensors> tensors_;
};

/// The checkpoint in a folder (by its index, or its model.safetensors), or one .safetensors file.
/// No communication: every rank opens it by itself. Errors: NotFound; InvalidArgument naming the
/// file and the tensor if index or file are damaged.
Checkpoint open(const std::string& path);

/// Fills the tensors with values of the checkpoint: on each rank its shards, 0 bytes where it holds
/// none. Dtypes and placements are the tensors'. Errors: as check() and source().
void load(const Checkpoint& checkpoint, std::span<NamedTensor> tensors,
          Checkpoint::Extras extras = Checkpoint::Extras::kRefused);

}  // namespace phi::distributed::checkpoint
