// MappedFile: a read-only memory mapping of a file. Pages are read when they are accessed.
//
//   const auto file = MappedFile::open("corpus.txt", MappedFile::AccessPattern::kRandom);
//   file->read(offset, window);
//
// If the file is truncated while it is mapped, or its disk fails, an access raises SIGBUS.
// MappedFile turns this into an error of the calling thread: a signal handler, installed by open,
// jumps out of the copy. A SIGBUS from other code is passed to the previous handler.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace phi {

class MappedFile {
 public:
  /// kReadAhead: the system also reads the pages after an accessed page. kRandom: accessed pages
  /// only.
  enum class AccessPattern { kReadAhead, kRandom };

  /// Maps a file. Errors, naming the path: NotFound; PermissionDenied; InvalidArgument for a folder
  /// or a device; ResourceExhausted if there is not enough memory; Unavailable if reading fails.
  static std::shared_ptr<const MappedFile> open(const std::string& path, AccessPattern access);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  /// Size of the file in bytes when it was opened.
  size_t size() const { return size_; }

  /// Copies out.size() bytes from `offset`. Errors: OutOfRange beyond size(); Unavailable if the
  /// file has become shorter or its disk fails.
  void read(size_t offset, std::span<std::byte> out) const;

  /// Calls `copy` with the address of the file's first byte. `copy` may read the bytes [begin,
  /// end). It must only copy and must not throw: if a page cannot be read, control jumps out of it
  /// and its destructors do not run. Errors: those of read.
  template <typename F>
  void access(size_t begin, size_t end, const F& copy) const {
    run_guarded(
        begin, end, [](const std::byte* file, const void* f) { (*static_cast<const F*>(f))(file); },
        &copy);
  }

 private:
  MappedFile() = default;
  void run_guarded(size_t begin, size_t end, void (*call)(const std::byte*, const void*),
                   const void* copy) const;
  void check_still_long(size_t end) const;

  std::string path_;
  std::byte* data_ = nullptr;  // null for an empty file
  size_t size_ = 0;
  // Identify the opened file, even if its name is reused.
  unsigned long device_ = 0;
  unsigned long inode_ = 0;
};

}  // namespace phi
