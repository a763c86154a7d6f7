// Mapped files: what they give, and that a file cut short under a mapping is an error and no
// signal.
#include "phi/common/process/mapped_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "phi/common/errors.h"
#include "support/error_matchers.h"

namespace phi {
namespace {

namespace fs = std::filesystem;
using Access = MappedFile::AccessPattern;

class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("mapped_file_test." + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  static std::string bytes(const MappedFile& file, size_t offset, size_t count) {
    std::string out(count, ' ');
    file.read(offset, std::as_writable_bytes(std::span(out)));
    return out;
  }

  fs::path folder_;
};

TEST_F(MappedFileTest, GivesBytes) {
  const auto file = MappedFile::open(write("a", "0123456789"), Access::kRandom);
  EXPECT_EQ(file->size(), 10u);
  EXPECT_EQ(bytes(*file, 3, 4), "3456");
  EXPECT_EQ(bytes(*file, 10, 0), "");
  EXPECT_THAT([&] { bytes(*file, 7, 4); }, ThrowsError(ErrorCode::kOutOfRange, "bytes [7, 11)"));
  EXPECT_THAT([&] { bytes(*file, ~size_t{0}, 2); }, ThrowsError(ErrorCode::kOutOfRange, "bytes ["));
}

// Of more bytes than a process has addresses.
TEST_F(MappedFileTest, WithoutRoomForItsAddressesItSaysHowToHaveMore) {
  const int file = memfd_create("large", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, off_t{1} << 58), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  EXPECT_THAT([&] { MappedFile::open(path, Access::kRandom); },
              ThrowsError(ErrorCode::kResourceExhausted,
                          "'" + path +
                              "' cannot be read: there is no more memory. Raise the memory limit "
                              "of the process (ulimit -v"));
  close(file);
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  const auto file = MappedFile::open(write("empty", ""), Access::kReadAhead);
  EXPECT_EQ(file->size(), 0u);
  EXPECT_EQ(bytes(*file, 0, 0), "");
}

TEST_F(MappedFileTest, WhatCannotBeOpenedIsNamed) {
  EXPECT_THAT([&] { MappedFile::open((folder_ / "no").string(), Access::kRandom); },
              ThrowsError(ErrorCode::kNotFound, "there is no file '" + (folder_ / "no").string()));
  EXPECT_THAT([&] { MappedFile::open(folder_.string(), Access::kRandom); },
              ThrowsError(ErrorCode::kInvalidArgument, "is not a regular file"));
  EXPECT_THAT([&] { MappedFile::open("/dev/zero", Access::kRandom); },
              ThrowsError(ErrorCode::kInvalidArgument, "'/dev/zero' is not a regular file"));
}

TEST_F(MappedFileTest, AFileCutToWholePagesIsAnErrorAndNoSignal) {
  const auto path = write("a", std::string(3 << 16, 'x'));
  const auto file = MappedFile::open(path, Access::kRandom);
  EXPECT_EQ(bytes(*file, 2 << 16, 2), "xx");
  fs::resize_file(path, 1 << 16);
  for (int again = 0; again < 3; ++again) {  // the signal may not stay blocked
    EXPECT_THAT([&] { bytes(*file, (2 << 16) + 5, 100); },
                ThrowsError(ErrorCode::kUnavailable, "has become shorter than 131177 bytes"));
  }
  EXPECT_EQ(bytes(*file, 7, 3), "xxx");
}

TEST_F(MappedFileTest, AFileCutWithinAPageIsAnError) {
  const auto path = write("a", "0123456789");
  const auto file = MappedFile::open(path, Access::kRandom);
  fs::resize_file(path, 3);
  EXPECT_EQ(bytes(*file, 0, 3), "012");
  EXPECT_THAT([&] { bytes(*file, 0, 10); },
              ThrowsError(ErrorCode::kUnavailable, "shorter than 10 bytes: it has 3."));
}

TEST_F(MappedFileTest, AReplacedFileKeepsItsOldBytes) {
  const auto path = write("a", "0123456789");
  const auto file = MappedFile::open(path, Access::kRandom);
  fs::rename(write("b", "B"), path);
  EXPECT_EQ(bytes(*file, 0, 10), "0123456789");
  fs::remove(path);
  EXPECT_EQ(bytes(*file, 8, 2), "89");
}

TEST_F(MappedFileTest, EveryThreadGetsItsOwnError) {
  const auto good = MappedFile::open(write("good", std::string(1 << 16, 'g')), Access::kRandom);
  const auto path = write("bad", std::string(1 << 16, 'b'));
  const auto bad = MappedFile::open(path, Access::kRandom);
  fs::resize_file(path, 0);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        if (t % 2 == 0) {
          EXPECT_EQ(bytes(*good, 100, 2), "gg");
        } else {
          EXPECT_THAT([&] { bytes(*bad, 100, 2); }, ThrowsError(ErrorCode::kUnavailable, path));
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

// Touches a page that a file no longer has, outside any access.
void touch_beyond_the_end(const std::string& path) {
  FILE* file = fopen(path.c_str(), "rb");
  void* data = mmap(nullptr, 1 << 16, PROT_READ, MAP_SHARED, fileno(file), 0);
  fs::resize_file(path, 0);
  _exit(*static_cast<volatile char*>(data));
}

TEST_F(MappedFileTest, ASignalFromElsewhereIsAsBefore) {
  const auto path = write("a", std::string(1 << 16, 'x'));
  const auto ours = MappedFile::open(path, Access::kRandom);
  // AddressSanitizer has a handler that reports and exits with 1.
  const auto died = [](int status) { return WIFSIGNALED(status) || WEXITSTATUS(status) == 1; };
  EXPECT_EXIT(touch_beyond_the_end(path), died, "");
}

TEST_F(MappedFileTest, AHandlerThatWasThereBeforeIsCalled) {
  const auto path = write("a", std::string(1 << 16, 'x'));
  const auto handled = [&] {
    signal(SIGBUS, [](int) { _exit(42); });
    const auto ours = MappedFile::open(path, Access::kRandom);
    touch_beyond_the_end(path);
  };
  EXPECT_EXIT(handled(), ::testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace phi
