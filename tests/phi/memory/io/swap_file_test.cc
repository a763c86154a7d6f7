// Extents within a hard limit, checked pages, counts, a full disk, and a killed process.
#include "phi/memory/io/swap_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include "tests/phi/memory/io/faulty_engine.h"
#include "tests/phi/memory/scratch_folder.h"
#include "tests/support/error_matchers.h"

namespace phi::memory {
namespace {

std::span<std::byte> all_of(const AlignedBuffer& buffer) { return {buffer.data(), buffer.size()}; }

AlignedBuffer pages_of(size_t nbytes, int value) {
  AlignedBuffer out(nbytes);
  std::memset(out.data(), value, out.size());
  return out;
}

class SwapFileTest : public ::testing::TestWithParam<IoEngineKind> {
 protected:
  void SetUp() override {
    if (GetParam() == IoEngineKind::kUring && !make_uring_engine()) {
      GTEST_SKIP() << "no io_uring in this build or kernel";
    }
  }
  std::shared_ptr<SwapFile> swap_of(int64_t limit) const {
    return SwapFile::create({folder_.path(), limit, make_io_engine(GetParam())});
  }
  ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Engines, SwapFileTest,
                         ::testing::Values(IoEngineKind::kUring, IoEngineKind::kThreadPool));

TEST_P(SwapFileTest, ExtentsComeBackAsTheyWere) {
  const auto swap = swap_of(64 << 20);
  std::mt19937 engine(1);
  std::vector<std::pair<SwapFile::FileExtent, int>> held;
  std::vector<AlignedBuffer> buffers;
  for (int value = 0; value < 40; ++value) {
    buffers.push_back(pages_of(1 + engine() % (1 << 20), value));
    const SwapFile::FileExtent extent = swap->allocate(buffers.back().size());
    swap->write(extent, all_of(buffers.back())).wait();
    held.emplace_back(extent, value);
    if (value % 3 == 2) {
      swap->release(held[value / 3].first);
      held[value / 3].second = -1;
    }
  }
  for (const auto& [extent, value] : held) {
    if (value < 0) continue;
    const AlignedBuffer out = pages_of(extent.nbytes, 0xff);
    swap->read(extent, all_of(out)).wait();
    EXPECT_TRUE(std::ranges::equal(all_of(out), all_of(buffers[value]))) << value;
  }
}

TEST_P(SwapFileTest, PartsOfAnExtentCanBeReadAndWritten) {
  const auto swap = swap_of(8 * kPage);
  const auto extent = swap->allocate(4 * kPage);
  swap->write(extent, all_of(pages_of(4 * kPage, 1))).wait();
  swap->write(extent, all_of(pages_of(kPage, 2)), 2 * kPage).wait();
  const AlignedBuffer out(2 * kPage);
  swap->read(extent, all_of(out), kPage).wait();
  EXPECT_EQ(out.data()[0], std::byte{1});
  EXPECT_EQ(out.data()[kPage], std::byte{2});
}

TEST(SwapFile, ANegativeLimitIsAnError) {
  const ScratchFolder folder;
  EXPECT_THAT(
      [&] {
        SwapFile::create({folder.path(), -1, nullptr});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "a swap file's limit is -1 bytes"));
}

TEST_P(SwapFileTest, TheLimitIsHard) {
  const auto swap = swap_of(10 * kPage + 1);
  const auto first = swap->allocate(6 * kPage - 5);
  EXPECT_EQ(first.nbytes, 6 * kPage);
  const auto too_much = [&] { swap->allocate(4 * kPage + 1); };
  EXPECT_THAT(too_much,
              ThrowsError(ErrorCode::kResourceExhausted, "16385 bytes are requested from"));
  EXPECT_THAT(too_much,
              ThrowsError(ErrorCode::kResourceExhausted, "has allocated 24576 of at most 40961"));
  EXPECT_THAT(too_much, ThrowsError(ErrorCode::kResourceExhausted, folder_.path()));
  const auto second = swap->allocate(4 * kPage);
  EXPECT_EQ(swap->stats().held, 10 * int64_t{kPage});
  swap->release(first);
  swap->release(second);
  EXPECT_EQ(swap->stats().held, 0);
  EXPECT_EQ(swap->stats().peak, 10 * int64_t{kPage});
  EXPECT_THAT([&] { swap->release(second); },
              ThrowsError(ErrorCode::kInvalidArgument, "is not allocated"));
}

TEST_P(SwapFileTest, TransfersAreCountedOnTheCallersThread) {
  const auto swap = swap_of(1 << 20);
  const auto extent = swap->allocate(3 * kPage);
  const AlignedBuffer bytes = pages_of(3 * kPage, 9);
  reset_transfer_stats();
  swap->write(extent, all_of(bytes)).wait();
  swap->read(extent, {bytes.data(), kPage}, 0, Tier::kDevice).wait();
  EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDisk), (TransferCount{1, 3 * kPage}));
  EXPECT_EQ(transfer_stats().of(Tier::kDisk, Tier::kDevice), (TransferCount{1, kPage}));
}

TEST_P(SwapFileTest, WhatWasNeverWrittenCannotBeRead) {
  const auto swap = swap_of(1 << 20);
  const auto extent = swap->allocate(3 * kPage);
  const AlignedBuffer page(kPage);
  swap->write(extent, all_of(page)).wait();
  const auto unwritten = ThrowsError(ErrorCode::kPreconditionNotMet, "page 1 of extent");
  EXPECT_THAT([&] { swap->read(extent, all_of(page), kPage); }, unwritten);
  swap->release(extent);
  const auto again = swap->allocate(kPage);
  EXPECT_THAT([&] { swap->read(again, all_of(page)); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "never written"));
  EXPECT_THAT([&] { swap->read(again, all_of(page), kPage); },
              ThrowsError(ErrorCode::kOutOfRange, "which has 4096"));
}

TEST_P(SwapFileTest, NothingRemainsOfAKilledProcess) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto swap = swap_of(64 << 20);
    const AlignedBuffer bytes = pages_of(32 << 20, 1);
    const auto extent = swap->allocate(bytes.size());
    swap->write(extent, all_of(bytes)).wait();
    const Ticket in_flight = swap->write(extent, all_of(bytes));
    if (write(ready[1], "r", 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(folder_.empty());
  close(ready[0]);
  close(ready[1]);
}

/// The n-th byte of what any engine reads from the disk is another one.
class DamagingEngine final : public IoEngine {
 public:
  explicit DamagingEngine(uint64_t at) : at_(at) {}
  const char* name() const override { return "damaging"; }
  void start(std::span<IoRequest* const> requests) override {
    for (IoRequest* request : requests) {
      const auto offset = static_cast<off_t>(request->offset);
      if (request->kind == IoRequest::Kind::kWrite) {
        finish_attempt(request, pwrite(request->fd, request->data, request->nbytes, offset));
        continue;
      }
      const ssize_t moved = pread(request->fd, request->data, request->nbytes, offset);
      if (request->offset <= at_ && at_ < request->offset + request->nbytes) {
        request->data[at_ - request->offset] ^= std::byte{16};
      }
      finish_attempt(request, moved);
    }
  }

 private:
  uint64_t at_;
};

TEST(SwapFile, ADamagedPageIsNamed) {
  const ScratchFolder folder;
  const auto engine = std::make_shared<DamagingEngine>(7 * kPage + 1000);
  const auto swap = SwapFile::create({folder.path(), 1 << 20, engine});
  swap->allocate(4 * kPage);
  const auto extent = swap->allocate(8 * kPage);
  const AlignedBuffer bytes = pages_of(8 * kPage, 5);
  swap->write(extent, all_of(bytes)).wait();
  const Ticket ticket = swap->read(extent, all_of(bytes));
  const auto wait = [&] { ticket.wait(); };
  EXPECT_THAT(wait, ThrowsError(ErrorCode::kUnavailable, "page 3 of extent [16384, 49152)"));
  EXPECT_THAT(wait, ThrowsError(ErrorCode::kUnavailable, folder.path()));
  EXPECT_THAT(wait, ThrowsError(ErrorCode::kUnavailable, "checksum"));
  swap->read(extent, {bytes.data(), 3 * kPage}).wait();
}

TEST(SwapFile, AFailedWriteIsNotReadAsIfItHadWorked) {
  const ScratchFolder folder;
  const auto engine = std::make_shared<FaultyEngine>([](int64_t attempt, size_t nbytes) {
    return attempt == 1 ? -EIO : static_cast<int64_t>(nbytes);
  });
  const auto swap = SwapFile::create({folder.path(), 1 << 20, engine});
  const auto extent = swap->allocate(kPage);
  swap->write(extent, all_of(pages_of(kPage, 1))).wait();
  const AlignedBuffer second = pages_of(kPage, 2);
  { const Ticket nobody_asks = swap->write(extent, all_of(second)); }
  const Ticket ticket = swap->read(extent, all_of(second));
  EXPECT_THAT([&] { ticket.wait(); }, ThrowsError(ErrorCode::kUnavailable, "checksum"));
}

TEST(SwapFile, AFileSizeLimitIsAFullDisk) {
  const ScratchFolder folder;
  const auto swap = SwapFile::create({folder.path(), 1 << 30, nullptr});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_action = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto too_much = [&] { swap->allocate(2 << 20); };
  EXPECT_THAT(too_much, ThrowsError(ErrorCode::kResourceExhausted, "File too large"));
  EXPECT_THAT(too_much,
              ThrowsError(ErrorCode::kResourceExhausted, "cannot grow from 0 to 2097152"));
  EXPECT_EQ(swap->allocate(1 << 20).offset, 0u);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, old_action);
  EXPECT_EQ(swap->stats().held, 1 << 20);
}

TEST(SwapFile, AFullDiskIsNamed) {
  const ScratchFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "mounting a small file system needs root: " << std::strerror(errno);
  }
  {
    const auto swap = SwapFile::create({folder.path(), 1 << 30, nullptr});
    const auto too_much = [&] { swap->allocate(2 << 20); };
    EXPECT_THAT(too_much, ThrowsError(ErrorCode::kResourceExhausted, "No space left on device"));
    EXPECT_THAT(too_much, ThrowsError(ErrorCode::kResourceExhausted, folder.path()));
    const auto extent = swap->allocate(512 << 10);
    const AlignedBuffer bytes = pages_of(512 << 10, 3);
    swap->write(extent, all_of(bytes)).wait();
    swap->read(extent, all_of(bytes)).wait();
    EXPECT_EQ(bytes.data()[0], std::byte{3});
    const auto file = AsyncFile::create(folder.file("x"));
    const AlignedBuffer more = pages_of(1 << 20, 4);
    const Ticket ticket = file->write(0, all_of(more));
    EXPECT_THAT([&] { ticket.wait(); },
                ThrowsError(ErrorCode::kResourceExhausted, "No space left on device"));
  }
  umount(folder.path().c_str());
}

}  // namespace
}  // namespace phi::memory
