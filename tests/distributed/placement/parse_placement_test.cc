// Placements as text: what is written is parsed, all else is refused.
#include "distributed/placement/parse_placement.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "distributed/mesh/process_mesh.h"
#include "phi/common/dims.h"
#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

TEST(ParsePlacement, ParsesWhatIsWritten) {
  std::vector<Placement> all = {Replicate()};
  for (int dim = 0; dim < kMaxNdim; ++dim) {
    for (int order = 0; order < kMaxMeshNdim; ++order) all.push_back(Shard(dim, order));
  }
  for (const ReduceKind kind :
       {ReduceKind::kSum, ReduceKind::kAvg, ReduceKind::kMax, ReduceKind::kMin, ReduceKind::kProd,
        ReduceKind::kAny, ReduceKind::kAll}) {
    all.push_back(Partial(kind));
  }
  for (const Placement& placement : all) {
    EXPECT_EQ(parse_placement(placement.to_string()), placement) << placement.to_string();
  }
  EXPECT_EQ(parse_placement("P"), Partial());
}

TEST(ParsePlacement, RefusesOtherTexts) {
  for (const char* text : {"", "r", "S", "S-1", "S9", "S0.", "S0.6", "S0.0.0", "S 0", "S0 ", "S0x",
                           "P()x", "P(sum", "RR", "S99999999999999999999", "Shard(0)"}) {
    EXPECT_EQ(parse_placement(text), std::nullopt) << text;
  }
  EXPECT_THAT(
      [] { parse_placement("P(mean)"); },
      ThrowsError(ErrorCode::kInvalidArgument, "unknown reduce kind 'mean'; use one of sum"));
}

}  // namespace
}  // namespace phi::distributed
