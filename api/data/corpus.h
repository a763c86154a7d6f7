// Corpus: files as one row of bytes, mapped where they are read.
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
    int64_t offset;  // of its first byte in the corpus
    int64_t size;
  };
  /// Linux gives a process some 65,000 mappings in all.
  static constexpr size_t kMaxMappedFiles = 4096;

  /// The text files at `paths`, in order; a folder gives its files in order of their paths, without
  /// hidden ones, `build` and `__pycache__` folders, and files with a NUL among their first bytes.
  /// A relative path is looked for in the current folder, then in `base`. Once `max_mapped` files
  /// have been mapped, the one that was mapped first makes way. Errors: NotFound naming the path
  /// and both places; InvalidArgument if there is no byte at all.
  static std::shared_ptr<const Corpus> open(const std::vector<std::string>& paths,
                                            const std::string& base,
                                            size_t max_mapped = kMaxMappedFiles);
  /// Just these files, whatever is in them. Errors: NotFound; InvalidArgument naming an empty one.
  static std::shared_ptr<const Corpus> join(std::vector<std::string> files);

  const std::vector<File>& files() const { return files_; }
  int64_t num_bytes() const { return num_bytes_; }
  /// The one that holds the byte at `offset`, which must be one of the corpus.
  const File& file_at(int64_t offset) const;

  /// Bytes [offset, offset + out.size()), over file ends; all threads may ask. Errors: OutOfRange;
  /// Unavailable if a file has become shorter.
  void read(int64_t offset, std::span<uint8_t> out) const;

 private:
  explicit Corpus(size_t max_mapped) : max_mapped_(max_mapped) {}
  void add(std::string file);
  std::shared_ptr<const MappedFile> mapped(const File& file) const;

  const size_t max_mapped_;
  std::vector<File> files_;
  int64_t num_bytes_ = 0;
  mutable std::mutex mutex_;  // of the two below
  mutable std::unordered_map<const File*, std::shared_ptr<const MappedFile>> mappings_;
  mutable std::deque<const File*> oldest_first_;
};

}  // namespace phi::data
