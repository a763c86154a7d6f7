// Which changes of a file a sampled hash sees, and what it reads.
#include "phi/common/sampled_hash.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/error_matchers.h"

namespace phi {
namespace {

class SampledHash : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string file(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }
  uint64_t sampled(const std::string& bytes, int64_t pages) const {
    return sampled_hash(file(bytes), pages);
  }

 private:
  const std::string path_ = ::testing::TempDir() + "/sampled_hash_test";
};

TEST_F(SampledHash, AChangedByteOfASmallFileIsSeen) {
  const std::string text(3 * kSampledPageBytes + 7, 'a');
  const uint64_t before = sampled(text, 4);
  EXPECT_EQ(sampled(text, 4), before);
  for (size_t at = 0; at < text.size(); at += 97) {
    std::string changed = text;
    changed[at] = 'b';
    EXPECT_NE(sampled(changed, 4), before) << "byte " << at;
    EXPECT_NE(whole_hash(file(changed)), whole_hash(file(text))) << "byte " << at;
  }
}

TEST_F(SampledHash, SizesBeginsAndEndsOfALargeFileAreSeen) {
  const std::string text(1000 * kSampledPageBytes + 9, 'a');
  const uint64_t before = sampled(text, 8);
  std::string begin = text, end = text;
  begin.front() = end.back() = 'b';
  EXPECT_NE(sampled(begin, 8), before);
  EXPECT_NE(sampled(end, 8), before);
  EXPECT_NE(sampled(text + "a", 8), before);
  EXPECT_NE(sampled(text.substr(1), 8), before);
}

TEST_F(SampledHash, ARangeThatHoldsAnEighthIsSeen) {
  const std::string text(1000 * kSampledPageBytes, 'a');
  const uint64_t before = sampled(text, 18);  // 16 ranges of 62 pages between first and last
  for (int64_t page = 1; page + 125 < 1000; page += 50) {
    std::string changed = text;
    const auto begin = changed.begin() + page * kSampledPageBytes;
    std::fill(begin, begin + 125 * kSampledPageBytes, 'b');
    EXPECT_NE(sampled(changed, 18), before) << "pages from " << page;
  }
}

TEST_F(SampledHash, EmptyFilesAndZerosDiffer) {
  EXPECT_NE(sampled("", 4), sampled(std::string(1, '\0'), 4));
  EXPECT_NE(sampled(std::string(8, '\0'), 4), sampled(std::string(16, '\0'), 4));
}

TEST_F(SampledHash, NamesAndOrderOfFilesAreSeen) {
  const std::string one = file("one");
  const std::string other = one + "2";
  std::ofstream(other) << "other";
  const auto of = [](std::vector<std::string> paths) { return sampled_hash_of(paths); };
  EXPECT_EQ(of({one, other}), of({one, other}));
  EXPECT_NE(of({one, other}), of({other, one}));
  EXPECT_NE(of({one}), of({one, one}));
  const uint64_t before = of({other});
  const std::string renamed = one + "3";
  std::filesystem::rename(other, renamed);
  EXPECT_NE(of({renamed}), before);
  std::filesystem::remove(renamed);
}

TEST_F(SampledHash, WhatIsNoFileIsAnError) {
  EXPECT_THAT([] { sampled_hash("/nonexistent", 4); },
              ThrowsError(ErrorCode::kNotFound, "/nonexistent"));
  EXPECT_THAT([] { sampled_hash("/dev/zero", 4); },
              ThrowsError(ErrorCode::kInvalidArgument, "not a regular file"));
}

}  // namespace
}  // namespace phi
