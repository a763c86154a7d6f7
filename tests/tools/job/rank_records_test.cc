// Records that are kept for another order of the mesh are those of a job with this order.
#include "tools/job/rank_records.h"

#include <gtest/gtest.h>

#include <string>

#include "distributed/simulator/mesh_symmetry.h"

namespace phi::job {
namespace {

using distributed::ProcessMesh;
using simulation::RecordedRank;

JobConfig job(const std::string& mesh, const std::string& run) {
  return parse_job("mode: train\nmodel: {layers: 8, d_model: 32, heads: 4}\nmesh: " + mesh +
                       "\ndata: {paths: [\"" AUTOPHI_SOURCE_DIR
                       "/phi/common\"]}\nrun: {global_batch: 24, " +
                       run + "}",
                   "job.yaml");
}

void expect_equal(const RecordedRank& given, const RecordedRank& expected) {
  EXPECT_EQ(given.program.events, expected.program.events);
  EXPECT_EQ(given.program.groups, expected.program.groups);
  EXPECT_EQ(given.totals, expected.totals);
  EXPECT_EQ(given.asymmetries, expected.asymmetries);
  EXPECT_EQ(given.size_changes, expected.size_changes);
}

// Records all ranks with dp outside, and then looks up those with pp outside.
void check_orders(const std::string& run, int64_t dp = 2) {
  SCOPED_TRACE(run);
  const JobConfig dp_outside =
      job("{shape: [" + std::to_string(dp) + ", 4, 2], dims: [dp, pp, tp]}", run);
  const JobConfig pp_outside =
      job("{shape: [4, " + std::to_string(dp) + ", 2], dims: [pp, dp, tp]}", run);
  const Setup setup = prepare_dry(dp_outside, 8 * dp);
  RankRecords kept(setup, /*steps=*/2, /*kept=*/1);
  RankRecords anew(setup, /*steps=*/2);
  const ProcessMesh from(dp_outside.mesh.shape, dp_outside.mesh.dims);
  const ProcessMesh to(pp_outside.mesh.shape, pp_outside.mesh.dims);
  for (int64_t rank = 0; rank < 8 * dp; ++rank) {
    EXPECT_TRUE(distributed::simulator::in_reordered_mesh(kept.of(dp_outside, rank).program, rank,
                                                          from, to));
  }
  for (int64_t rank = 0; rank < 8 * dp; ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank));
    expect_equal(kept.of(pp_outside, rank), anew.of(pp_outside, rank));
    expect_equal(kept.of(dp_outside, rank), anew.of(dp_outside, rank));
  }
}

TEST(RankRecords, OneRecordServesBothOrdersOfAMesh) {
  check_orders("micro_batches: 4");
  check_orders("micro_batches: 2, zero_stage: 1, sequence_parallel: true");
  check_orders("micro_batches: 4, zero_stage: 3, recompute: full");
  check_orders("micro_batches: 4, schedule: interleaved, chunks: 2, zero_stage: 2");
  check_orders("micro_batches: 4, schedule: zb_h1");
  // 32 elements over dp=3.
  check_orders("micro_batches: 4, zero_stage: 1, sequence_parallel: true", 3);
}

}  // namespace
}  // namespace phi::job
