// Allocates extents of a temporary file within a limit, and verifies checksums of their pages.
#include "phi/memory/io/swap_file.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"
#include "phi/memory/io/extent_map.h"
#include "phi/memory/io/page_checksum.h"

namespace phi::memory {

struct SwapFile::Core {
  std::shared_ptr<AsyncFile> file;
  mutable std::mutex mutex;  // guards the members below
  ExtentMap extents;
  SwapStats stats;
  std::vector<uint64_t> checksums;  // by page of the file; 0: never written

  std::string describe(const FileExtent& extent) const {
    return fmt::format("extent [{}, {}) of {}", extent.offset, extent.offset + extent.nbytes,
                       file->name());
  }
  void check_range(const FileExtent& extent, size_t nbytes, uint64_t offset) const {
    PHI_CHECK(offset <= extent.nbytes && nbytes <= extent.nbytes - offset,
              errors::OutOfRange("bytes [{}, {}) of {}, which has {}.", offset, offset + nbytes,
                                 describe(extent), extent.nbytes));
  }
  /// Stores the checksums of pages; called before the pages are written.
  void remember(uint64_t offset, std::span<const std::byte> bytes) {
    std::vector<uint64_t> sums;
    sums.reserve(bytes.size() / kPage);
    for (size_t at = 0; at < bytes.size(); at += kPage) {
      sums.push_back(page_checksum(bytes.data() + at, (offset + at) / kPage));
    }
    yield_point("swap_file.remember.summed");
    const std::lock_guard lock(mutex);
    std::copy(sums.begin(), sums.end(), checksums.begin() + static_cast<int64_t>(offset / kPage));
  }
  std::vector<uint64_t> remembered(uint64_t offset, size_t nbytes) const {
    const std::lock_guard lock(mutex);
    const auto begin = checksums.begin() + static_cast<int64_t>(offset / kPage);
    return {begin, begin + static_cast<int64_t>(nbytes / kPage)};
  }
  /// Compares the checksums of pages that were read; describes the first wrong page.
  std::optional<std::string> find_damage(const FilePiece& piece) const {
    const std::vector<uint64_t> expected = remembered(piece.offset, piece.bytes.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const uint64_t offset = piece.offset + i * kPage;
      if (expected[i] == 0) continue;
      if (page_checksum(piece.bytes.data() + i * kPage, offset / kPage) != expected[i]) {
        return damage_at(offset);
      }
    }
    return std::nullopt;
  }
  std::string damage_at(uint64_t offset) const {
    const std::lock_guard lock(mutex);
    const auto [begin, nbytes] = extents.holding(offset).value_or(std::pair{offset, kPage});
    return fmt::format(
        "page {} of extent [{}, {}), bytes [{}, {}) of the file, is not what was written: its "
        "checksum differs. The disk or its controller damages data; name a folder on another disk.",
        (offset - begin) / kPage, begin, begin + nbytes, offset, offset + kPage);
  }
};

/// The pages of one extent; offsets count from its beginning.
class SwapFile::ExtentBytes final : public PagedBytes {
 public:
  ExtentBytes(std::shared_ptr<Core> core, const FileExtent& extent)
      : core_(std::move(core)), extent_(extent) {}

  Ticket read(std::span<const FilePiece> pieces) override {
    return core_->file->read(in_file(pieces), [core = core_](const FilePiece& piece) {
      return core->find_damage(piece);
    });
  }
  Ticket write(std::span<const FilePiece> pieces) override {
    const std::vector<FilePiece> there = in_file(pieces);
    check_whole_pages(there);
    for (const FilePiece& piece : there) core_->remember(piece.offset, piece.bytes);
    return core_->file->write(there);
  }
  uint64_t size() const override { return extent_.nbytes; }
  std::string name() const override { return core_->describe(extent_); }

 private:
  std::vector<FilePiece> in_file(std::span<const FilePiece> pieces) const {
    std::vector<FilePiece> out(pieces.begin(), pieces.end());
    for (FilePiece& piece : out) {
      core_->check_range(extent_, piece.bytes.size(), piece.offset);
      piece.offset += extent_.offset;
    }
    return out;
  }
  /// Called before the file's own check, because checksums are computed of whole pages.
  void check_whole_pages(std::span<const FilePiece> pieces) const {
    for (const FilePiece& piece : pieces) {
      PHI_CHECK(piece.offset % kPage == 0 && piece.bytes.size() % kPage == 0,
                errors::InvalidArgument(
                    "{} bytes at offset {} of {}: both must be multiples of {}.",
                    piece.bytes.size(), piece.offset - extent_.offset, name(), kPage));
    }
  }

  std::shared_ptr<Core> core_;
  FileExtent extent_;
};

SwapFile::SwapFile(std::shared_ptr<Core> core) : core_(std::move(core)) {}
SwapFile::~SwapFile() = default;

std::shared_ptr<SwapFile> SwapFile::create(Options options) {
  PHI_CHECK(options.limit >= 0,
            errors::InvalidArgument("a swap file's limit is {} bytes; pass one of 0 or more.",
                                    options.limit));
  auto core = std::make_shared<Core>();
  core->stats.limit = options.limit;
  core->file = AsyncFile::create_temporary(options.folder, {.engine = std::move(options.engine)});
  return std::shared_ptr<SwapFile>(new SwapFile(std::move(core)));
}

SwapFile::FileExtent SwapFile::allocate(size_t nbytes) {
  const auto rounded = round_to_pages(nbytes);
  if (rounded == 0) return {};
  const std::lock_guard lock(core_->mutex);
  SwapStats& stats = core_->stats;
  PHI_CHECK(
      rounded >= nbytes && rounded <= static_cast<uint64_t>(stats.limit - stats.held),
      errors::ResourceExhausted("{} bytes are requested from {}, which has allocated {} of at most "
                                "{}; raise the disk limit or release what is not needed.",
                                nbytes, core_->file->name(), stats.held, stats.limit));
  const FileExtent extent{core_->extents.take(rounded), rounded};
  yield_point("swap_file.allocate.taken");
  try {
    core_->file->reserve(core_->extents.end());
    core_->checksums.resize(core_->extents.end() / kPage);
  } catch (...) {
    core_->extents.give_back(extent.offset, extent.nbytes);
    throw;
  }
  stats.held += static_cast<int64_t>(rounded);
  stats.peak = std::max(stats.peak, stats.held);
  return extent;
}

void SwapFile::release(const FileExtent& extent) {
  if (extent.nbytes == 0) return;
  const std::lock_guard lock(core_->mutex);
  PHI_CHECK(core_->extents.give_back(extent.offset, extent.nbytes),
            errors::InvalidArgument("{} is not allocated; release what allocate() returned, once.",
                                    core_->describe(extent)));
  yield_point("swap_file.release.given_back");
  core_->stats.held -= static_cast<int64_t>(extent.nbytes);
  const auto first = core_->checksums.begin() + static_cast<int64_t>(extent.offset / kPage);
  std::fill_n(first, extent.nbytes / kPage, uint64_t{0});
}

Ticket SwapFile::write(const FileExtent& extent, std::span<const std::byte> bytes, uint64_t offset,
                       Tier from) {
  // FilePiece is used for both directions; a write does not modify the bytes.
  const FilePiece piece{offset, {const_cast<std::byte*>(bytes.data()), bytes.size()}};
  Ticket ticket = ExtentBytes(core_, extent).write({&piece, 1});
  count_transfer(from, Tier::kDisk, static_cast<int64_t>(bytes.size()));
  return ticket;
}

Ticket SwapFile::read(const FileExtent& extent, std::span<std::byte> out, uint64_t offset,
                      Tier to) {
  core_->check_range(extent, out.size(), offset);
  const std::vector<uint64_t> sums = core_->remembered(extent.offset + offset, out.size());
  const auto missing = std::find(sums.begin(), sums.end(), uint64_t{0});
  PHI_CHECK(
      missing == sums.end(),
      errors::PreconditionNotMet("page {} of {} was never written; write it first.",
                                 offset / kPage + static_cast<uint64_t>(missing - sums.begin()),
                                 core_->describe(extent)));
  const FilePiece piece{offset, out};
  Ticket ticket = ExtentBytes(core_, extent).read({&piece, 1});
  count_transfer(Tier::kDisk, to, static_cast<int64_t>(out.size()));
  return ticket;
}

std::shared_ptr<PagedBytes> SwapFile::bytes_of(const FileExtent& extent) {
  return std::make_shared<ExtentBytes>(core_, extent);
}

SwapStats SwapFile::stats() const {
  const std::lock_guard lock(core_->mutex);
  return core_->stats;
}
std::string SwapFile::name() const { return core_->file->name(); }
const IoEngine& SwapFile::engine() const { return core_->file->engine(); }

}  // namespace phi::memory
