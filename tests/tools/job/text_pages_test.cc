// Text larger than memory: opening it reads nothing, and a rank reads the windows of its own rows.
#include <gtest/gtest.h>

#include "distributed/api.h"
#include "phi/core/rank_context.h"
#include "support/system/file_pages.h"
#include "tests/phi/memory/scratch_folder.h"
#include "tools/job/text_data.h"

namespace phi::job {
namespace {

using distributed::ProcessMesh;
using distributed::Shard;
using phi::testing::bytes_in_memory;

constexpr int64_t kTextBytes = int64_t{1} << 32;
constexpr int64_t kRows = 32;  // of a batch
constexpr int64_t kRanks = 8;
constexpr int64_t kSeqLen = 10'000;
constexpr int64_t kPage = 4096;
constexpr int64_t kPagesOfAWindow = kSeqLen / kPage + 2;  // wherever it begins

class TextPages : public ::testing::Test {
 protected:
  void SetUp() override { phi::testing::make_sparse(path_, kTextBytes); }
  int64_t read() const { return bytes_in_memory(path_, 0, kTextBytes); }

  const memory::ScratchFolder folder_;
  const std::string path_ = folder_.file("text");
};

TEST_F(TextPages, OpeningReadsNothing) {
  const TextData text = TextData::open({path_}, "");
  EXPECT_EQ(text.num_bytes(), kTextBytes);
  text.ids({1, 0, kRows, kSeqLen});
  EXPECT_EQ(read(), 0);
}

TEST_F(TextPages, ARankReadsItsRows) {
  RankContext context(3, kRanks);
  const RankContext::Scope scope(context);
  const TextData text = TextData::open({path_}, "");
  const Tensor ids = text.ids({1, 0, kRows, kSeqLen});
  const ProcessMesh mesh({kRanks}, {"dp"});
  const Tensor rows = distributed::shard_tensor(ids, mesh, {Shard(0)});
  EXPECT_EQ(rows.local().shape()[0], kRows / kRanks);
  EXPECT_GT(read(), 0);
  EXPECT_LE(read(), kRows / kRanks * kPagesOfAWindow * kPage);
}

TEST_F(TextPages, ARankOutsideTheMeshReadsNothing) {
  RankContext context(3, kRanks);
  const RankContext::Scope scope(context);
  const TextData text = TextData::open({path_}, "");
  const ProcessMesh others({2}, {"dp"}, {0, 1});
  distributed::shard_tensor(text.labels({1, 0, kRows, kSeqLen}), others, {Shard(0)});
  EXPECT_EQ(read(), 0);
}

}  // namespace
}  // namespace phi::job
