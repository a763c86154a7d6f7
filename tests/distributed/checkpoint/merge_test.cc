// Whole tensors of sharded saves, in one file and in several.
#include "distributed/checkpoint/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/format/safetensors.h"
#include "distributed/checkpoint/verify.h"
#include "distributed/checkpoint/view.h"
#include "support/error_matchers.h"
#include "support/rank_launcher.h"
#include "temporary_folder.h"
#include "tensor_files.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

constexpr int64_t kRows = 12;

// [kRows,5] in rows over the ranks, which hold their index.
void save_on_ranks(int64_t ranks, const std::string& folder) {
  testing::on_ranks(ranks, [&](World& world) {
    const auto* attr = TensorDistAttr::get(ProcessMesh({ranks}), {Shard(0)});
    const Dims whole{kRows, 5};
    const Box box = local_box(whole, *attr, {static_cast<int32_t>(world.rank())});
    std::vector<float> values(static_cast<size_t>(box.numel()));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(box.offset[0] * 5 + static_cast<int64_t>(i));
    }
    const auto local = DenseTensor::from(std::span<const float>(values), box.size);
    save(folder,
         std::vector<NamedTensor>{{"w", DistTensor({whole, DataType::FLOAT32}, attr, local)}});
  });
}

TEST(Merge, TensorsOfAShardedSaveAreWholeInOneFile) {
  const TemporaryFolder folder;
  const TemporaryFolder out;
  save_on_ranks(4, folder.path());
  ASSERT_EQ(files_in(folder.path()).size(), 5u);
  const std::string path = (out / "whole.safetensors").string();
  for (int i = 0; i < 2; ++i) merge(open(folder.path()), path);  // the second in place of the first
  EXPECT_THAT(files_in(out.path()), ElementsAre("whole.safetensors"));
  EXPECT_THAT(unequal(open(folder.path()), open(path)), ElementsAre());
  const auto values = read<float>(open(path), "w");
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(i));
  EXPECT_EQ(SafetensorsFile::open(path)->header().metadata.at("format"), "pt");
}

TEST(Merge, AFolderHasAsManyFilesAsItTakes) {
  const TemporaryFolder folder;
  save(folder.path(), std::vector{random_bits("a", {Dims{5}, DataType::FLOAT32}, 1),
                                  random_bits("b", {Dims{5}, DataType::FLOAT16}, 2),
                                  random_bits("c", {Dims{100}, DataType::FLOAT32}, 3),
                                  random_bits("d", {Dims{}, DataType::INT64}, 4),
                                  random_bits("e", {Dims{0, 3}, DataType::FLOAT32}, 5)});
  const Checkpoint from = open(folder.path());
  const TemporaryFolder out;
  merge_to_folder(from, (out / "one").string(), 438);
  EXPECT_THAT(files_in(out / "one"), ElementsAre(kSingleFile));
  EXPECT_THAT(unequal(from, open((out / "one").string())), ElementsAre());

  merge_to_folder(from, (out / "cut").string(), 30);
  EXPECT_THAT(files_in(out / "cut"),
              ElementsAre("model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                          "model-00003-of-00003.safetensors", kIndexFile));
  EXPECT_THAT(unequal(from, open((out / "cut").string())), ElementsAre());
  const Json index = JsonFile::open((out / "cut" / kIndexFile).string()).root();
  EXPECT_EQ(index["metadata"]["total_size"], 438);
  EXPECT_EQ(index["weight_map"]["c"], "model-00002-of-00003.safetensors");
  EXPECT_EQ(index["weight_map"]["e"], "model-00003-of-00003.safetensors");
}

// Larger than what is in memory at a time, and in another order than in the file.
TEST(Merge, LargeTensorsArePutTogetherPartByPart) {
  const TemporaryFolder folder;
  save(folder.path(), std::vector{random_bits("w", {Dims{2'500, 2'000}, DataType::FLOAT32}, 1)});
  const Checkpoint turned =
      view(open(folder.path()), {{.name = "w", .source = "w", .transposed = true}});
  const std::string path = (folder / "turned.safetensors").string();
  merge(turned, path);
  const Checkpoint back = view(open(path), {{.name = "w", .source = "w", .transposed = true}});
  EXPECT_THAT(unequal(open(folder.path()), back), ElementsAre());
}

TEST(Merge, NothingIsLeftOfOneThatFails) {
  const TemporaryFolder folder;
  const TemporaryFolder out;
  save(folder.path(), std::vector{random_bits("w", {Dims{50'000}, DataType::FLOAT32}, 1)});
  const Checkpoint from = open(folder.path());
  fs::resize_file(folder / kSingleFile, 1'000);
  EXPECT_THAT([&] { merge(from, (out / "x.safetensors").string()); },
              ThrowsError(ErrorCode::kInvalidArgument, kSingleFile));
  EXPECT_THAT([&] { merge_to_folder(from, out.path()); },
              ThrowsError(ErrorCode::kInvalidArgument, kSingleFile));
  EXPECT_THAT(files_in(out.path()), ElementsAre());
}

TEST(Merge, WeightsThatAreThereAreNotMixedWithOthers) {
  const TemporaryFolder folder;
  save(folder.path(), std::vector{named<float>("w", {1}, {1})});
  const Checkpoint from = open(folder.path());
  EXPECT_THAT(
      [&] { merge_to_folder(from, folder.path()); },
      ThrowsError(ErrorCode::kAlreadyExists, "the folder '" + folder.path() + "' has weights"));
  EXPECT_THAT([&] { merge_to_folder(from, folder.path() + "/new", 0); },
              ThrowsError(ErrorCode::kInvalidArgument, "the largest file size is 0 bytes"));
  EXPECT_THAT([&] { merge(from, folder.path() + "/nowhere/x.safetensors"); },
              ThrowsError(ErrorCode::kUnavailable, "nowhere/x.safetensors"));
}

TEST(CopyToFolder, HasChecksumsAndMetadata) {
  const TemporaryFolder folder;
  const TemporaryFolder out;
  save(folder.path(),
       std::vector{random_bits("a", {Dims{500'000}, DataType::FLOAT32}, 1),
                   random_bits("b", {Dims{3}, DataType::FLOAT16}, 2)},
       {.metadata = {{"step", "7"}, {"job", "first"}}});
  const std::string file = (out / "whole.safetensors").string();
  merge(open(folder.path()), file);
  EXPECT_EQ(open(file).metadata().at("step"), "7");
  for (const int64_t max_bytes : {int64_t{1'000}, kMaxFileBytes}) {
    const std::string copy = (out / std::to_string(max_bytes)).string();
    copy_to_folder(open(file), copy, {{"job", "second"}}, max_bytes);
    EXPECT_THAT(unequal(open(folder.path()), open(copy)), ElementsAre());
    EXPECT_EQ(open(copy).metadata(),
              (std::map<std::string, std::string>{{"step", "7"}, {"job", "second"}}));
    EXPECT_EQ(files_in(copy).size(), max_bytes == 1'000 ? 3u : 2u);
    const Verification found = verify(copy);
    EXPECT_THAT(found.faults, ElementsAre());
    EXPECT_THAT(found.unprotected, ElementsAre());
    EXPECT_EQ(found.bytes, 2'000'006);
    EXPECT_THAT([&] { copy_to_folder(open(file), copy); },
                ThrowsError(ErrorCode::kAlreadyExists, "has weights"));
  }
}

}  // namespace
}  // namespace phi::distributed::checkpoint
