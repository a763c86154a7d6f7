// Corpus: the text files of a job as one row of bytes, mapped where they are read.
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

#include "phi/common/mapped_file.h"

namespace phi::job {

class Corpus {
 public:
  struct File {
    std::string path;
    int64_t offset;  // of its first byte in the corpus
    int64_t size;
  };
  /// Linux gives a process some 65,000 mappings in all.
  static constexpr size_t kMaxMappedFiles = 4096;

  /// The text files at `paths`, in order (TextData::open says which). Once `max_mapped` files have
  /// been mapped, the one that was mapped first makes way.
  static std::shared_ptr<const Corpus> open(const std::vector<std::string>& paths,
                                            const std::string& base,
                                            size_t max_mapped = kMaxMappedFiles);

  const std::vector<File>& files() const { return files_; }
  int64_t num_bytes() const { return num_bytes_; }

  /// Bytes [offset, offset + out.size()), over file ends; all threads may ask. Errors: OutOfRange;
  /// Unavailable if a file has become shorter.
  void read(int64_t offset, std::span<uint8_t> out) const;

 private:
  explicit Corpus(size_t max_mapped) : max_mapped_(max_mapped) {}
  std::shared_ptr<const MappedFile> mapped(const File& file) const;

  const size_t max_mapped_;
  std::vector<File> files_;
  int64_t num_bytes_ = 0;
  mutable std::mutex mutex_;  // of the two below
  mutable std::unordered_map<const File*, std::shared_ptr<const MappedFile>> mappings_;
  mutable std::deque<const File*> oldest_first_;
};

}  // namespace phi::job
