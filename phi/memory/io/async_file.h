// AsyncFile: asynchronous reads and writes of a file's pages.
//
//   auto file = AsyncFile::create("/scratch/x.bin");
//   AlignedBuffer out(1 << 20);
//   Ticket ticket = file->read(0, {out.data(), out.size()});
//   ...                                                 // other work
//   ticket.wait();                                      // throws the error of the read
//
// Files are opened for direct I/O, which bypasses the page cache, if the file system supports it.
// Offsets, lengths and addresses must be multiples of kPage. Any number of requests may be in
// flight. They complete in any order: before you read pages that are being written, wait for the
// write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "phi/memory/io/aligned_buffer.h"
#include "phi/memory/io/io_engine.h"

namespace phi::memory {

/// Handle of the requests of one call. Its destructor, and an assignment to it, wait first, so that
/// no request outlives its memory; an error is lost then.
class Ticket {
 public:
  /// A handle of no requests, which is done.
  Ticket();
  Ticket(Ticket&&) noexcept;
  Ticket& operator=(Ticket&&) noexcept;
  ~Ticket();

  /// Returns whether the requests have completed or failed. Does not block.
  bool done() const;
  /// Blocks until the requests have completed or failed. Each call throws the first error:
  /// ResourceExhausted for a full disk, quota or file size limit; Unavailable for a file that ends
  /// too early, a failing disk or damaged data. The message has the file, offset, bytes and the
  /// system's reason.
  void wait() const;

 private:
  friend class AsyncFile;
  explicit Ticket(std::unique_ptr<IoGroup> group);
  std::unique_ptr<IoGroup> group_;
};

/// A range of a file and the memory to read into or write from.
struct FilePiece {
  uint64_t offset = 0;
  std::span<std::byte> bytes;
};

/// Interface of pages that can be read and written: a file, or one extent of a swap file.
class PagedBytes {
 public:
  virtual ~PagedBytes() = default;
  /// Starts requests for all pieces, which must not overlap, and returns one ticket for them.
  /// Errors: InvalidArgument if a piece is not aligned to pages; OutOfRange beyond size() rounded
  /// up to pages; others at Ticket::wait.
  virtual Ticket read(std::span<const FilePiece> pieces) = 0;
  virtual Ticket write(std::span<const FilePiece> pieces) = 0;
  /// Size in bytes. The contents of the last page after it are undefined.
  virtual uint64_t size() const = 0;
  /// Name for messages.
  virtual std::string name() const = 0;
};

class AsyncFile final : public PagedBytes {
 public:
  struct Options {
    /// Null: a new one from make_io_engine(). Several files may share an engine.
    std::shared_ptr<IoEngine> engine = nullptr;
    /// False: uses the page cache.
    bool direct = true;
  };
  /// Checks the data of a completed read request, on the engine's thread. Returns a description of
  /// damage, or nullopt.
  using Check = std::function<std::optional<std::string>(const FilePiece&)>;

  /// Opens an existing file, whose size need not be a multiple of the page size. Errors, naming the
  /// path: NotFound, PermissionDenied, InvalidArgument (a folder or a device), Unavailable.
  static std::shared_ptr<AsyncFile> open(const std::string& path, Options options);
  static std::shared_ptr<AsyncFile> open(const std::string& path) { return open(path, Options()); }
  static std::shared_ptr<AsyncFile> open_read_only(const std::string& path, Options options);
  /// Creates a file of `size` zero bytes; an existing file is truncated first. Errors: those of
  /// open.
  static std::shared_ptr<AsyncFile> create(const std::string& path, uint64_t size, Options options);
  static std::shared_ptr<AsyncFile> create(const std::string& path, uint64_t size = 0) {
    return create(path, size, Options());
  }
  /// Creates a file without a name in `folder`. Its disk space is freed when the process ends, even
  /// if it is killed. Errors: those of open.
  static std::shared_ptr<AsyncFile> create_temporary(const std::string& folder, Options options);
  ~AsyncFile() override;
  AsyncFile(const AsyncFile&) = delete;
  AsyncFile& operator=(const AsyncFile&) = delete;

  Ticket read(std::span<const FilePiece> pieces) override { return read(pieces, nullptr); }
  Ticket read(std::span<const FilePiece> pieces, Check check);
  Ticket read(uint64_t offset, std::span<std::byte> out);
  /// Writes pieces. A write beyond the end extends the file.
  Ticket write(std::span<const FilePiece> pieces) override;
  Ticket write(uint64_t offset, std::span<const std::byte> bytes);
  /// Allocates disk space for the first `size` bytes, if the file system supports it. Errors:
  /// ResourceExhausted.
  void reserve(uint64_t size);

  uint64_t size() const override;
  std::string name() const override;
  /// Whether requests bypass the page cache.
  bool direct() const;
  const IoEngine& engine() const;

 private:
  struct Core;
  explicit AsyncFile(std::shared_ptr<Core> core);
  static std::shared_ptr<AsyncFile> open_with(const std::string& path, int flags, uint64_t size,
                                              Options options);
  // Shared with the requests in flight.
  std::shared_ptr<Core> core_;
};

}  // namespace phi::memory
