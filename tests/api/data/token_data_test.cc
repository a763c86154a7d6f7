// Batches: the same of every kind of data, and however they are split.
#include "api/data/token_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "distributed/api.h"
#include "phi/core/rank_context.h"
#include "support/error_matchers.h"
#include "tests/api/data/data_files.h"

namespace phi::data {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using Ids = std::vector<int64_t>;

Ids values(const Tensor& x) {
  const auto span = x.values<int64_t>();
  return {span.begin(), span.end()};
}

class TokenDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("src/b.txt", "0123456789");
    folder_.write("src/a.txt", "abcdefghij");
    folder_.write("src/deep/c.txt", "ABCDEFGHIJ");
    std::vector<uint16_t> ids;
    for (const char c : std::string("abcdefghij0123456789ABCDEFGHIJ")) ids.push_back(c);
    folder_.write_ids("flat.bin", ids);
    folder_.write_ids("set.bin", ids);
    folder_.write("set.idx", index_fields({{4, 6}, {10}, {1, 1, 8}}).bytes());
  }
  TokenData open(DataKind kind, const char* path, Documents documents = Documents::kJoined) const {
    return TokenData::open({.kind = kind, .paths = {folder_.file(path)}, .documents = documents});
  }
  TokenData text(Documents documents = Documents::kJoined) const {
    return open(DataKind::kBytes, "src", documents);
  }
  // The same 30 ids of each kind.
  std::vector<TokenData> all_kinds() const {
    return {text(), open(DataKind::kTokens, "flat.bin"), open(DataKind::kMegatron, "set")};
  }

  const DataFolder folder_;
};

TEST_F(TokenDataTest, LabelsFollowIdsByOne) {
  const BatchSpec draw{1, 0, 5, 7};
  for (const TokenData& data : all_kinds()) {
    EXPECT_EQ(data.num_tokens(), 30);
    const Tensor ids = data.ids(draw);
    const Tensor labels = data.labels(draw);
    EXPECT_EQ(ids.shape(), (Dims{5, 7}));
    EXPECT_EQ(labels.shape(), (Dims{5, 7, 1}));
    const Ids in = values(ids);
    const Ids out = values(labels);
    for (size_t row = 0; row < 5; ++row) {
      for (size_t i = 0; i + 1 < 7; ++i) EXPECT_EQ(out[row * 7 + i], in[row * 7 + i + 1]);
    }
  }
}

TEST_F(TokenDataTest, TheKindOfFileMakesNoDifferenceToWhatIsDrawn) {
  const Ids of_text = values(text().labels({3, 5, 6, 4}));
  for (const TokenData& data : all_kinds()) EXPECT_EQ(values(data.labels({3, 5, 6, 4})), of_text);
  const Ids apart = values(text(Documents::kApart).ids({3, 5, 6, 4}));
  EXPECT_NE(apart, values(text().ids({3, 5, 6, 4})));
  EXPECT_EQ(apart, values(open(DataKind::kMegatron, "set", Documents::kApart).ids({3, 5, 6, 4})));
}

TEST_F(TokenDataTest, WindowsOfDocumentsCrossNoEnd) {
  const TokenData data = open(DataKind::kMegatron, "set.idx", Documents::kApart);
  std::set<int64_t> begins;
  for (int64_t sample = 0; sample < 300; ++sample) {
    const int64_t begin = data.first_token_of({9, 0, 1, 7}, sample);
    EXPECT_LT(begin % 10, 3) << sample;  // documents are of ten tokens
    begins.insert(begin);
  }
  EXPECT_EQ(begins.size(), 9u);
}

TEST_F(TokenDataTest, BatchesDependOnSeedAndNumberAlone) {
  for (const TokenData& data : all_kinds()) {
    const Ids all = values(data.ids({1, 0, 6, 4}));
    EXPECT_EQ(values(data.ids({1, 3, 3, 4})), Ids(all.begin() + 12, all.end()));
    EXPECT_NE(all, values(data.ids({2, 0, 6, 4})));
  }
  EXPECT_EQ(values(text().ids({1, 0, 6, 4})), values(text().ids({1, 0, 6, 4})));
}

TEST_F(TokenDataTest, AnyPartCanBeReadAlone) {
  for (const TokenData& data : all_kinds()) {
    const Tensor ids = data.ids({1, 0, 4, 6});
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
}

TEST_F(TokenDataTest, EveryMeshSeesTheSameBatch) {
  const BatchSpec draw{7, 2, 6, 5};
  const std::vector<std::pair<std::vector<int64_t>, std::vector<std::string>>> meshes = {
      {{1}, {"dp"}}, {{2}, {"dp"}}, {{4}, {"dp"}}, {{3, 2}, {"dp", "tp"}}, {{2, 2}, {"tp", "dp"}}};
  for (const TokenData& data : all_kinds()) {
    const Ids whole = values(data.labels(draw));
    for (const auto& [shape, names] : meshes) {
      const ProcessMesh mesh(shape, names);
      std::vector<distributed::Placement> placements(shape.size(), Replicate());
      placements[names[0] == "dp" ? 0 : 1] = Shard(0);
      for (int rank = 0; rank < mesh.size(); ++rank) {
        RankContext context(rank, static_cast<int>(mesh.size()));
        const RankContext::Scope scope(context);
        const Tensor part = distributed::shard_tensor(data.labels(draw), mesh, placements);
        const Box box = local_box(part.shape(), *part.dist().attr(), *mesh.coord_of(rank));
        const int64_t begin = box.offset[0] * 5;
        const Ids here = values(part.local());
        ASSERT_EQ(static_cast<int64_t>(here.size()), box.numel());
        EXPECT_TRUE(std::equal(here.begin(), here.end(), whole.begin() + begin)) << rank;
      }
    }
  }
}

TEST_F(TokenDataTest, WindowsStayInsideTheData) {
  for (const TokenData& data : all_kinds()) {
    for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(data.first_token_of({3, 0, 50, 29}, i), 0);
  }
  EXPECT_THAT(
      [&] {
        text().ids({3, 0, 1, 30});
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "30 bytes of text are too few for windows of seq_len 30 + 1"));
}

// The windows of jobs before there were other kinds than text.
TEST_F(TokenDataTest, TextIsDrawnAsEver) {
  Ids begins;
  for (int64_t i = 0; i < 8; ++i) begins.push_back(text().first_token_of({5, 100, 8, 4}, i));
  EXPECT_EQ(begins, (Ids{13, 1, 21, 6, 11, 20, 21, 11}));
}

TEST_F(TokenDataTest, AnIdBeyondTheVocabularyIsFoundWhenItIsRead) {
  const TokenData data = TokenData::open(
      {.kind = DataKind::kTokens, .paths = {folder_.file("flat.bin")}, .vocab = 'a' + 5});
  const Tensor ids = data.ids({3, 0, 1, 29});
  EXPECT_THAT([&] { values(ids); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "token 5 of '" + folder_.file("flat.bin") +
                              "' (byte offset 10) is the id 102, which is outside a vocab of 102"));
}

TEST_F(TokenDataTest, WhatIsReadIsCountedAsTheFileHasIt) {
  const auto bytes = [](const TokenData& data) {
    RankContext context(0, 1);
    const RankContext::Scope scope(context);
    const ProcessMesh mesh({1}, {"dp"});
    distributed::shard_tensor(data.ids({1, 0, 3, 5}), mesh, {Shard(0)}).local();
    return context.transfers().of(Tier::kDisk, Tier::kDevice).bytes;
  };
  EXPECT_EQ(bytes(text()), 15);
  EXPECT_EQ(bytes(open(DataKind::kTokens, "flat.bin")), 30);
}

}  // namespace
}  // namespace phi::data
