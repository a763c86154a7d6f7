// Checkpoint: named tensors on disk. Any box of a tensor can be read.
//
//   const Checkpoint checkpoint = open("ckpt");
//   checkpoint.check(wanted);                       // one error for all that does not fit
//   checkpoint.source("w")->read(box, &local);      // touches the bytes of this box only
//
// The placements and the number of ranks of the save do not matter: a read copies from the pieces
// that overlap the box. `open` reads the index; a data file is mapped when it is first needed.
// Finish reading a checkpoint before you save to its folder again, because a later read is an
// error.
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

/// A tensor that the caller expects in a checkpoint.
struct ExpectedTensor {
  std::string name;
  TensorMeta meta;
};

class Checkpoint {
 public:
  /// Whether check() accepts tensors that are not wanted.
  enum class Extras { kRefused, kAllowed };

  /// The source of the tensors: files, or another checkpoint (view.h). Thread-safe.
  class TensorSource {
   public:
    virtual ~TensorSource() = default;
    virtual const std::string& path() const = 0;
    /// Shape and on-disk dtype by name.
    virtual const std::map<std::string, TensorMeta>& metas() const = 0;
    /// SaveOptions::metadata of the save.
    virtual const std::map<std::string, std::string>& metadata() const = 0;
    /// Copies `box` of an existing tensor to `out`, row-major, converted to `dtype`, which must be
    /// convertible.
    virtual void read(const std::string& name, const Box& box, DataType dtype, void* out) const = 0;
    virtual int64_t bytes_read() const = 0;
    /// Names of the files that contain the tensor, in order.
    virtual std::vector<std::string> files_of(const std::string& name) const = 0;
  };
  explicit Checkpoint(std::shared_ptr<const TensorSource> tensors) : tensors_(std::move(tensors)) {}

  const std::string& path() const;
  /// The metadata of the save (SaveOptions::metadata); for files of other tools, their metadata
  /// texts.
  const std::map<std::string, std::string>& metadata() const { return tensors_->metadata(); }
  /// In alphabetical order.
  std::vector<std::string> names() const;
  bool contains(const std::string& name) const;
  /// Shape and on-disk dtype. Errors: NotFound that names the nearest tensor.
  const TensorMeta& meta(const std::string& name) const;
  /// Names of the files, in the checkpoint's folder, that contain the tensor. Errors: those of
  /// meta().
  std::vector<std::string> files_of(const std::string& name) const;

  /// Returns a source that reads the tensor in its on-disk dtype, or converted to another
  /// floating-point dtype. The source is thread-safe and keeps the checkpoint's files open.
  ///
  /// Errors   NotFound. InvalidArgument for dtypes that do not convert. The source's read() throws
  ///          Unavailable or InvalidArgument, naming the file, if it is missing, damaged, of
  ///          another save, or truncated.
  std::shared_ptr<const Storage::Source> source(const std::string& name) const;
  std::shared_ptr<const Storage::Source> source(const std::string& name, DataType dtype) const;
  /// Copies `box` to `out`, row-major in host memory, as the source of this dtype does.
  void read(const std::string& name, const Box& box, DataType dtype, void* out) const;

  /// Errors: InvalidArgument that lists everything that does not fit: missing tensors (the first 32
  /// with the nearest name), different shapes, dtypes that do not convert, and extra tensors if
  /// they are refused.
  void check(std::span<const ExpectedTensor> wanted, Extras extras = Extras::kRefused) const;

  /// Bytes of tensors that sources of this checkpoint have copied out of the files so far.
  int64_t bytes_read() const;

 private:
  class BoxSource;

  std::shared_ptr<const TensorSource> tensors_;
};

/// Opens the checkpoint in a folder (by its index, or its model.safetensors), or one .safetensors
/// file. No communication: every rank opens it for itself. Errors: NotFound; InvalidArgument that
/// names the file and the tensor if the index or a file is damaged.
Checkpoint open(const std::string& path);

/// Fills the tensors from the checkpoint: on each rank its shards, 0 bytes on a rank without a
/// part. Tensors keep their dtypes and placements. Errors: those of check() and source().
void load(const Checkpoint& checkpoint, std::span<NamedTensor> tensors,
          Checkpoint::Extras extras = Checkpoint::Extras::kRefused);

}  // namespace phi::distributed::checkpoint
