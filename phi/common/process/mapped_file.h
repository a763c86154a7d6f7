// MappedFile: a file's bytes as memory, read only; pages come when they are touched.
//
//   const auto file = MappedFile::open("corpus.txt", MappedFile::Access::kRandom);
//   file->read(offset, window);
//
// A mapped file that is cut short by somebody, or whose disk fails, answers a touch with SIGBUS.
// Every access here turns that into an error of the calling thread: a handler, put in place by the
// first open, leaves the copy under way. A SIGBUS from elsewhere goes to the handler that was there
// before.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace phi {

class MappedFile {
 public:
  /// kReadAhead: what lies behind a touched page is brought too; kRandom: touched pages only.
  enum class Access { kReadAhead, kRandom };

  /// Errors: NotFound or PermissionDenied naming the path; InvalidArgument for a folder or a
  /// device.
  static std::shared_ptr<const MappedFile> open(const std::string& path, Access access);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  /// Bytes that the file had when it was opened.
  size_t size() const { return size_; }

  /// Copies the bytes from `offset` on. Errors: OutOfRange beyond size(); Unavailable if the file
  /// has become shorter or its disk fails.
  void read(size_t offset, std::span<std::byte> out) const;

  /// Calls `copy` with the address of the file's first byte; it may touch the bytes [begin, end).
  /// It must only copy, and not throw: where the bytes cannot be had it is left in the middle, and
  /// no destructor in it runs. Errors: as read.
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
  // Which file it is, whatever happens to its name.
  unsigned long device_ = 0;
  unsigned long inode_ = 0;
};

}  // namespace phi
