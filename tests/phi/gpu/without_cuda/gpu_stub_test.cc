// A GPU in a build without CUDA: why there is none, and how one comes by such a build.
#include <gtest/gtest.h>

#include "phi/core/device/device.h"
#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

TEST(WithoutCuda, TheErrorSaysHowToComeByIt) {
  EXPECT_THAT([] { Device::of(GPUPlace(2)); },
              ThrowsError(ErrorCode::kUnavailable,
                          "gpu:2 cannot be used: this build has no CUDA. Install the CUDA toolkit "
                          "(nvcc) and rebuild with -DAUTOPHI_CUDA=ON, or use `place: cpu`."));
}

}  // namespace
}  // namespace phi::testing
