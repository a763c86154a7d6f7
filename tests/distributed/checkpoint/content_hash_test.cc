// Which files of a folder the hash is of.
#include "distributed/checkpoint/content_hash.h"

#include <gtest/gtest.h>

#include "support/error_matchers.h"
#include "temporary_folder.h"

namespace phi::distributed::checkpoint {
namespace {

TEST(ContentHash, SeesWhatIsLoadedAndNothingElse) {
  const TemporaryFolder folder;
  folder.write("model.safetensors", "weights");
  folder.write("model.json", "{}");
  const uint64_t before = content_hash(folder.path());
  EXPECT_EQ(content_hash(folder.path()), before);
  folder.write("notes.txt", "of somebody");
  folder.write("model.safetensors.5f0c.part", "half");
  std::filesystem::create_directory(folder / "sub.json");
  EXPECT_EQ(content_hash(folder.path()), before);
  folder.write("model.safetensors", "weightS");
  const uint64_t after = content_hash(folder.path());
  EXPECT_NE(after, before);
  folder.write("model.json", "{ }");
  EXPECT_NE(content_hash(folder.path()), after);
}

TEST(ContentHash, OfOneFileIsOfThatFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("a.safetensors", "weights");
  const uint64_t before = content_hash(file);
  folder.write("b.safetensors", "others");
  EXPECT_EQ(content_hash(file), before);
}

TEST(ContentHash, WhatIsNotThereIsAnError) {
  EXPECT_THAT([] { content_hash("/nonexistent"); },
              ThrowsError(ErrorCode::kNotFound, "/nonexistent"));
}

}  // namespace
}  // namespace phi::distributed::checkpoint
