// SwapFile: a temporary file for swapped values. It has no name and a limited size, and the
// checksum of each page is verified when it is read.
//
//   auto swap = SwapFile::create({.folder = "/scratch", .limit = int64_t{4} << 30});
//   SwapFile::FileExtent extent = swap->allocate(nbytes);
//   swap->write(extent, bytes).wait();
//   ...
//   swap->read(extent, out).wait();       // throws if a page is damaged
//   swap->release(extent);
//
// The disk space is freed when the last handle is destroyed, or when the process is killed.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "phi/core/storage/tier.h"
#include "phi/memory/io/async_file.h"

namespace phi::memory {

struct SwapStats {
  int64_t limit = 0;  // bytes
  int64_t held = 0;   // bytes of all extents, in whole pages
  int64_t peak = 0;   // maximum of `held`
};

class SwapFile {
 public:
  struct Options {
    std::string folder = "/tmp";
    /// Limit of all extents together, in bytes; extents count in whole pages.
    int64_t limit = 0;
    /// Null: a new one from make_io_engine().
    std::shared_ptr<IoEngine> engine = nullptr;
  };
  /// A range of pages of the file.
  struct FileExtent {
    uint64_t offset = 0;
    size_t nbytes = 0;  // whole pages
    friend bool operator==(const FileExtent&, const FileExtent&) = default;
  };

  /// Errors: InvalidArgument for a negative limit; NotFound, PermissionDenied, Unavailable, naming
  /// the folder.
  static std::shared_ptr<SwapFile> create(Options options);
  ~SwapFile();
  SwapFile(const SwapFile&) = delete;
  SwapFile& operator=(const SwapFile&) = delete;

  /// Allocates an extent of `nbytes`, rounded up to pages, in the first gap that is large enough.
  /// An extent of 0 bytes takes no page. Errors: ResourceExhausted, with the requested, held and
  /// allowed bytes, or if the disk is full.
  FileExtent allocate(size_t nbytes);
  /// Frees an extent. No request for it may be in flight. Errors: InvalidArgument if `extent` is
  /// not allocated.
  void release(const FileExtent& extent);

  /// Writes `bytes` at byte `offset` of the extent. Offset, size and address must be multiples of
  /// kPage, and `bytes` must not change until the ticket is done. Counts a transfer from `from` to
  /// disk. Errors: InvalidArgument, OutOfRange; at Ticket::wait those of AsyncFile.
  Ticket write(const FileExtent& extent, std::span<const std::byte> bytes, uint64_t offset = 0,
               Tier from = Tier::kHost);
  /// Reads out.size() bytes at byte `offset` of the extent, with the same alignment. Counts a
  /// transfer from disk to `to`. Errors: InvalidArgument, OutOfRange, PreconditionNotMet for pages
  /// that were never written; at Ticket::wait those of AsyncFile, and Unavailable for a wrong
  /// checksum, naming the file, extent and page.
  Ticket read(const FileExtent& extent, std::span<std::byte> out, uint64_t offset = 0,
              Tier to = Tier::kHost);

  /// The extent as PagedBytes. Transfers are not counted. Pages that were never written have
  /// unspecified contents. The result keeps the file, but not the extent, alive.
  std::shared_ptr<PagedBytes> bytes_of(const FileExtent& extent);

  SwapStats stats() const;
  /// Name for messages: that it is a swap file, and its folder.
  std::string name() const;
  const IoEngine& engine() const;

 private:
  struct Core;
  class ExtentBytes;
  explicit SwapFile(std::shared_ptr<Core> core);
  // Shared with the reads in flight.
  std::shared_ptr<Core> core_;
};

}  // namespace phi::memory
