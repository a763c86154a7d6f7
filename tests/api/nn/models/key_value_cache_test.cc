// Reading on from a key-value cache gives what reading all at once gives, on every mesh.
#include <gtest/gtest.h>

#include <cmath>

#include "api/nn/models/laid_out.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"

namespace phi::nn::models {
namespace {

using distributed::ProcessMesh;

constexpr int64_t kSeq = 12;
constexpr int64_t kVocab = 257;

ModelConfig model_config(const std::string& kind) {
  if (kind == "llama") {
    return LlamaConfig{.vocab = kVocab,
                       .seq_len = kSeq,
                       .d_model = 24,
                       .layers = 3,
                       .heads = 6,
                       .kv_heads = 3,
                       .ffn = 20};
  }
  return GptConfig{
      .vocab = kVocab, .seq_len = kSeq, .d_model = 24, .layers = 3, .heads = 3, .hidden = 96};
}

// Initial weights are small: with larger ones attention has a say in the logits.
void scale_up(const Decoder& decoder) {
  for (const auto& [name, parameter] : decoder.named_parameters()) {
    if (!parameter.initialized()) continue;
    DenseTensor local = parameter.dist().local();
    auto* values = local.mutable_data<float>();
    const bool norm = name.find("norm") != std::string::npos;
    for (int64_t i = 0; i < local.numel(); ++i) values[i] *= norm ? 1.0f : 10.0f;
  }
}

// Positions [begin, end) of `batch` texts.
Tensor ids(int64_t batch, int64_t begin, int64_t end) {
  std::vector<int64_t> out;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t t = begin; t < end; ++t) out.push_back((b * 91 + t * t * 37 + 5) % kVocab);
  }
  return Tensor::from<int64_t>(out, {batch, end - begin});
}

using Values = std::vector<float>;

Values everywhere(const Tensor& logits, const ProcessMesh& mesh) {
  return distributed::reshard(logits, mesh, {}).to_vector<float>();
}

void expect_close(const Values& given, const Values& expected, const std::string& what) {
  ASSERT_EQ(given.size(), expected.size()) << what;
  for (size_t i = 0; i < given.size(); ++i) {
    ASSERT_NEAR(given[i], expected[i], 1e-5 * std::max(1.0f, std::abs(expected[i])))
        << what << ", logit " << i;
  }
}

struct Way {
  std::vector<int64_t> shape;
  std::vector<std::string> dims;
  int64_t batch = 1;
  int64_t zero_stage = 0;
  int64_t chunks = 1;
  bool sequence_parallel = false;
};

TransformerLayoutOptions split_of(const Way& way) {
  return {.sequence_parallel = way.sequence_parallel,
          .zero_stage = static_cast<int>(way.zero_stage),
          .chunks = way.chunks};
}

// Logits after each position of each text, all positions read anew each time, by one process.
std::vector<Values> expected_logits(const std::string& kind, int64_t batch) {
  const auto decoder = laid_out(model_config(kind), one());
  scale_up(*decoder);
  std::vector<Values> out;
  for (int64_t end = 1; end <= kSeq; ++end) {
    out.push_back(everywhere(next_logits(*decoder, ids(batch, 0, end)), one()));
  }
  return out;
}

const Way kWays[] = {
    {{1}, {"dp"}},
    {{2}, {"tp"}},
    {{3}, {"tp"}, 2},
    {{4}, {"tp"}},  // more ranks than heads
    {{2}, {"pp"}, 3},
    {{3}, {"pp"}},
    {{2}, {"dp"}},  // a rank without rows
    {{2}, {"dp"}, 3},
    {{2, 2}, {"pp", "tp"}},
    {{2, 2}, {"dp", "tp"}, 2},
    {{2}, {"dp"}, 1, /*zero_stage=*/3},
    {{1}, {"pp"}, 1, 0, /*chunks=*/3},
    {{2}, {"tp"}, 1, 0, 1, /*sequence_parallel=*/true},
};

class KeyValueCacheTest : public ::testing::TestWithParam<std::tuple<const char*, Way>> {};

TEST_P(KeyValueCacheTest, LogitsAreThoseOfReadingAllAtOnce) {
  const auto& [kind, way] = GetParam();
  const std::vector<Values> expected = expected_logits(kind, way.batch);
  int64_t ranks = 1;
  for (int64_t extent : way.shape) ranks *= extent;
  distributed::run_ranks(ranks, [&](distributed::World&) {
    const ProcessMesh mesh(way.shape, way.dims);
    const auto decoder = laid_out(model_config(kind), mesh, split_of(way));
    scale_up(*decoder);
    KeyValueCache cache = decoder->make_cache(way.batch);
    // A first piece, then one position at a time, two, and again after clear().
    const std::vector<std::vector<int64_t>> ways = {{4, 5, 6, 8, 12}, {1, 2, 3}, {kSeq}};
    for (const auto& ends : ways) {
      cache.clear();
      int64_t begin = 0;
      for (int64_t end : ends) {
        const Tensor logits = next_logits(*decoder, ids(way.batch, begin, end), &cache);
        EXPECT_EQ(logits.shape(), (Dims{way.batch, 1, kVocab}));
        EXPECT_EQ(cache.length(), end);
        expect_close(everywhere(logits, mesh), expected[static_cast<size_t>(end - 1)],
                     "positions " + std::to_string(begin) + " to " + std::to_string(end));
        begin = end;
      }
    }
  });
}

std::string name_of(const ::testing::TestParamInfo<KeyValueCacheTest::ParamType>& info) {
  const auto& [kind, way] = info.param;
  std::string name = kind;
  for (size_t i = 0; i < way.dims.size(); ++i) {
    name += "_" + way.dims[i] + std::to_string(way.shape[i]);
  }
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Meshes, KeyValueCacheTest,
                         ::testing::Combine(::testing::Values("gpt", "llama"),
                                            ::testing::ValuesIn(kWays)),
                         name_of);

TEST(KeyValueCache, IsOnTheLayersStageAndSplitByHeads) {
  distributed::run_ranks(6, [](distributed::World& world) {
    for (const char* kind : {"gpt", "llama"}) {
      const auto decoder = laid_out(model_config(kind), ProcessMesh({2, 3}, {"pp", "tp"}));
      const int64_t head_size = kind == std::string("gpt") ? 8 : 4;
      const auto held = [] { return memory_stats(CPUPlace()).current; };
      const int64_t before = held();
      const KeyValueCache cache = decoder->make_cache(2);
      const int64_t layers = world.rank() < 3 ? 2 : 1;
      // One of the three heads of keys and values; a Llama's have half the size.
      EXPECT_EQ(held() - before, layers * 2 * (2 * kSeq * head_size * 4)) << kind;
    }
  });
}

TEST(KeyValueCache, HasRoomForSeqLenPositions) {
  const auto decoder = laid_out(model_config("gpt"), one());
  KeyValueCache cache = decoder->make_cache(1);
  next_logits(*decoder, ids(1, 0, kSeq - 1), &cache);
  EXPECT_THAT([&] { next_logits(*decoder, ids(1, 0, 2), &cache); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "2 positions after 11 cached ones are not 1 to capacity 12"));
  EXPECT_EQ(cache.length(), kSeq - 1);
  next_logits(*decoder, ids(1, 0, 1), &cache);
}

}  // namespace
}  // namespace phi::nn::models
