// The weights command: what it makes, and its errors.
#include "tools/weights_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "api/nn/huggingface/folder.h"
#include "api/nn/huggingface/random_weights.h"
#include "support/run_command.h"
#include "tools/cli/command_line.h"

namespace phi {
namespace {

using distributed::checkpoint::files_in;
using distributed::checkpoint::TemporaryFolder;
using distributed::checkpoint::unequal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kData = AUTOPHI_SOURCE_DIR "/tests/api/nn/huggingface/data/";

testing::Printed run(std::vector<std::string> words) {
  words.insert(words.begin(), "weights");
  return testing::run_command(weights_command, std::move(words));
}

TEST(WeightsCommand, ConvertsThereAndBack) {
  const TemporaryFolder out;
  const std::string ours = (out / "ours").string();
  const std::string back = (out / "back").string();
  const testing::Printed there = run({"convert", kData + "mistral", ours});
  EXPECT_EQ(there.status, 0);
  EXPECT_EQ(there.out, "weights written to " + ours + " (autophi)\n");
  EXPECT_THAT(files_in(ours),
              ElementsAre("model.json", "model.safetensors", "model.safetensors.index.json"));
  run({"convert", ours, back, "--architecture=MistralForCausalLM", "--max_file=30KB"});
  EXPECT_THAT(files_in(back),
              ElementsAre("config.json", "model-00001-of-00002.safetensors",
                          "model-00002-of-00002.safetensors", "model.safetensors.index.json"));
  EXPECT_THAT(unequal(distributed::checkpoint::open(kData + "mistral"),
                      distributed::checkpoint::open(back)),
              IsEmpty());
}

TEST(WeightsCommand, TheModelMayBeAJobs) {
  const TemporaryFolder own;
  const TemporaryFolder out;
  const nn::models::LlamaConfig model{.vocab = 256,
                                      .seq_len = 20,
                                      .d_model = 16,
                                      .layers = 1,
                                      .heads = 4,
                                      .kv_heads = 2,
                                      .ffn = 24,
                                      .norm_eps = 1e-6};
  nn::huggingface::random_weights(own, {nn::huggingface::Architecture::kLlama, model},
                                  DataType::FLOAT32);
  const auto convert = [&](const std::string& model) {
    const std::string job = out.write("job.yaml", "model: {kind: llama, vocab: 256" + model + "}");
    return run({"convert", own.path(), (out / "new").string(), "--job=" + job});
  };
  const testing::Printed nothing = run({"convert", own.path(), (out / "new").string()});
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.err,
              StartsWith("autophi weights: the folder '" + own.path() + "' has no model.json"));
  const testing::Printed other = convert(", d_model: 24, heads: 2");
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("'token_embedding' should be f32[256,24], and is f32[256,16]"));
  const testing::Printed right = convert(
      ", seq_len: 20, layers: 1, d_model: 16, heads: 4, kv_heads: 2, ffn: 24, norm_eps: 1e-6");
  EXPECT_EQ(right.status, 0) << right.err;
  EXPECT_EQ(nn::huggingface::open((out / "new").string()).config.model,
            nn::models::ModelConfig(model));
}

TEST(WeightsCommand, NotesGoToTheErrorOutput) {
  const TemporaryFolder out;
  const testing::Printed r = run({"convert", kData + "gpt2", (out / "ours").string()});
  EXPECT_THAT(r.err, HasSubstr("autophi weights: " + kData + "gpt2: 'embd_pdrop' 0.1 and"));
}

TEST(WeightsCommand, MergesIntoOneFile) {
  const TemporaryFolder out;
  const std::string file = (out / "whole.safetensors").string();
  const testing::Printed r = run({"merge", kData + "qwen2", file});
  EXPECT_EQ(r.out, "tensors written to " + file + "\n");
  EXPECT_THAT(
      unequal(distributed::checkpoint::open(kData + "qwen2"), distributed::checkpoint::open(file)),
      IsEmpty());
}

TEST(WeightsCommand, HelpNamesBoth) {
  const testing::Printed r = run({"--help"});
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("autophi weights convert SRC DST"));
  EXPECT_THAT(r.out, HasSubstr("autophi weights merge SRC OUT.safetensors"));
}

TEST(WeightsCommand, ErrorsSayWhatToWrite) {
  const struct {
    std::vector<std::string> words;
    const char* message;
  } rows[] = {
      {{}, "autophi weights: pass convert or merge; see autophi weights --help."},
      {{"convrt", "a", "b"},
       "autophi weights: 'convrt' is neither convert nor merge, did you mean 'convert'?"},
      {{"convert", "a"}, "autophi weights: convert expects two names, SRC and DST; got 1."},
      {{"merge"}, "autophi weights: merge expects two names, SRC and OUT.safetensors; got 0."},
      {{"merge", "a", "b"}, "'b' must be one file; name it like whole.safetensors."},
      {{"merge", "a", "b.safetensors", "--to=autophi"}, "--to requires autophi weights convert."},
      {{"convert", "a", "b", "--to=hugingface"},
       "--to=hugingface must be autophi or huggingface, did you mean 'huggingface'?"},
      {{"convert", "a", "b", "--architecture=Llama"},
       "--architecture=Llama cannot be written: the architecture 'Llama' is not one of GPT2LM"},
      {{"convert", "a", "b", "--to=autophi", "--architecture=LlamaForCausalLM"},
       "--architecture requires --to=huggingface."},
      {{"convert", "a", "b", "--max_file=big"}, "--max_file=big is no size, e.g. 5GB"},
      {{"convert", "a", "b", "--max_file=0"}, "--max_file=0 is no size"},
      {{"convert", "a", "b", "--dtype=float32"}, "unknown flag --dtype"},
  };
  for (const auto& row : rows) {
    const testing::Printed r = run(row.words);
    EXPECT_EQ(r.status, cli::kUsageStatus) << row.message;
    EXPECT_THAT(r.err, HasSubstr(row.message));
    EXPECT_EQ(r.out, "");
  }
}

}  // namespace
}  // namespace phi
