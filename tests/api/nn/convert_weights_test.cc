// Either kind of folder: opened for a model, and made of the other.
#include "api/nn/convert_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/nn/huggingface/folder.h"
#include "api/nn/huggingface/random_weights.h"
#include "api/tensor/checkpoint.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "support/error_matchers.h"

namespace phi::nn {
namespace {

namespace fs = std::filesystem;
using distributed::checkpoint::Checkpoint;
using distributed::checkpoint::TemporaryFolder;
using distributed::checkpoint::unequal;
using huggingface::Config;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kData = AUTOPHI_SOURCE_DIR "/tests/api/nn/huggingface/data/";

models::LlamaConfig recorded_llama() {
  return {.vocab = 64,
          .seq_len = 24,
          .d_model = 32,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .ffn = 48,
          .rope_base = 500,
          .norm_eps = 1e-4};
}

TEST(Weights, EitherKindOpensUnderOurNames) {
  const TemporaryFolder own;
  convert_weights(kData + "llama", (own / "new").string(), {.to = FolderKind::kAutophi});
  EXPECT_EQ(kind_of_folder(kData + "llama"), FolderKind::kHuggingFace);
  EXPECT_EQ(kind_of_folder((own / "new").string()), FolderKind::kAutophi);
  const Checkpoint theirs = open_weights(kData + "llama", recorded_llama());
  const Checkpoint ours = open_weights((own / "new").string(), recorded_llama());
  EXPECT_THAT(unequal(theirs, ours), IsEmpty());
  EXPECT_TRUE(ours.contains("layer1.down.weight"));
}

TEST(Weights, EachRankReadsItsPartOfTheFilesAlone) {
  distributed::run_ranks(2, [&](distributed::World& world) {
    const Checkpoint weights = open_weights(kData + "llama", recorded_llama());
    const Tensor whole = distributed::checkpoint::deferred(weights, "layer0.query.weight");
    const Tensor part =
        distributed::shard_tensor(whole, distributed::ProcessMesh({2}), {distributed::Shard(1)});
    EXPECT_EQ(weights.bytes_read(), 32 * 32 * 2 / 2);
    const Box own{{0, 16 * world.rank()}, {32, 16}};
    const auto expected =
        distributed::checkpoint::read<bfloat16>(weights, "layer0.query.weight", own);
    const auto found = part.values<bfloat16>();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(found[i].bits, expected[i].bits);
  });
}

TEST(Weights, OfAnotherModelAreRefusedKeyByKey) {
  const TemporaryFolder own;
  const std::string ours = (own / "new").string();
  convert_weights(kData + "llama", ours, {.to = FolderKind::kAutophi});
  models::LlamaConfig model = recorded_llama();
  model.kv_heads = 4;
  model.rope_base = 10000;
  for (const std::string& path : {kData + "llama/config.json", ours + "/model.json"}) {
    const std::string folder = fs::path(path).parent_path().string();
    EXPECT_THAT(
        [&] { open_weights(folder, model); },
        ThrowsError(ErrorCode::kInvalidArgument,
                    "the weights in '" + folder + "' belong to another model:" +
                        "\n  'kv_heads' of the model is 4; in '" + path + "' it is 2" +
                        "\n  'rope_base' of the model is 10000.0; in '" + path + "' it is 500.0"));
  }
  EXPECT_THAT([&] { open_weights(kData + "llama", models::GptConfig()); },
              ThrowsError(ErrorCode::kInvalidArgument, "the model is a gpt;"));
}

TEST(Weights, AFolderOfOursWithoutAConfigIsOpenedAsItIs) {
  const TemporaryFolder own;
  const Config config = huggingface::small_models()[2];
  const Checkpoint weights = huggingface::random_weights(own, config, DataType::FLOAT32);
  EXPECT_THAT(unequal(open_weights(own.path(), models::GptConfig()), weights), IsEmpty());
}

TEST(Weights, GoToTheOtherKindAndBackBitForBit) {
  for (const Config& config : huggingface::small_models()) {
    const TemporaryFolder own;
    const TemporaryFolder out;
    const Checkpoint weights = huggingface::random_weights(own, config, DataType::BFLOAT16);
    const std::string theirs = (out / "theirs").string();
    const std::string back = (out / "back").string();
    convert_weights(own.path(), theirs,
                    {.to = FolderKind::kHuggingFace,
                     .model = config.model,
                     .architecture = config.architecture,
                     .max_file_bytes = 2'000});
    EXPECT_EQ(huggingface::open(theirs).config.architecture, config.architecture);
    convert_weights(theirs, back, {.to = FolderKind::kAutophi, .max_file_bytes = 3'000});
    EXPECT_THAT(unequal(weights, distributed::checkpoint::open(back)), IsEmpty());
    EXPECT_EQ(models::load_config(back), config.model);
  }
}

TEST(Weights, AreAlsoCopiedToTheSameKind) {
  const TemporaryFolder out;
  const std::string copy = (out / "copy").string();
  convert_weights(kData + "qwen2", copy, {.to = FolderKind::kHuggingFace});
  EXPECT_THAT(distributed::checkpoint::files_in(copy),
              ElementsAre("config.json", "model.safetensors"));
  EXPECT_THAT(
      unequal(distributed::checkpoint::open(kData + "qwen2"), distributed::checkpoint::open(copy)),
      IsEmpty());
}

TEST(Weights, NotesComeBackFromAConversion) {
  const TemporaryFolder out;
  const auto notes =
      convert_weights(kData + "gpt2", (out / "new").string(), {.to = FolderKind::kAutophi});
  EXPECT_THAT(notes, ElementsAre(::testing::HasSubstr("'attn_pdrop' 0.1")));
}

TEST(Weights, TheModelOfAFolderOfOursMustBeKnown) {
  const TemporaryFolder own;
  const TemporaryFolder out;
  const Config config = huggingface::small_models()[2];
  huggingface::random_weights(own, config, DataType::FLOAT32);
  const std::string to = (out / "new").string();
  EXPECT_THAT([&] { convert_weights(own.path(), to, {.to = FolderKind::kHuggingFace}); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "the folder '" + own.path() + "' has no model.json"));
  models::save_config(own.path(), config.model);
  convert_weights(own.path(), to, {.to = FolderKind::kHuggingFace});
  EXPECT_EQ(huggingface::open(to).config.model, config.model);
  EXPECT_THAT(
      [&] {
        convert_weights(own.path(), to,
                        {.to = FolderKind::kHuggingFace, .model = models::GptConfig()});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "belong to another model:"));
  EXPECT_THAT([&] { convert_weights(to, own.path(), {.to = FolderKind::kAutophi}); },
              ThrowsError(ErrorCode::kAlreadyExists, "has a model.json"));
}

}  // namespace
}  // namespace phi::nn
