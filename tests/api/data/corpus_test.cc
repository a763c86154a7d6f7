// Corpus: which files are taken, and reading over their ends.
#include "api/data/corpus.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "support/error_matchers.h"
#include "tests/api/data/data_files.h"

namespace fs = std::filesystem;

namespace phi::data {
namespace {

class CorpusTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("src/b.txt", "0123456789");
    folder_.write("src/a.txt", "abcdefghij");
    folder_.write("src/deep/c.txt", "ABCDEFGHIJ");
    folder_.write("src/.hidden", "hidden");
    folder_.write("src/.git/config", "hidden");
    folder_.write("src/build/made.txt", "made");
    folder_.write("src/binary", std::string("x\0y", 3));
    folder_.write("src/empty", "");
  }
  std::shared_ptr<const Corpus> open(const std::string& name) const {
    return Corpus::open({folder_.file(name)}, "");
  }
  static std::string bytes(const Corpus& corpus, int64_t offset, size_t count) {
    std::string out(count, ' ');
    corpus.read(offset, {reinterpret_cast<uint8_t*>(out.data()), count});
    return out;
  }

  const DataFolder folder_;
};

TEST_F(CorpusTest, AFolderGivesItsTextFilesInOrder) {
  const auto corpus = open("src");
  EXPECT_EQ(corpus->files().size(), 3u);
  EXPECT_EQ(bytes(*corpus, 0, 30), "abcdefghij0123456789ABCDEFGHIJ");
}

TEST_F(CorpusTest, PathsAreTakenInTheOrderGivenAndAgainstTheBase) {
  const auto corpus = Corpus::open({"b.txt", "a.txt"}, folder_.file("src"));
  EXPECT_EQ(bytes(*corpus, 0, 20), "0123456789abcdefghij");
}

TEST_F(CorpusTest, FilesThatAreNamedAreTakenWhateverIsInThem) {
  const auto corpus = Corpus::join({folder_.file("src/binary"), folder_.file("src/.hidden")});
  EXPECT_EQ(bytes(*corpus, 0, 9), std::string("x\0yhidden", 9));
  EXPECT_EQ(corpus->file_at(2).path, folder_.file("src/binary"));
  EXPECT_EQ(corpus->file_at(3).path, folder_.file("src/.hidden"));
  EXPECT_THAT(
      [&] {
        Corpus::join({folder_.file("src/a.txt"), folder_.file("src/empty")});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "src/empty' is empty."));
  EXPECT_THAT([&] { Corpus::join({folder_.file("gone")}); },
              ThrowsError(ErrorCode::kNotFound, "gone': No such file"));
}

TEST_F(CorpusTest, ReadingGoesOverFileEnds) {
  const auto corpus = open("src");
  EXPECT_EQ(bytes(*corpus, 8, 4), "ij01");
  EXPECT_EQ(bytes(*corpus, 9, 12), "j0123456789A");
  EXPECT_EQ(bytes(*corpus, 30, 0), "");
  EXPECT_THAT([&] { bytes(*corpus, 25, 6); },
              ThrowsError(ErrorCode::kOutOfRange, "bytes [25, 31) of a text of 30"));
}

TEST_F(CorpusTest, AMissingPathIsNamed) {
  try {
    Corpus::open({"nowhere"}, "/base");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("no file or folder 'nowhere', neither in '"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("nor in '/base'."));
  }
  EXPECT_THAT([&] { open("src/empty"); },
              ThrowsError(ErrorCode::kInvalidArgument, "no text in the given paths (first: '" +
                                                           folder_.file("src/empty") + "')"));
}

// Lets this process open so many files more.
class FewFiles {
 public:
  explicit FewFiles(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &kept_);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    const rlimit few{static_cast<rlim_t>(next) + more, kept_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &kept_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit kept_{};
};

TEST_F(CorpusTest, AFolderThatCannotBeReadWholeIsAnError) {
  EXPECT_THAT(
      [&] {
        const FewFiles none(0);
        open("src");
      },
      ThrowsError(ErrorCode::kNotFound, "src': Too many open files"));
  EXPECT_THAT(
      [&] {
        const FewFiles the_folder(1);
        open("src");
      },
      ThrowsError(ErrorCode::kNotFound, "': Too many open files"));
}

TEST_F(CorpusTest, AFileCutShortIsAnError) {
  const auto corpus = open("src");
  folder_.write("src/a.txt", "abc");
  EXPECT_THAT([&] { bytes(*corpus, 0, 10); }, ThrowsError(ErrorCode::kUnavailable, "a.txt"));
}

TEST_F(CorpusTest, AFileCutShortWhileMappedIsAnErrorAndNoSignal) {
  folder_.write("large.txt", std::string(1 << 18, 'x'));
  const auto corpus = open("large.txt");
  EXPECT_EQ(bytes(*corpus, 200'000, 3), "xxx");
  fs::resize_file(folder_.file("large.txt"), 1000);
  EXPECT_THAT(
      [&] { bytes(*corpus, 200'000, 3); },
      ThrowsError(ErrorCode::kUnavailable, "large.txt' has become shorter than 200003 bytes"));
}

}  // namespace
}  // namespace phi::data
