// Batches of data that is not there.
#include "api/data/absent_samples.h"

#include <gtest/gtest.h>

#include "support/error_matchers.h"

namespace phi::data {
namespace {

TEST(AbsentSamples, BatchesHaveShapesAndCannotBeRead) {
  const AbsentSamples data({{3, 8, 8}, DataType::BFLOAT16}, {{1}, DataType::INT64}, "no file 'x'.");
  const Tensor images = data.inputs(7, 4), classes = data.labels(7, 4);
  EXPECT_EQ(images.shape(), (Dims{4, 3, 8, 8}));
  EXPECT_EQ(images.dtype(), DataType::BFLOAT16);
  EXPECT_EQ(classes.shape(), (Dims{4, 1}));
  EXPECT_EQ(classes.dtype(), DataType::INT64);
  EXPECT_THAT([&] { classes.to_vector<int64_t>(); },
              ThrowsError(ErrorCode::kUnavailable, "the data cannot be read: no file 'x'."));
}

}  // namespace
}  // namespace phi::data
