// Corpus: files as one contiguous sequence of bytes, memory-mapped when they are read.
//
//   const auto corpus = Corpus::open({"phi", "README.md"}, "");
//   corpus->read(offset, window);
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "phi/common/process/mapped_file.h"

namespace phi::data {

class Corpus {
 public:
  struct File {
    std::string path;
    int64_t offset;  // of its first byte, in the corpus
    int64_t size;
  };
  /// Linux limits a process to about 65,000 mappings.
  static constexpr size_t kMaxMappedFiles = 4096;

  /// Opens the text files at `paths`, in order. A folder is replaced by its files in the order of
  /// their paths, without hidden ones, `build` and `__pycache__` folders, files and folders without
  /// read permission, and files with a NUL among their first bytes. A relative path is resolved in
  /// the current folder, then in `base`. At most `max_mapped` files are mapped at a time; the
  /// oldest mapping is dropped first. Errors: NotFound naming the path and both places;
  /// InvalidArgument if there is no byte at all.
  static std::shared_ptr<const Corpus> open(const std::vector<std::string>& paths,
                                            const std::string& base,
                                            size_t max_mapped = kMaxMappedFiles);
  /// Opens exactly these files, whatever their content.
  /// Errors: NotFound; InvalidArgument naming an empty one.
  static std::shared_ptr<const Corpus> join(std::vector<std::string> files);

  const std::vector<File>& files() const { return files_; }
  int64_t num_bytes() const { return num_bytes_; }
  /// The file that contains the byte at `offset`, which must be less than num_bytes().
  const File& file_at(int64_t offset) const;

  /// Reads bytes [offset, offset + out.size()), also across files. Thread-safe.
  /// Errors: OutOfRange; Unavailable if a file has become shorter.
  void read(int64_t offset, std::span<uint8_t> out) const;

 private:
  explicit Corpus(size_t max_mapped) : max_mapped_(max_mapped) {}
  void add(std::string file);
  std::shared_ptr<const MappedFile> mapped(const File& file) const;

  const size_t max_mapped_;
  std::vector<File> files_;
  int64_t num_bytes_ = 0;
  mutable std::mutex mutex_;  // guards the two below
  mutable std::unordered_map<const File*, std::shared_ptr<const MappedFile>> mappings_;
  mutable std::deque<const File*> oldest_first_;
};

}  // namespace phi::data
