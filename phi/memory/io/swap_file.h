// SwapFile: where values lie that memory has no room for: a file without a name, of limited size,
// whose pages are checked when they come back.
//
//   auto swap = SwapFile::create({.folder = "/scratch", .limit = int64_t{4} << 30});
//   SwapFile::Extent extent = swap->allocate(nbytes);
//   swap->write(extent, bytes).wait();
//   ...
//   swap->read(extent, out).wait();       // throws if a page is not what was written
//   swap->release(extent);
//
// Its disk space is given back when the last handle goes, also when the process is killed. All
// calls may come from any thread.
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
  int64_t held = 0;   // of extents, in whole pages
  int64_t peak = 0;   // most held at once
};

class SwapFile {
 public:
  struct Options {
    std::string folder = "/tmp";
    /// Most bytes that extents may hold, in whole pages.
    int64_t limit = 0;
    /// Null: a new one by make_io_engine().
    std::shared_ptr<IoEngine> engine = nullptr;
  };
  /// Pages of the file.
  struct Extent {
    uint64_t offset = 0;
    size_t nbytes = 0;  // whole pages
    friend bool operator==(const Extent&, const Extent&) = default;
  };

  /// Errors: NotFound, PermissionDenied, Unavailable; all name the folder.
  static std::shared_ptr<SwapFile> create(Options options);
  ~SwapFile();
  SwapFile(const SwapFile&) = delete;
  SwapFile& operator=(const SwapFile&) = delete;

  /// The first gap that has room for `nbytes`, rounded up to pages; 0 bytes take none. Errors:
  /// ResourceExhausted naming what is asked, held and allowed, or that the disk is full.
  Extent allocate(size_t nbytes);
  /// No request of it may be in flight. Errors: InvalidArgument for what is not an extent.
  void release(const Extent& extent);

  /// `bytes` are whole pages, from a page of the extent on, in memory that begins on a page; they
  /// stay as they are until the ticket is done. Counted as a transfer from `from` to disk. Errors:
  /// InvalidArgument, OutOfRange; at the ticket's wait() those of AsyncFile.
  Ticket write(const Extent& extent, std::span<const std::byte> bytes, uint64_t offset = 0,
               Tier from = Tier::kHost);
  /// Counted as a transfer from disk to `to`. Errors: PreconditionNotMet for pages that were never
  /// written; at the ticket's wait() those of AsyncFile, and Unavailable naming file, extent and
  /// page whose checksum is not that of what was written.
  Ticket read(const Extent& extent, std::span<std::byte> out, uint64_t offset = 0,
              Tier to = Tier::kHost);

  /// The extent as pages of its own; transfers are not counted. Pages never written read as what
  /// the file holds there. Holds the file, not the extent.
  std::shared_ptr<PagedBytes> bytes_of(const Extent& extent);

  SwapStats stats() const;
  /// For messages: the folder, and that it is a swap file.
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
