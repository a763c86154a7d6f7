// The files of a checkpoint: which file has which piece of which tensor. Reads boxes, and verifies
// each block on its first use.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/format/safetensors.h"

namespace phi::distributed::checkpoint {

class CheckpointFiles final : public Checkpoint::TensorSource {
 public:
  /// `path` is a folder or one file. Errors: those of open() (checkpoint.h).
  explicit CheckpointFiles(std::string path);

  const std::string& path() const override { return path_; }
  const std::map<std::string, TensorMeta>& metas() const override { return metas_; }
  const std::map<std::string, std::string>& metadata() const override { return metadata_; }
  int64_t bytes_read() const override { return bytes_read_.load(); }
  std::vector<std::string> files_of(const std::string& name) const override;
  void read(const std::string& name, const Box& box, DataType dtype, void* out) const override;

  struct StoredPiece {
    TensorPiece piece;
    std::unique_ptr<std::atomic<bool>[]> checked {};  // per block: its checksum has been verified
  };
  const std::map<std::string, std::vector<StoredPiece>>& pieces() const { return pieces_; }
  /// The names of the files, in order.
  std::vector<std::string> names_of_files() const;
  /// Returns the file of this name in the checkpoint's folder. Errors: Unavailable or
  /// InvalidArgument that names it, if it cannot be read, is of another save, or has another
  /// header.
  std::shared_ptr<const SafetensorsFile> file(const std::string& name) const;
  /// The location of a piece's bytes. Errors: those of file(); InvalidArgument if the file has no
  /// such tensor.
  struct PieceLocation {
    std::shared_ptr<const SafetensorsFile> file;
    const TensorEntry* entry;
  };
  PieceLocation location_of(const TensorPiece& piece, DataType dtype) const;
  /// Errors: InvalidArgument that names file, tensor and block if its bytes differ from the save's.
  void check_block(const PieceLocation& place, const std::string& tensor, const TensorPiece& piece,
                   size_t block) const;

 private:
  void read_stored(const std::string& name, const Box& box, void* out) const;
  void check_blocks(const PieceLocation& place, const std::string& tensor,
                    const StoredPiece& stored, const Box& region) const;
  void add_file(const std::string& name);
  void add_index();
  void add_tensor(IndexedTensor indexed);
  void complete(IndexedTensor* indexed) const;
  std::shared_ptr<const SafetensorsFile> open_file(const std::string& name) const;

  std::string path_;
  std::filesystem::path folder_;
  std::string save_id_;  // empty: files of any save are accepted
  std::map<std::string, uint64_t> headers_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorMeta> metas_;
  std::map<std::string, std::vector<StoredPiece>> pieces_;  // by tensor
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const SafetensorsFile>> files_;  // files in use
  mutable std::atomic<int64_t> bytes_read_{0};
};

}  // namespace phi::distributed::checkpoint
