// Reading on from a key-value cache gives what reading all at once gives, on every mesh.
#include <gtest/gtest.h>

#include <cmath>

#include "distributed/comm/local/local_world.h"
#include "phi/api.h"
#include "support/error_matchers.h"
#include "tools/job/model/decoder.h"

namespace phi::job {
namespace {

using distributed::ProcessMesh;

constexpr int64_t kSeq = 12;
constexpr int64_t kVocab = 257;

ModelConfig model_config(const std::string& kind) {
  ModelConfig model;
  model.kind = kind;
  model.vocab = kVocab;
  model.seq_len = kSeq;
  model.d_model = 24;
  model.layers = 3;
  model.heads = kind == "llama" ? 6 : 3;
  model.kv_heads = 3;
  model.ffn = 20;
  return model;
}

// Initial weights are small: with larger ones attention has a say in the logits.
void scale_up(const Decoder& decoder) {
  for (const auto& [name, parameter] : decoder.parameters()) {
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
  const auto values = distributed::reshard(logits, mesh, {}).values<float>();
  return {values.begin(), values.end()};
}

void expect_close(const Values& given, const Values& expected, const std::string& what) {
  ASSERT_EQ(given.size(), expected.size()) << what;
  for (size_t i = 0; i < given.size(); ++i) {
    ASSERT_NEAR(given[i], expected[i], 1e-5 * std::max(1.0f, std::abs(expected[i])))
        << what << ", logit " << i;
  }
}

struct Layout {
  std::vector<int64_t> shape;
  std::vector<std::string> dims;
  int64_t batch = 1;
  int64_t zero_stage = 0;
  int64_t chunks = 1;
  bool sequence_parallel = false;
};

RunConfig run_config(const Layout& layout) {
  RunConfig run;
  run.zero_stage = layout.zero_stage;
  run.chunks = layout.chunks;
  run.sequence_parallel = layout.sequence_parallel;
  return run;
}

// Logits after each position of each text, all positions read anew each time, by one process.
std::vector<Values> expected_logits(const std::string& kind, int64_t batch) {
  const ProcessMesh one({1}, {"dp"});
  const Decoder decoder(model_config(kind), RunConfig(), one);
  scale_up(decoder);
  std::vector<Values> out;
  for (int64_t end = 1; end <= kSeq; ++end) {
    out.push_back(everywhere(decoder.next_logits(ids(batch, 0, end)), one));
  }
  return out;
}

const Layout kLayouts[] = {
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

class KeyValueCacheTest : public ::testing::TestWithParam<std::tuple<const char*, Layout>> {};

TEST_P(KeyValueCacheTest, LogitsAreThoseOfReadingAllAtOnce) {
  const auto& [kind, layout] = GetParam();
  const std::vector<Values> expected = expected_logits(kind, layout.batch);
  int64_t ranks = 1;
  for (int64_t extent : layout.shape) ranks *= extent;
  distributed::run_ranks(ranks, [&](distributed::World&) {
    const ProcessMesh mesh(layout.shape, layout.dims);
    const Decoder decoder(model_config(kind), run_config(layout), mesh);
    scale_up(decoder);
    KeyValueCache cache = decoder.make_cache(layout.batch);
    // A first piece, then one position at a time, two, and again after clear().
    const std::vector<std::vector<int64_t>> ways = {{4, 5, 6, 8, 12}, {1, 2, 3}, {kSeq}};
    for (const auto& ends : ways) {
      cache.clear();
      int64_t begin = 0;
      for (int64_t end : ends) {
        const Tensor logits = decoder.next_logits(ids(layout.batch, begin, end), &cache);
        EXPECT_EQ(logits.shape(), (Dims{layout.batch, 1, kVocab}));
        EXPECT_EQ(cache.length(), end);
        expect_close(everywhere(logits, mesh), expected[static_cast<size_t>(end - 1)],
                     "positions " + std::to_string(begin) + " to " + std::to_string(end));
        begin = end;
      }
    }
  });
}

std::string name_of(const ::testing::TestParamInfo<KeyValueCacheTest::ParamType>& info) {
  const auto& [kind, layout] = info.param;
  std::string name = kind;
  for (size_t i = 0; i < layout.dims.size(); ++i) {
    name += "_" + layout.dims[i] + std::to_string(layout.shape[i]);
  }
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Meshes, KeyValueCacheTest,
                         ::testing::Combine(::testing::Values("gpt", "llama"),
                                            ::testing::ValuesIn(kLayouts)),
                         name_of);

TEST(KeyValueCache, IsOnTheLayersStageAndSplitByHeads) {
  distributed::run_ranks(6, [](distributed::World& world) {
    for (const char* kind : {"gpt", "llama"}) {
      const ModelConfig model = model_config(kind);
      const Decoder decoder(model, RunConfig(), ProcessMesh({2, 3}, {"pp", "tp"}));
      const auto held = [] { return memory_stats(CPUPlace()).current; };
      const int64_t before = held();
      const KeyValueCache cache = decoder.make_cache(2);
      const int64_t layers = world.rank() < 3 ? 2 : 1;
      // One of the three heads of keys and values; a Llama's have half the size.
      EXPECT_EQ(held() - before, layers * 2 * (2 * kSeq * model.head_size() * 4)) << kind;
    }
  });
}

TEST(KeyValueCache, HasRoomForSeqLenPositions) {
  const Decoder decoder(model_config("gpt"), RunConfig(), ProcessMesh({1}, {"dp"}));
  KeyValueCache cache = decoder.make_cache(1);
  decoder.next_logits(ids(1, 0, kSeq - 1), &cache);
  EXPECT_THAT([&] { decoder.next_logits(ids(1, 0, 2), &cache); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "2 positions behind 11 read before are not 1 to seq_len 12"));
  EXPECT_EQ(cache.length(), kSeq - 1);
  decoder.next_logits(ids(1, 0, 1), &cache);
}

}  // namespace
}  // namespace phi::job
