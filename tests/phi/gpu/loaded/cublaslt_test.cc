// cuBLASLt as it is loaded: each test runs in a process of its own, whose LD_LIBRARY_PATH says what
// is found.
#include "phi/gpu/cublaslt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

TEST(LoadedCublasLt, RealOneHasAllFunctions) {
  const std::string installed =
      std::string(AUTOPHI_CUDA_LIBRARY_DIR) + "/libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
  if (!std::ifstream(installed)) GTEST_SKIP() << "there is no " << installed;
  const gpu::CublasLt& functions = gpu::cublaslt();
  EXPECT_STREQ(functions.cublasLtGetStatusString(CUBLAS_STATUS_SUCCESS), "success");
}

TEST(LoadedCublasLt, EmptyOneLacksFunctions) {
  EXPECT_THAT([] { gpu::cublaslt(); },
              ThrowsError(ErrorCode::kUnavailable, "lacks cublasLtCreate; install a newer one."));
}

TEST(LoadedCublasLt, BrokenOneIsNotLoaded) {
  const std::string installed =
      std::string(AUTOPHI_CUDA_LIBRARY_DIR) + "/libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
  if (std::ifstream(installed)) GTEST_SKIP() << "the toolkit's is taken instead: " << installed;
  EXPECT_THAT([] { gpu::cublaslt(); },
              ThrowsError(ErrorCode::kUnavailable,
                          "matrix products on GPUs need cuBLASLt, and it cannot be loaded"));
}

}  // namespace
}  // namespace phi::testing
