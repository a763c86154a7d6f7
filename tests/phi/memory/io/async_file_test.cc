// One suite on every engine, direct and through the page cache; then faults, one by one.
#include "phi/memory/io/async_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <random>
#include <vector>

#include "tests/phi/memory/io/faulty_engine.h"
#include "tests/phi/memory/scratch_folder.h"
#include "tests/support/error_matchers.h"

namespace phi::memory {
namespace {

AlignedBuffer random_pages(size_t nbytes, unsigned seed) {
  AlignedBuffer out(nbytes);
  std::mt19937 engine(seed);
  for (size_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<std::byte>(engine());
  return out;
}

std::span<std::byte> all_of(const AlignedBuffer& buffer) { return {buffer.data(), buffer.size()}; }

bool equal(const AlignedBuffer& a, const AlignedBuffer& b) {
  return std::ranges::equal(all_of(a), all_of(b));
}

struct Way {
  IoEngineKind kind;
  bool direct;
};

class AsyncFileTest : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam().kind == IoEngineKind::kUring && !make_uring_engine()) {
      GTEST_SKIP() << "no io_uring in this build or kernel";
    }
  }
  static AsyncFile::Options options() {
    return {make_io_engine(GetParam().kind), GetParam().direct};
  }
  ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Engines, AsyncFileTest,
                         ::testing::Values(Way{IoEngineKind::kUring, true},
                                           Way{IoEngineKind::kUring, false},
                                           Way{IoEngineKind::kThreadPool, true},
                                           Way{IoEngineKind::kThreadPool, false}));

TEST_P(AsyncFileTest, ReadsWhatWasWritten) {
  const auto file = AsyncFile::create(folder_.file("x"), 0, options());
  for (const size_t nbytes : {kPage, 3 * kPage, size_t{5} << 20}) {
    const AlignedBuffer bytes = random_pages(nbytes, 1), out(nbytes);
    file->write(2 * kPage, all_of(bytes)).wait();
    file->read(2 * kPage, all_of(out)).wait();
    EXPECT_TRUE(equal(bytes, out)) << nbytes;
  }
  EXPECT_EQ(file->size(), 2 * kPage + (5 << 20));
}

TEST_P(AsyncFileTest, ManyRequestsMayBeInFlight) {
  constexpr size_t kCount = 600;  // more than a ring holds
  const auto file = AsyncFile::create(folder_.file("x"), kCount * kPage, options());
  const AlignedBuffer bytes = random_pages(kCount * kPage, 2), out(kCount * kPage);
  std::vector<Ticket> tickets;
  for (size_t i = 0; i < kCount; ++i) {
    const size_t at = i * 7 % kCount * kPage;
    tickets.push_back(file->write(at, {bytes.data() + at, kPage}));
  }
  for (const Ticket& ticket : tickets) ticket.wait();
  std::vector<FilePiece> pieces;
  for (size_t i = 0; i < kCount; ++i) {
    const size_t at = i * 11 % kCount * kPage;
    pieces.push_back({at, {out.data() + at, kPage}});
  }
  const Ticket reads = file->read(pieces);
  reads.wait();
  EXPECT_TRUE(reads.done());
  EXPECT_TRUE(equal(bytes, out));
}

TEST_P(AsyncFileTest, AFileNeedNotEndOnAPage) {
  const std::string text(kPage + 100, 'a');
  std::ofstream(folder_.file("x")) << text;
  AlignedBuffer out(2 * kPage);
  {
    const auto file = AsyncFile::open(folder_.file("x"), options());
    EXPECT_EQ(file->size(), text.size());
    file->read(0, all_of(out)).wait();
    EXPECT_EQ(std::string(reinterpret_cast<char*>(out.data()), text.size()), text);
    out.data()[kPage + 99] = std::byte{'b'};
    file->write(kPage, {out.data() + kPage, kPage}).wait();
  }
  EXPECT_EQ(std::filesystem::file_size(folder_.file("x")), text.size());
  EXPECT_EQ(std::ifstream(folder_.file("x")).seekg(kPage + 99).get(), 'b');
}

TEST_P(AsyncFileTest, AFileCutShortIsAnError) {
  const auto file = AsyncFile::create(folder_.file("x"), 4 * kPage, options());
  std::filesystem::resize_file(folder_.file("x"), 2 * kPage);
  AlignedBuffer out(4 * kPage);
  const Ticket ticket = file->read(0, all_of(out));
  const auto wait = [&] { ticket.wait(); };
  EXPECT_THAT(wait, ThrowsError(ErrorCode::kUnavailable, "ended after 8192 bytes"));
  EXPECT_THAT(wait, ThrowsError(ErrorCode::kUnavailable, folder_.file("x")));
}

TEST_P(AsyncFileTest, ADroppedTicketWaits) {
  const auto file = AsyncFile::create(folder_.file("x"), 0, options());
  const AlignedBuffer bytes = random_pages(1 << 20, 3);
  AlignedBuffer out(1 << 20);
  { const Ticket dropped = file->write(0, all_of(bytes)); }
  {
    Ticket reused = file->read(0, all_of(out));
    reused = Ticket();
    EXPECT_TRUE(reused.done());
  }
  EXPECT_TRUE(equal(bytes, out));
}

TEST_P(AsyncFileTest, UnalignedRequestsAreRefused) {
  const auto file = AsyncFile::create(folder_.file("x"), 4 * kPage, options());
  AlignedBuffer out(2 * kPage);
  const auto unaligned = ThrowsError(ErrorCode::kInvalidArgument, "multiples of 4096");
  EXPECT_THAT([&] { file->read(512, {out.data(), kPage}); }, unaligned);
  EXPECT_THAT([&] { file->read(0, {out.data(), 512}); }, unaligned);
  EXPECT_THAT([&] { file->write(0, std::span<std::byte>(out.data() + 8, kPage)); }, unaligned);
  EXPECT_THAT([&] { file->read(3 * kPage, all_of(out)); },
              ThrowsError(ErrorCode::kOutOfRange, "which has 16384"));
}

TEST_P(AsyncFileTest, ATemporaryFileHasNoName) {
  const auto file = AsyncFile::create_temporary(folder_.path(), options());
  const AlignedBuffer bytes = random_pages(kPage, 4), out(kPage);
  file->write(0, all_of(bytes)).wait();
  EXPECT_TRUE(folder_.empty());
  file->read(0, all_of(out)).wait();
  EXPECT_TRUE(equal(bytes, out));
}

TEST(AsyncFile, WhatCannotBeOpenedIsNamed) {
  const ScratchFolder folder;
  EXPECT_THAT([&] { AsyncFile::open(folder.file("none")); },
              ThrowsError(ErrorCode::kNotFound, folder.file("none")));
  EXPECT_THAT([&] { AsyncFile::create_temporary(folder.file("none"), {}); },
              ThrowsError(ErrorCode::kNotFound, folder.file("none")));
  EXPECT_THAT([&] { AsyncFile::open(folder.path()); },
              ThrowsError(ErrorCode::kInvalidArgument, "is a folder"));
  EXPECT_THAT([&] { AsyncFile::open(folder.file(std::string(300, 'n').c_str())); },
              ThrowsError(ErrorCode::kUnavailable, "cannot be opened: File name too long"));
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT([&] { AsyncFile::open(folder.file("pipe")); },
              ThrowsError(ErrorCode::kInvalidArgument, "not a regular file"));
  std::ofstream(folder.file("x")) << "abc";
  const auto file = AsyncFile::open_read_only(folder.file("x"), {});
  const AlignedBuffer page(kPage);
  EXPECT_THAT([&] { file->write(0, all_of(page)); },
              ThrowsError(ErrorCode::kPermissionDenied, "reading only"));
}

TEST(AsyncFile, PartialTransfersAreContinued) {
  const ScratchFolder folder;
  const auto engine = std::make_shared<FaultyEngine>([](int64_t, size_t nbytes) {
    return static_cast<int64_t>(std::max(kPage, nbytes / 3 / kPage * kPage));
  });
  const auto file = AsyncFile::create(folder.file("x"), 0, {engine});
  const AlignedBuffer bytes = random_pages(64 * kPage, 5), out(64 * kPage);
  file->write(0, all_of(bytes)).wait();
  file->read(0, all_of(out)).wait();
  EXPECT_TRUE(equal(bytes, out));
  EXPECT_GT(engine->attempts(), 10);
}

TEST(AsyncFile, InterruptedAttemptsAreRepeated) {
  const ScratchFolder folder;
  const auto engine = std::make_shared<FaultyEngine>([](int64_t attempt, size_t nbytes) {
    return attempt % 3 == 0 ? -EINTR : static_cast<int64_t>(nbytes);
  });
  const auto file = AsyncFile::create(folder.file("x"), 0, {engine});
  const AlignedBuffer bytes = random_pages(kPage, 6), out(kPage);
  file->write(0, all_of(bytes)).wait();
  file->read(0, all_of(out)).wait();
  EXPECT_TRUE(equal(bytes, out));
}

struct FaultCase {
  int64_t result;
  ErrorCode code;
  const char* text;
};

TEST(AsyncFile, FaultsSurfaceAtWaitWithFileRangeAndRemedy) {
  const ScratchFolder folder;
  const AlignedBuffer bytes = random_pages(4 * kPage, 7);
  for (const FaultCase& fault :
       {FaultCase{-ENOSPC, ErrorCode::kResourceExhausted,
                  "No space left on device (errno 28); free"},
        FaultCase{-EDQUOT, ErrorCode::kResourceExhausted, "Disk quota exceeded"},
        FaultCase{-EFBIG, ErrorCode::kResourceExhausted, "ulimit -f"},
        FaultCase{-EIO, ErrorCode::kUnavailable, "Input/output error (errno 5); the disk fails"},
        FaultCase{0, ErrorCode::kUnavailable, "the disk accepts no more data"},
        FaultCase{-EINTR, ErrorCode::kUnavailable, "Interrupted"}}) {
    const auto engine = std::make_shared<FaultyEngine>(
        [&](int64_t attempt, size_t) { return attempt == 0 ? int64_t{kPage} : fault.result; });
    const auto file = AsyncFile::create(folder.file("x"), 0, {engine});
    const Ticket ticket = file->write(kPage, all_of(bytes));
    EXPECT_TRUE(ticket.done());
    const auto wait = [&] { ticket.wait(); };
    EXPECT_THAT(wait, ThrowsError(fault.code, fault.text));
    EXPECT_THAT(wait,
                ThrowsError(fault.code, "writing bytes [4096, 20480) of '" + folder.file("x")));
    EXPECT_THAT(wait, ThrowsError(fault.code, "after 4096 bytes"));
  }
}

TEST(AsyncFile, OneFaultAmongManyRequestsIsFound) {
  const ScratchFolder folder;
  constexpr size_t kBytes = size_t{10} << 20;
  const auto engine = std::make_shared<FaultyEngine>(
      [](int64_t attempt, size_t nbytes) { return attempt == 6 ? -EIO : int64_t(nbytes); });
  const auto file = AsyncFile::create(folder.file("x"), kBytes, {engine});
  AlignedBuffer out(kBytes);
  const Ticket ticket = file->read(0, all_of(out));
  EXPECT_THAT([&] { ticket.wait(); },
              ThrowsError(ErrorCode::kUnavailable, "reading bytes [6291456, 7340032)"));
}

TEST(IoEngine, TheEnvironmentChooses) {
  ASSERT_EQ(setenv("AUTOPHI_IO_ENGINE", "thread_pool", 1), 0);
  EXPECT_STREQ(make_io_engine()->name(), "thread_pool");
  ASSERT_EQ(setenv("AUTOPHI_IO_ENGINE", "tape", 1), 0);
  EXPECT_THAT([] { make_io_engine(); }, ThrowsError(ErrorCode::kInvalidArgument, "'tape'"));
  ASSERT_EQ(unsetenv("AUTOPHI_IO_ENGINE"), 0);
  const bool uring = make_uring_engine() != nullptr;
  EXPECT_STREQ(make_io_engine()->name(), uring ? "io_uring" : "thread_pool");
}

TEST(IoEngine, TheThreadPoolStandsInWhereTheKernelRefuses) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};  // a ring is a file
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_STREQ(make_io_engine()->name(), "thread_pool");
  EXPECT_THAT([] { make_io_engine(IoEngineKind::kUring); },
              ThrowsError(ErrorCode::kUnavailable, "use thread_pool"));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace phi::memory
