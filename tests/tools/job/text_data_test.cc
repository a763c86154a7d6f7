// Text: which files are taken, and that batches are the same however they are split.
#include "tools/job/text_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "phi/common/errors.h"
#include "support/error_matchers.h"

namespace fs = std::filesystem;

namespace phi::job {
namespace {

class TextDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("text_data_test." + std::to_string(getpid()));
    write("src/b.txt", "0123456789");
    write("src/a.txt", "abcdefghij");
    write("src/deep/c.txt", "ABCDEFGHIJ");
    write("src/.hidden", "hidden");
    write("src/.git/config", "hidden");
    write("src/build/made.txt", "made");
    write("src/binary", std::string("x\0y", 3));
    write("src/empty", "");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  TextData open(const std::string& name) const { return TextData::open({path(name)}, ""); }

  static std::string bytes(const TextData& text, int64_t offset, size_t count) {
    std::string out(count, ' ');
    text.read(offset, {reinterpret_cast<uint8_t*>(out.data()), count});
    return out;
  }

  fs::path folder_;
};

TEST_F(TextDataTest, AFolderGivesItsTextFilesInOrder) {
  const TextData text = open("src");
  EXPECT_EQ(text.num_files(), 3u);
  EXPECT_EQ(bytes(text, 0, 30), "abcdefghij0123456789ABCDEFGHIJ");
}

TEST_F(TextDataTest, PathsAreTakenInTheOrderGivenAndAgainstTheBase) {
  const TextData text = TextData::open({"b.txt", "a.txt"}, path("src"));
  EXPECT_EQ(bytes(text, 0, 20), "0123456789abcdefghij");
}

TEST_F(TextDataTest, WindowsMayCrossFiles) {
  const TextData text = open("src");
  EXPECT_EQ(bytes(text, 8, 4), "ij01");
  EXPECT_EQ(bytes(text, 9, 12), "j0123456789A");
  EXPECT_EQ(bytes(text, 30, 0), "");
  EXPECT_THAT([&] { bytes(text, 25, 6); },
              ThrowsError(ErrorCode::kOutOfRange, "bytes [25, 31) of a text of 30"));
}

TEST_F(TextDataTest, AMissingPathIsNamed) {
  try {
    TextData::open({"nowhere"}, "/base");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("no file or folder 'nowhere', neither in '"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("nor in '/base'."));
  }
  EXPECT_THAT([&] { open("src/empty"); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "no text in the given paths (first: '" + path("src/empty") + "')"));
}

TEST_F(TextDataTest, AFileCutShortIsAnError) {
  const TextData text = open("src");
  write("src/a.txt", "abc");
  EXPECT_THAT([&] { bytes(text, 0, 10); }, ThrowsError(ErrorCode::kUnavailable, "a.txt"));
}

TEST_F(TextDataTest, AFileCutShortWhileMappedIsAnErrorAndNoSignal) {
  write("large.txt", std::string(1 << 18, 'x'));
  const TextData text = open("large.txt");
  EXPECT_EQ(bytes(text, 200'000, 3), "xxx");
  fs::resize_file(path("large.txt"), 1000);
  EXPECT_THAT([&] { bytes(text, 200'000, 3); },
              ThrowsError(ErrorCode::kUnavailable, "large.txt' has become shorter than 200003"));
}

TEST_F(TextDataTest, LabelsFollowIdsByOne) {
  const TextData text = open("src");
  const Draw draw{1, 0, 5, 7};
  const Tensor ids = text.ids(draw);
  const Tensor labels = text.labels(draw);
  EXPECT_EQ(ids.shape(), (Dims{5, 7}));
  EXPECT_EQ(labels.shape(), (Dims{5, 7, 1}));
  const auto in = ids.values<int64_t>();
  const auto out = labels.values<int64_t>();
  for (int64_t row = 0; row < 5; ++row) {
    for (int64_t i = 0; i + 1 < 7; ++i) EXPECT_EQ(out[row * 7 + i], in[row * 7 + i + 1]);
  }
}

TEST_F(TextDataTest, BatchesDependOnSeedAndNumberAlone) {
  const TextData text = open("src");
  const auto values = [](const Tensor& x) {
    const auto span = x.values<int64_t>();
    return std::vector<int64_t>(span.begin(), span.end());
  };
  const auto all = values(text.ids({1, 0, 6, 4}));
  const auto second = values(text.ids({1, 3, 3, 4}));
  EXPECT_EQ(second, std::vector<int64_t>(all.begin() + 12, all.end()));
  EXPECT_NE(all, values(text.ids({2, 0, 6, 4})));
  EXPECT_EQ(all, values(open("src").ids({1, 0, 6, 4})));
}

TEST_F(TextDataTest, AnyPartCanBeReadAlone) {
  const TextData text = open("src");
  const Tensor ids = text.ids({1, 0, 4, 6});
  ASSERT_FALSE(ids.initialized());
  DenseTensor part = DenseTensor::empty({{2, 3}, DataType::INT64}, CPUPlace());
  ids.dense().storage()->source()->read({{1, 2}, {2, 3}}, &part);
  const auto whole = ids.values<int64_t>();
  for (int64_t r = 0; r < 2; ++r) {
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_EQ(part.values<int64_t>()[r * 3 + c], whole[(r + 1) * 6 + c + 2]);
    }
  }
}

TEST_F(TextDataTest, WindowsStayInsideTheText) {
  const TextData text = open("src");
  const Draw tight{3, 0, 50, 29};
  for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(text.offset_of(tight, i), 0);
  EXPECT_THAT(
      [&] {
        text.ids({3, 0, 1, 30});
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "30 bytes of text are too few for windows of 30 + 1"));
}

TEST_F(TextDataTest, TheFingerprintSeesChanges) {
  const uint64_t before = open("src").fingerprint();
  EXPECT_EQ(before, open("src").fingerprint());
  write("src/d.txt", "more");
  EXPECT_NE(before, open("src").fingerprint());
}

}  // namespace
}  // namespace phi::job
