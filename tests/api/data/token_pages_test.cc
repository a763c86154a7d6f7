// Data larger than memory: opening it reads nothing of the ids, and a rank reads the windows of its
// own rows.
#include <gtest/gtest.h>

#include "api/data/token_data.h"
#include "distributed/api.h"
#include "phi/core/rank_context.h"
#include "support/system/file_pages.h"
#include "tests/api/data/data_files.h"

namespace phi::data {
namespace {

using distributed::ProcessMesh;
using distributed::Shard;
using phi::testing::bytes_in_memory;

constexpr int64_t kFileBytes = int64_t{1} << 32;
constexpr int64_t kRows = 32;  // of a batch
constexpr int64_t kRanks = 8;
constexpr int64_t kSeqLen = 10'000;
constexpr int64_t kPage = 4096;

class TokenPages : public ::testing::TestWithParam<DataKind> {
 protected:
  void SetUp() override {
    phi::testing::make_sparse(path_, kFileBytes);
    // Documents of one sequence of 2^20 tokens each.
    const std::vector<std::vector<int32_t>> documents(kFileBytes >> 21, {1 << 20});
    folder_.write("data.idx", index_fields(documents).bytes());
  }
  int64_t read() const { return bytes_in_memory(path_, 0, kFileBytes); }
  TokenData open() const {
    const bool apart = GetParam() == DataKind::kMegatron;
    return TokenData::open({.kind = GetParam(),
                            .paths = {path_},
                            .documents = apart ? Documents::kApart : Documents::kJoined});
  }
  // How a flat file begins is looked at.
  int64_t read_by_opening() const { return GetParam() == DataKind::kTokens ? kPage : 0; }
  int64_t item() const { return GetParam() == DataKind::kBytes ? 1 : 2; }
  // Wherever it begins.
  int64_t bytes_of_a_window() const { return (kSeqLen * item() / kPage + 2) * kPage; }

  const DataFolder folder_;
  const std::string path_ = folder_.file("data.bin");
};

TEST_P(TokenPages, OpeningReadsNothing) {
  const TokenData data = open();
  EXPECT_EQ(data.num_tokens(), kFileBytes / item());
  data.ids({1, 0, kRows, kSeqLen});
  EXPECT_EQ(read(), read_by_opening());
}

TEST_P(TokenPages, ARankReadsItsRows) {
  RankContext context(3, kRanks);
  const RankContext::Scope scope(context);
  const TokenData data = open();
  const Tensor ids = data.ids({1, 0, kRows, kSeqLen});
  const ProcessMesh mesh({kRanks}, {"dp"});
  const Tensor rows = distributed::shard_tensor(ids, mesh, {Shard(0)});
  EXPECT_EQ(rows.local().shape()[0], kRows / kRanks);
  EXPECT_GT(read(), read_by_opening());
  EXPECT_LE(read(), kRows / kRanks * bytes_of_a_window() + read_by_opening());
}

TEST_P(TokenPages, ARankOutsideTheMeshReadsNothing) {
  RankContext context(3, kRanks);
  const RankContext::Scope scope(context);
  const TokenData data = open();
  const ProcessMesh others({2}, {"dp"}, {0, 1});
  distributed::shard_tensor(data.labels({1, 0, kRows, kSeqLen}), others, {Shard(0)});
  EXPECT_EQ(read(), read_by_opening());
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokenPages,
                         ::testing::Values(DataKind::kBytes, DataKind::kTokens,
                                           DataKind::kMegatron),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace phi::data
