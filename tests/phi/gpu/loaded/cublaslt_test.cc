// cuBLASLt as it is loaded. Each test is a program of its own: what is found is said when it is
// compiled and started (CMakeLists.txt).
#include "phi/gpu/cublaslt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

// Where the build's toolkit has it, if nothing else says where it is.
TEST(LoadedCublasLt, Found) {
  const gpu::CublasLt& functions = gpu::cublaslt();
  EXPECT_STREQ(functions.cublasLtGetStatusString(CUBLAS_STATUS_SUCCESS), "success");
}

TEST(LoadedCublasLt, Empty) {
  EXPECT_THAT([] { gpu::cublaslt(); },
              ThrowsError(ErrorCode::kUnavailable,
                          " lacks the function cublasLtCreate. Install the libraries of CUDA "));
}

TEST(LoadedCublasLt, Broken) {
  EXPECT_THAT([] { gpu::cublaslt(); },
              ThrowsError(ErrorCode::kUnavailable,
                          "matmuls on GPUs need cuBLASLt, and it cannot be loaded"));
}

}  // namespace
}  // namespace phi::testing
