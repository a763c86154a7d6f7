// Folders of Hugging Face's: every tensor there and back bit for bit, where each number lies, and
// what is said of folders that do not fit.
#include "api/nn/huggingface/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/view.h"
#include "random_weights.h"
#include "support/error_matchers.h"

namespace phi::nn::huggingface {
namespace {

namespace fs = std::filesystem;
using distributed::checkpoint::Checkpoint;
using distributed::checkpoint::Json;
using distributed::checkpoint::kIndexFile;
using distributed::checkpoint::kSingleFile;
using distributed::checkpoint::TemporaryFolder;
using distributed::checkpoint::unequal;
using distributed::checkpoint::ViewTensor;
using ::testing::IsEmpty;

const std::string kData = AUTOPHI_SOURCE_DIR "/tests/api/nn/huggingface/data/";

Checkpoint files(const fs::path& folder) { return distributed::checkpoint::open(folder.string()); }

TEST(HuggingFaceFolder, WeightsOfOursGoThereAndBackBitForBit) {
  for (DataType dtype : {DataType::FLOAT32, DataType::BFLOAT16, DataType::FLOAT16}) {
    for (int64_t max_bytes : {int64_t{1} << 30, int64_t{2'000}}) {
      for (const Config& config : small_models()) {
        const TemporaryFolder own;
        const TemporaryFolder theirs;
        const Checkpoint weights = random_weights(own, config, dtype);
        write(theirs.path(), config, weights, max_bytes);
        EXPECT_EQ(fs::exists(theirs / kIndexFile), max_bytes == 2'000);
        const Folder back = open(theirs.path());
        EXPECT_THAT(unequal(weights, back.weights), IsEmpty()) << name_of(config.architecture);
        EXPECT_EQ(back.config.architecture, config.architecture);
        EXPECT_EQ(back.config.model, config.model);
        EXPECT_EQ(back.config.dtype, dtype);
      }
    }
  }
}

TEST(HuggingFaceFolder, FoldersOfTransformersGoThereAndBackBitForBit) {
  for (const std::string name : {"gpt2", "llama", "mistral", "qwen2"}) {
    const Folder folder = open(kData + name);
    EXPECT_EQ(folder.config.dtype, DataType::BFLOAT16);
    for (int64_t max_bytes : {int64_t{1} << 30, int64_t{20'000}}) {
      const TemporaryFolder again;
      write(again.path(), folder.config, folder.weights, max_bytes);
      EXPECT_THAT(unequal(files(kData + name), files(again.path())), IsEmpty()) << name;
      const Config config = open(again.path()).config;
      EXPECT_EQ(config.architecture, folder.config.architecture);
      EXPECT_EQ(config.model, folder.config.model);
    }
  }
}

// Where each number of ours lies for them, written out.
TEST(HuggingFaceFolder, QueriesAndKeysAreTurnedInHalvesThere) {
  const TemporaryFolder own;
  const TemporaryFolder theirs;
  const Config config = small_models()[5];  // a Qwen2: with biases
  const auto& model = std::get<models::LlamaConfig>(config.model);
  const Checkpoint weights = random_weights(own, config, DataType::FLOAT16);
  write(theirs.path(), config, weights);
  const Checkpoint there = files(theirs.path());
  const int64_t d = model.d_model;
  const int64_t size = model.head_size();
  struct Case {
    const char* ours;
    const char* theirs;
    int64_t heads;
    bool is_turned;
  };
  for (const Case& c :
       {Case{"query", "q_proj", model.heads, true}, Case{"key", "k_proj", model.kv_heads, true},
        Case{"value", "v_proj", model.kv_heads, false}}) {
    const std::string our_name = std::string("layer1.") + c.ours;
    const std::string their_name = std::string("model.layers.1.self_attn.") + c.theirs;
    const auto ours = distributed::checkpoint::read<float16>(weights, our_name + ".weight");
    const auto our_bias = distributed::checkpoint::read<float16>(weights, our_name + ".bias");
    const auto out = distributed::checkpoint::read<float16>(there, their_name + ".weight");
    const auto out_bias = distributed::checkpoint::read<float16>(there, their_name + ".bias");
    const int64_t columns = c.heads * size;
    ASSERT_EQ(there.meta(their_name + ".weight").dims, (Dims{columns, d}));
    for (int64_t head = 0; head < c.heads; ++head) {
      for (int64_t i = 0; i < size; ++i) {
        // The second of pair i / 2 lies in the second half.
        const int64_t place = c.is_turned ? i / 2 + (i % 2) * size / 2 : i;
        const int64_t column = head * size + i;
        const int64_t row = head * size + place;
        EXPECT_EQ(out_bias[row].bits, our_bias[column].bits) << their_name << " " << row;
        for (int64_t k = 0; k < d; ++k) {
          ASSERT_EQ(out[row * d + k].bits, ours[k * columns + column].bits)
              << their_name << " [" << row << "," << k << "]";
        }
      }
    }
  }
}

TEST(HuggingFaceFolder, FusedColumnsAreOrderedByQKAndVThere) {
  const TemporaryFolder own;
  const TemporaryFolder theirs;
  const Config config = small_models()[0];
  const auto& model = std::get<models::GptConfig>(config.model);
  const Checkpoint weights = random_weights(own, config, DataType::FLOAT16);
  write(theirs.path(), config, weights);
  const Checkpoint there = files(theirs.path());
  const auto ours = distributed::checkpoint::read<float16>(weights, "layer1.qkv.weight");
  const auto bias = distributed::checkpoint::read<float16>(weights, "layer1.qkv.bias");
  const std::string name = "transformer.h.1.attn.c_attn";
  const auto out = distributed::checkpoint::read<float16>(there, name + ".weight");
  const auto out_bias = distributed::checkpoint::read<float16>(there, name + ".bias");
  const int64_t d = model.d_model;
  const int64_t size = model.head_size();
  for (int64_t part = 0; part < 3; ++part) {
    for (int64_t head = 0; head < model.heads; ++head) {
      for (int64_t i = 0; i < size; ++i) {
        const int64_t our_column = (head * 3 + part) * size + i;
        const int64_t column = part * d + head * size + i;
        EXPECT_EQ(out_bias[column].bits, bias[our_column].bits);
        for (int64_t k = 0; k < d; ++k) {
          ASSERT_EQ(out[k * 3 * d + column].bits, ours[k * 3 * d + our_column].bits);
        }
      }
    }
  }
  // Conv1D is not transposed; the head, a Linear, is.
  EXPECT_EQ(there.meta("transformer.h.0.mlp.c_fc.weight").dims, (Dims{24, 80}));
  EXPECT_EQ(there.meta("lm_head.weight").dims, (Dims{50, 24}));
}

TEST(HuggingFaceFolder, ABoxReadsItsBytesAlone) {
  const Folder folder = open(kData + "llama");
  EXPECT_EQ(folder.weights.bytes_read(), 0) << "opening reads headers alone";
  // This rank's heads of four, along tp 2.
  const Box half{{0, 16}, {32, 16}};
  distributed::checkpoint::bytes_of(folder.weights, "layer0.query.weight", half);
  EXPECT_EQ(folder.weights.bytes_read(), half.numel() * 2);
  distributed::checkpoint::bytes_of(folder.weights, "head", {{0, 0}, {32, 8}});
  EXPECT_EQ(folder.weights.bytes_read(), half.numel() * 2 + 32 * 8 * 2);
  const Folder gpt = open(kData + "gpt2");
  const Box first_head{{0, 0}, {32, 24}};
  distributed::checkpoint::bytes_of(gpt.weights, "layer0.qkv.weight", first_head);
  EXPECT_EQ(gpt.weights.bytes_read(), first_head.numel() * 2);
}

// A folder like one of data/, with tensors changed, and written anew.
class ChangedFolder {
 public:
  explicit ChangedFolder(const std::string& name) : from_(files(kData + name)) {
    fs::copy(kData + name + "/" + kConfigFile, folder_ / kConfigFile);
    for (const std::string& tensor : from_.names()) {
      tensors_.push_back({.name = tensor, .source = tensor});
    }
  }

  ViewTensor& operator[](const std::string& name) {
    const auto found = std::ranges::find(tensors_, name, &ViewTensor::name);
    return found != tensors_.end() ? *found : tensors_.emplace_back(ViewTensor{name, ""});
  }
  void remove(const std::string& name) {
    std::erase_if(tensors_, [&](const ViewTensor& tensor) { return tensor.name == name; });
  }
  void remove_prefix(const std::string& prefix) {
    for (ViewTensor& tensor : tensors_) {
      if (tensor.name.starts_with(prefix)) tensor.name.erase(0, prefix.size());
    }
  }
  void set(const char* key, const Json& value) {
    const std::string path = (folder_ / kConfigFile).string();
    Json json = distributed::checkpoint::JsonFile::open(path).root();
    json[key] = value;
    folder_.write(kConfigFile, json.dump());
  }
  Folder opened() const {
    if (!fs::exists(folder_ / kSingleFile)) {
      merge(distributed::checkpoint::view(from_, tensors_), (folder_ / kSingleFile).string());
    }
    return open(folder_.path());
  }

 private:
  Checkpoint from_;
  TemporaryFolder folder_;
  std::vector<ViewTensor> tensors_;
};

TEST(HuggingFaceFolder, BuffersAndPrefixesOfOlderFoldersDoNotMatter) {
  ChangedFolder gpt("gpt2");
  gpt.remove_prefix("transformer.");
  for (const char* buffer : {"h.0.attn.bias", "h.1.attn.masked_bias"}) {
    gpt[buffer].source = "transformer.wte.weight";
  }
  EXPECT_THAT(unequal(gpt.opened().weights, open(kData + "gpt2").weights), IsEmpty());
  ChangedFolder llama("llama");
  llama["model.layers.0.self_attn.rotary_emb.inv_freq"].source = "model.norm.weight";
  llama["model.rotary_emb.inv_freq"].source = "model.norm.weight";
  EXPECT_THAT(unequal(llama.opened().weights, open(kData + "llama").weights), IsEmpty());
}

TEST(HuggingFaceFolder, ATiedHeadMayBeThereIfItIsACopy) {
  ChangedFolder copy("qwen2");
  copy["lm_head.weight"].source = "model.embed_tokens.weight";
  EXPECT_FALSE(copy.opened().weights.contains("head"));
  ChangedFolder other("qwen2");
  other["lm_head.weight"] = {
      .name = "lm_head.weight", .source = "model.embed_tokens.weight", .order = {{32, 2, 1}}};
  EXPECT_THAT([&] { other.opened(); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "'tie_word_embeddings' is true, but the values of 'lm_head.weight' "
                          "differ from those of 'model.embed_tokens.weight'"));
}

TEST(HuggingFaceFolder, AnUntiedHeadMustBeThere) {
  ChangedFolder folder("qwen2");
  folder.set("tie_word_embeddings", false);
  EXPECT_THAT([&] { folder.opened(); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "does not fit:\n  'lm_head.weight' bf16[64,32] is missing"));
}

TEST(HuggingFaceFolder, AllTensorsThatDoNotFitAreListedUnderTheirNames) {
  ChangedFolder folder("llama");
  folder["model.layers.0.self_attn.q_proj.weight"].name = "model.layers.0.self_attn.q_prj.weight";
  folder["model.layers.1.mlp.up_proj.weight"].transposed = true;
  folder.remove("model.norm.weight");
  folder["model.layers.2.input_layernorm.weight"].source = "model.norm.weight";
  EXPECT_THAT(
      [&] { folder.opened(); },
      ThrowsError(
          ErrorCode::kInvalidArgument,
          "does not fit:"
          "\n  'model.layers.0.self_attn.q_proj.weight' bf16[32,32] is missing, did you "
          "mean 'model.layers.0.self_attn.q_prj.weight'?"
          "\n  'model.layers.1.mlp.up_proj.weight' should be bf16[48,32], and is bf16[32,48]"
          "\n  'model.norm.weight' bf16[32] is missing"
          "\n  'model.layers.0.self_attn.q_prj.weight' bf16[32,32] is not expected"
          "\n  'model.layers.2.input_layernorm.weight' bf16[32] is not expected"));
  ChangedFolder biased("llama");
  biased["model.layers.0.self_attn.q_proj.bias"].source = "model.norm.weight";
  EXPECT_THAT([&] { biased.opened(); },
              ThrowsError(ErrorCode::kInvalidArgument, "q_proj.bias' bf16[32] is not expected"));
}

TEST(HuggingFaceFolder, FilesThatAreMissingOrCutShortAreNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT([&] { open(folder.path()); },
              ThrowsError(ErrorCode::kNotFound, (folder / kConfigFile).string()));
  fs::copy(kData + "qwen2", folder.path(), fs::copy_options::recursive);
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_THAT(open(folder.path()).weights.names(), ::testing::Not(IsEmpty()));
  const fs::path second = folder / "model-00002-of-00002.safetensors";
  fs::resize_file(second, fs::file_size(second) - 1);
  EXPECT_THAT([&] { open(folder.path()); },
              ThrowsError(ErrorCode::kInvalidArgument, second.string()));
  fs::remove(second);
  EXPECT_THAT([&] { open(folder.path()); }, ThrowsError(ErrorCode::kNotFound, second.string()));
  folder.write(kIndexFile, "{\"weight_map\": ");
  EXPECT_THAT([&] { open(folder.path()); },
              ThrowsError(ErrorCode::kInvalidArgument, "is not valid JSON"));
  fs::remove(folder / kIndexFile);
  EXPECT_THAT([&] { open(folder.path()); },
              ThrowsError(ErrorCode::kNotFound, "there is no checkpoint in"));
  folder.write("pytorch_model.bin", "");
  EXPECT_THAT([&] { open(folder.path()); },
              ThrowsError(ErrorCode::kInvalidArgument, "save them as safetensors"));
}

TEST(HuggingFaceFolder, WeightsThatDoNotFitTheConfigAreNotWritten) {
  const TemporaryFolder own;
  const TemporaryFolder theirs;
  const Config config = small_models()[2];
  const Checkpoint weights = random_weights(own, config, DataType::FLOAT32);
  const std::string to = (theirs / "new").string();
  Config other = config;
  std::get<models::LlamaConfig>(other.model).ffn = 41;
  EXPECT_THAT([&] { write(to, other, weights); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "'layer0.gate.weight' should be f32[24,41], and is f32[24,40]"));
  other = config;
  other.architecture = Architecture::kQwen2;
  EXPECT_THAT([&] { write(to, other, weights); },
              ThrowsError(ErrorCode::kInvalidArgument, "is not a Qwen2ForCausalLM"));
  EXPECT_FALSE(fs::exists(to));
  write(to, config, weights);
  EXPECT_THAT([&] { write(to, config, weights); },
              ThrowsError(ErrorCode::kAlreadyExists, "has a config.json"));
}

}  // namespace
}  // namespace phi::nn::huggingface
