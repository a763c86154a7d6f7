// Checkpoints of one process: what open finds, what check says, conversions, crashes.
#include "distributed/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/format/safetensors.h"
#include "distributed/checkpoint/merge.h"
#include "distributed/checkpoint/storage/folder_files.h"
#include "distributed/checkpoint/storage/folder_lock.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "phi/common/errors.h"
#include "support/error_matchers.h"
#include "temporary_folder.h"
#include "tensor_files.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

std::string save_id(const TemporaryFolder& folder) {
  std::ifstream in(folder / kIndexFile);
  return nlohmann::json::parse(in)["metadata"]["save"];
}

TEST(Checkpoint, OneProcessWritesOneFileUnderTheTensorsOwnNames) {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> tensors = {named<float>("w", {1, 2, 3, 4, 5, 6}, {2, 3}),
                                            named<int64_t>("step", {7}, {})};
  save(folder.path(), tensors);
  EXPECT_THAT(files_in(folder.path()), ElementsAre(kSingleFile, kIndexFile));
  for (const std::string& path : {folder.path(), (folder / kSingleFile).string()}) {
    const Checkpoint checkpoint = open(path);
    EXPECT_THAT(checkpoint.names(), ElementsAre("step", "w"));
    EXPECT_EQ(checkpoint.meta("w"), (TensorMeta{Dims{2, 3}, DataType::FLOAT32}));
    EXPECT_THAT(read<float>(checkpoint, "w"), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(read<int64_t>(checkpoint, "step"), ElementsAre(7));
    EXPECT_EQ(checkpoint.bytes_read(), 24 + 8);
  }
}

TEST(Checkpoint, AHuggingFaceIndexIsRead) {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  save(folder.path(), std::vector{named<float>("a", {1, 2}, {2})});
  save(other.path(), std::vector{named<float>("b", {3}, {1})});
  fs::rename(folder / kSingleFile, folder / "one.safetensors");
  fs::rename(other / kSingleFile, folder / "two.safetensors");
  folder.write(kIndexFile, R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  const Checkpoint checkpoint = open(folder.path());
  EXPECT_THAT(checkpoint.names(), ElementsAre("a", "b"));
  EXPECT_THAT(read<float>(checkpoint, "b"), ElementsAre(3));
  folder.write(kIndexFile, R"({"weight_map": {"c": "one.safetensors"}})");
  EXPECT_THAT([&] { open(folder.path()); },
              ThrowsError(ErrorCode::kInvalidArgument, "one.safetensors' has no tensor 'c'"));
}

TEST(Checkpoint, WhatIsNotThereIsNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT([&] { open(folder.path()); },
              ThrowsError(ErrorCode::kNotFound, "there is no checkpoint in '" + folder.path()));
  EXPECT_THAT(
      [&] { open(folder.path() + "/nowhere"); },
      ThrowsError(ErrorCode::kNotFound, "there is no file '" + folder.path() + "/nowhere'"));
  save(folder.path(), std::vector{named<float>("layer.0.weight", {1}, {1})});
  EXPECT_THAT([&] { open(folder.path()).source("layer.0.wieght"); },
              ThrowsError(ErrorCode::kNotFound,
                          "has no tensor 'layer.0.wieght', did you mean 'layer.0.weight'?"));
  fs::remove(folder / kSingleFile);
  const Checkpoint checkpoint = open(folder.path());
  EXPECT_THAT(
      [&] { read<float>(checkpoint, "layer.0.weight"); },
      ThrowsError(ErrorCode::kNotFound, "there is no file '" + (folder / kSingleFile).string()));
}

TEST(Checkpoint, CheckListsAllThatDoesNotFit) {
  const TemporaryFolder folder;
  save(folder.path(),
       std::vector{named<float>("layers.0.up", {1, 2}, {2}), named<float>("bias", {1, 2}, {2}),
                   named<int64_t>("count", {1}, {1}), named<float>("fine", {1}, {1})});
  const Checkpoint checkpoint = open(folder.path());
  const std::vector<ExpectedTensor> wanted = {{"layers.0.upp", {Dims{2}, DataType::FLOAT32}},
                                              {"bias", {Dims{3}, DataType::FLOAT32}},
                                              {"count", {Dims{1}, DataType::FLOAT32}},
                                              {"fine", {Dims{1}, DataType::BFLOAT16}},
                                              {"quite_else", {Dims{1}, DataType::FLOAT32}}};
  const std::string expected = "the checkpoint '" + folder.path() +
                               "' does not fit:"
                               "\n  'layers.0.upp' f32[2] is missing, did you mean 'layers.0.up'?"
                               "\n  'bias' should be f32[3], and is f32[2]"
                               "\n  'count' should be f32[1], and is i64[1]"
                               "\n  'quite_else' f32[1] is missing";
  const auto message = [&](Checkpoint::Extras extras) {
    try {
      checkpoint.check(wanted, extras);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(Checkpoint::Extras::kRefused),
            expected + "\n  'layers.0.up' f32[2] is not expected");
  EXPECT_EQ(message(Checkpoint::Extras::kAllowed), expected);
  checkpoint.check(std::vector<ExpectedTensor>{wanted[3]}, Checkpoint::Extras::kAllowed);
}

TEST(Checkpoint, OnlyTheFirstMissingNamesComeWithTheNearest) {
  const TemporaryFolder folder;
  std::vector<NamedTensor> saved;
  std::vector<ExpectedTensor> wanted;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "block" + std::to_string(i) + ".weight";
    saved.push_back(named<float>(name, {1}, {1}));
    wanted.push_back({name + "s", {Dims{1}, DataType::FLOAT32}});
  }
  save(folder.path(), saved);
  EXPECT_THAT([&] { open(folder.path()).check(wanted, Checkpoint::Extras::kAllowed); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "'block31.weights' f32[1] is missing, did you mean 'block31.weight'?\n"
                          "  'block32.weights' f32[1] is missing\n"
                          "  'block33.weights' f32[1] is missing\n"));
}

TEST(Checkpoint, FloatingPointTypesConvert) {
  const TemporaryFolder folder;
  // Larger than one chunk of the conversion, with a part read from the middle.
  std::vector<float> values(150'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i)) * 100;
  save(folder.path(), std::vector{named<float>("w", values, {300, 500})});
  const Checkpoint checkpoint = open(folder.path());
  const auto narrow = read<bfloat16>(checkpoint, "w");
  const auto half = read<float16>(checkpoint, "w");
  const auto wide = read<double>(checkpoint, "w");
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(narrow[i].bits, bfloat16(values[i]).bits) << i;
    ASSERT_EQ(half[i].bits, float16(values[i]).bits) << i;
    ASSERT_EQ(wide[i], values[i]) << i;
  }
  const Box middle{{10, 20}, {280, 400}};
  const auto part = read<bfloat16>(checkpoint, "w", middle);
  for (size_t i = 0; i < part.size(); ++i) {
    ASSERT_EQ(part[i].bits, narrow[(i / 400 + 10) * 500 + i % 400 + 20].bits) << i;
  }
  save(folder.path(), std::vector{named<bfloat16>("w", narrow, {300, 500})});
  const auto back = read<float>(open(folder.path()), "w");
  for (size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], static_cast<float>(narrow[i])) << i;
  EXPECT_THAT([&] { checkpoint.source("w", DataType::INT64); },
              ThrowsError(ErrorCode::kInvalidArgument, "'w' is f32[300,500] in"));
}

TEST(Checkpoint, ATargetOfTheWrongSizeIsRefused) {
  const TemporaryFolder folder;
  save(folder.path(), std::vector{named<float>("w", {1, 2}, {2})});
  DenseTensor out = DenseTensor::empty({Dims{3}, DataType::FLOAT32}, CPUPlace());
  EXPECT_THAT(
      [&] { open(folder.path()).source("w")->read(Box::whole({2}), &out); },
      ThrowsError(ErrorCode::kInvalidArgument, "tensor 'w' f32[2] cannot be read into f32[3]"));
}

TEST(Checkpoint, WhatTheIndexSaysMustBeInTheFile) {
  const TemporaryFolder folder;
  save(folder.path(), std::vector{named<float>("w", {1, 2}, {2})});
  const std::string id = save_id(folder);
  const auto index_of = [&](const IndexedTensor& indexed) {
    folder.write(kIndexFile, Index{id, {indexed}}.encode());
    return open(folder.path());
  };
  const TensorMeta longer{Dims{3}, DataType::FLOAT32};
  EXPECT_THAT(
      [&] {
        read<float>(index_of({"w", longer, {{kSingleFile, "w", Box::whole({3})}}}), "w");
      },
      ThrowsError(ErrorCode::kInvalidArgument, "tensor 'w' is f32[2], but f32[3] in the index"));
  EXPECT_THAT(
      [&] {
        read<float>(index_of({"w", longer, {{kSingleFile, "v", Box::whole({3})}}}), "w");
      },
      ThrowsError(ErrorCode::kInvalidArgument, "has no tensor 'v', which the index lists"));
}

TEST(Checkpoint, ASaveTakesThePlaceOfTheOneBefore) {
  const TemporaryFolder folder;
  save(folder.path(), std::vector{named<float>("w", {0}, {1})});
  fs::rename(folder / kSingleFile, folder / "model-00001-of-00002.safetensors");
  fs::remove(folder / kIndexFile);  // of an older world, whose index is gone
  folder.write("model-00002-of-00002.safetensors.0123456789abcdef.part", "of a job that died");
  folder.write("model.safetensors.index.json.0123456789abcdef.part", "of a job that died");
  folder.write("model-00002-of-00002.safetensors.receipt.0123456789abcdef.part", "the same");
  folder.write("model.safetensors.backup", "the user's own");
  folder.write("model-1-of-2.safetensors", "the user's own");
  save(folder.path(), std::vector{named<float>("w", {1}, {1})});
  save(folder.path(), std::vector{named<float>("w", {2}, {1})});
  EXPECT_THAT(read<float>(open(folder.path()), "w"), ElementsAre(2));
  EXPECT_THAT(files_in(folder.path()), ElementsAre("model-1-of-2.safetensors", kSingleFile,
                                                   "model.safetensors.backup", kIndexFile));
}

// What lies in the folder at each point where a save may be cut off.
TEST(Checkpoint, ASaveThatIsCutOffLeavesTheOldOrTheNewOne) {
  const TemporaryFolder folder;
  const TemporaryFolder later;
  save(folder.path(), std::vector{named<float>("w", {1}, {1})});
  save(later.path(), std::vector{named<float>("w", {2}, {1})});
  const std::string part = part_path((folder / kSingleFile).string(), save_id(later));
  fs::copy(later / kSingleFile, part);
  EXPECT_THAT(read<float>(open(folder.path()), "w"), ElementsAre(1)) << "before the index";
  fs::copy(later / kIndexFile, folder / kIndexFile, fs::copy_options::overwrite_existing);
  EXPECT_THAT(read<float>(open(folder.path()), "w"), ElementsAre(2)) << "after the index";
  fs::remove(part);
  const Checkpoint torn = open(folder.path());
  EXPECT_THAT([&] { read<float>(torn, "w"); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "model.safetensors' does not belong to the save that"));
  fs::rename(later / kSingleFile, folder / kSingleFile);
  EXPECT_THAT(read<float>(torn, "w"), ElementsAre(2)) << "when all files have their names";
}

TEST(Checkpoint, ADiskThatTakesNoMoreLeavesTheOldOne) {
  const TemporaryFolder folder;
  save(folder.path(), std::vector{named<float>("w", {1}, {1})});
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{10'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::vector<float> many(10'000, 2.0f);
  EXPECT_THAT([&] { save(folder.path(), std::vector{named<float>("w", many, {10'000})}); },
              ThrowsError(ErrorCode::kUnavailable, "cannot be written: File too large"));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(files_in(folder.path()), ElementsAre(kSingleFile, kIndexFile));
  EXPECT_THAT(read<float>(open(folder.path()), "w"), ElementsAre(1));
}

TEST(Save, WhatCannotBeSavedIsNamed) {
  const TemporaryFolder folder;
  const NamedTensor w = named<float>("w", {1}, {1});
  NamedTensor partial = w;
  partial.tensor = DistTensor(w.tensor.meta(), TensorDistAttr::get(ProcessMesh({1}), {Partial()}),
                              w.tensor.local());
  NamedTensor elsewhere = w;
  elsewhere.tensor = DistTensor::clipped(
      w.tensor.meta(), TensorDistAttr::replicated(ProcessMesh({1}, {}, {3})), CPUPlace(), nullptr);
  struct Case {
    std::vector<NamedTensor> tensors;
    const char* message;
  };
  const std::vector<Case> cases = {
      {{partial},
       "[save] tensor 'w' is a partial value, f32[1] [P(sum)] on mesh(d0=1); reshard it"},
      {{w, w}, "two tensors are named 'w'"},
      {{{"", w.tensor}}, "a tensor has no name"},
      {{{"u", {}}}, "tensor 'u' is undefined"},
      {{{"__metadata__", w.tensor}}, "would be named '__metadata__'"},
      {{elsewhere}, "is placed on ranks that this job of 1 lacks"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT([&] { save(folder.path(), c.tensors); },
                ThrowsError(ErrorCode::kInvalidArgument, c.message));
  }
  EXPECT_TRUE(files_in(folder.path()).empty());
  const auto file = folder.write("file", "");
  EXPECT_THAT(
      [&] { save(file + "/below", std::vector{w}); },
      ThrowsError(ErrorCode::kUnavailable, "the folder '" + file + "/below' cannot be created"));
}

TEST(Save, FilesOfOthersAreNeverTouched) {
  const NamedTensor w = named<float>("w", {1}, {1});
  const TemporaryFolder theirs;
  save(theirs.path(), std::vector{w});
  const std::string whole = (theirs / "whole.safetensors").string();
  merge(open(theirs.path()), whole);
  const std::string weight_map = R"({"weight_map": {"w": "one.safetensors"}})";
  for (const std::string file :
       {"model.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"}) {
    const TemporaryFolder folder;
    const bool is_index = file == kIndexFile;
    if (is_index) folder.write("one.safetensors", "");
    folder.write(file, is_index ? weight_map : read_text(whole));
    const auto before = files_in(folder.path());
    for (const auto& attempt : std::vector<std::function<void()>>{
             [&] { save(folder.path(), std::vector{w}); },
             [&] { check_folder(folder.path(), 1); },
         }) {
      EXPECT_THAT(attempt, ThrowsError(ErrorCode::kAlreadyExists, (folder / file).string()));
      EXPECT_EQ(files_in(folder.path()), before);
      EXPECT_EQ(read_text((folder / file).string()), is_index ? weight_map : read_text(whole));
    }
  }
  const TemporaryFolder damaged;
  damaged.write(kIndexFile, "{");
  EXPECT_THAT([&] { save(damaged.path(), std::vector{w}); },
              ThrowsError(ErrorCode::kInvalidArgument, kIndexFile));
}

TEST(CheckFolder, TellsBeforehandWhatASaveWouldFind) {
  const TemporaryFolder folder;
  const std::string inner = (folder / "a/b").string();
  check_folder(inner, 1'000);
  EXPECT_TRUE(files_in(inner).empty());
  EXPECT_THAT([&] { check_folder(inner, int64_t{1} << 60); },
              ThrowsError(ErrorCode::kResourceExhausted,
                          "a save needs 1048576 TiB in '" + inner + "', which has "));
  EXPECT_THAT([&] { check_folder("/proc/1", 1); }, ThrowsError(ErrorCode::kUnavailable, "/proc/1"));
  const std::string file = folder.write("file", "");
  EXPECT_THAT([&] { check_folder(file, 1); }, ThrowsError(ErrorCode::kUnavailable, file));
  const FolderLock lock(inner);
  EXPECT_THAT([&] { check_folder(inner, 1); }, ThrowsError(ErrorCode::kAlreadyExists, "process "));
}

TEST(Save, MetadataComeBack) {
  const TemporaryFolder folder;
  const std::map<std::string, std::string> metadata = {{"step", "7"}, {"job", "naïve: \"x\"\n"}};
  save(folder.path(), std::vector{named<float>("w", {1}, {1})}, {.metadata = metadata});
  EXPECT_EQ(open(folder.path()).metadata(), metadata);
  save(folder.path(), std::vector{named<float>("w", {1}, {1})});
  EXPECT_TRUE(open(folder.path()).metadata().empty());
}

TEST(Save, MetadataThatCannotBeKeptAreRefused) {
  const TemporaryFolder folder;
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"save", "7", "the metadata key 'save' is reserved"},
      {"total_size", "7", "the metadata key 'total_size' is reserved"},
      {"x", "\xff", "the metadata entry 'x' is not UTF-8"}};
  for (const auto& [key, text, message] : cases) {
    EXPECT_THAT(
        [&] {
          save(folder.path(), std::vector{named<float>("w", {1}, {1})},
               {.metadata = {{key, text}}});
        },
        ThrowsError(ErrorCode::kInvalidArgument, message));
  }
  EXPECT_TRUE(files_in(folder.path()).empty());
}

TEST(Load, FillsTensorsInTheirOwnDtype) {
  const TemporaryFolder folder;
  save(folder.path(),
       std::vector{named<float>("w", {1.5f, 2}, {2}), named<int32_t>("n", {3}, {1})});
  std::vector<NamedTensor> into = {named<bfloat16>("w", {0, 0}, {2}),
                                   named<int32_t>("n", {0}, {1})};
  load(open(folder.path()), into);
  EXPECT_EQ(static_cast<float>(into[0].tensor.local().values<bfloat16>()[0]), 1.5f);
  EXPECT_EQ(into[1].tensor.local().values<int32_t>()[0], 3);
  into.pop_back();
  EXPECT_THAT([&] { load(open(folder.path()), into); },
              ThrowsError(ErrorCode::kInvalidArgument, "'n' i32[1] is not expected"));
  load(open(folder.path()), into, Checkpoint::Extras::kAllowed);
}

}  // namespace
}  // namespace phi::distributed::checkpoint
