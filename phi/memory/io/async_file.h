// AsyncFile: reads and writes of a file's pages that run while the caller computes.
//
//   auto file = AsyncFile::create("/scratch/x.bin");
//   AlignedBuffer out(1 << 20);
//   Ticket ticket = file->read(0, {out.data(), out.size()});
//   ...                                                 // other work
//   ticket.wait();                                      // throws what went wrong
//
// Files are opened for direct I/O, past the page cache, where their file system allows it. Offsets,
// lengths and addresses are multiples of kPage. Any number of requests may be in flight; they end
// in any order, so whoever reads what is being written waits for the write first.
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

/// What is waited for: one call's requests. A ticket that is dropped or assigned to waits first, so
/// that no request outlives the memory that it moves; its error is lost then.
class Ticket {
 public:
  /// Nothing to wait for.
  Ticket();
  Ticket(Ticket&&) noexcept;
  Ticket& operator=(Ticket&&) noexcept;
  ~Ticket();

  /// The requests have ended, well or not. Does not block.
  bool done() const;
  /// Returns when the requests have ended. Errors, each time it is called: ResourceExhausted for a
  /// full disk, quota or file size limit; Unavailable for a file that ends too early, a failing
  /// disk or damaged data; with file, offset, bytes and the system's reason.
  void wait() const;

 private:
  friend class AsyncFile;
  explicit Ticket(std::unique_ptr<IoGroup> group);
  std::unique_ptr<IoGroup> group_;
};

/// Bytes of a file and the memory that they are moved to or from.
struct FilePiece {
  uint64_t offset = 0;
  std::span<std::byte> bytes;
};

/// Pages that can be read and written: a file's, or those of one extent of a swap file.
class PagedBytes {
 public:
  virtual ~PagedBytes() = default;
  /// One ticket for all pieces, which must not overlap. Errors: InvalidArgument for what is not
  /// aligned to pages, OutOfRange beyond size() rounded up to pages; others at the ticket's wait().
  virtual Ticket read(std::span<const FilePiece> pieces) = 0;
  virtual Ticket write(std::span<const FilePiece> pieces) = 0;
  /// Bytes; what the last page holds beyond it is not defined.
  virtual uint64_t size() const = 0;
  /// For messages.
  virtual std::string name() const = 0;
};

class AsyncFile final : public PagedBytes {
 public:
  struct Options {
    /// Null: a new one by make_io_engine(). Several files may share one.
    std::shared_ptr<IoEngine> engine = nullptr;
    /// False: through the page cache.
    bool direct = true;
  };
  /// Looks at what a read request brought, on the engine's thread; says what is wrong with it.
  using Check = std::function<std::optional<std::string>(const FilePiece&)>;

  /// An existing file, which need not end on a page. Errors: NotFound, PermissionDenied,
  /// InvalidArgument (a folder or a device), Unavailable; all name the path.
  static std::shared_ptr<AsyncFile> open(const std::string& path, Options options);
  static std::shared_ptr<AsyncFile> open(const std::string& path) { return open(path, Options()); }
  static std::shared_ptr<AsyncFile> open_read_only(const std::string& path, Options options);
  /// A new file of `size` zero bytes; one that was there is emptied. Errors: as open.
  static std::shared_ptr<AsyncFile> create(const std::string& path, uint64_t size, Options options);
  static std::shared_ptr<AsyncFile> create(const std::string& path, uint64_t size = 0) {
    return create(path, size, Options());
  }
  /// A file without a name in `folder`, which vanishes with the process however that ends. Errors:
  /// as open.
  static std::shared_ptr<AsyncFile> create_temporary(const std::string& folder, Options options);
  ~AsyncFile() override;
  AsyncFile(const AsyncFile&) = delete;
  AsyncFile& operator=(const AsyncFile&) = delete;

  Ticket read(std::span<const FilePiece> pieces) override { return read(pieces, nullptr); }
  Ticket read(std::span<const FilePiece> pieces, Check check);
  Ticket read(uint64_t offset, std::span<std::byte> out);
  /// A write beyond the end makes the file longer.
  Ticket write(std::span<const FilePiece> pieces) override;
  Ticket write(uint64_t offset, std::span<const std::byte> bytes);
  /// Takes disk space for the bytes up to `size`, where the file system can. Errors:
  /// ResourceExhausted.
  void reserve(uint64_t size);

  uint64_t size() const override;
  std::string name() const override;
  /// Requests go past the page cache.
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
