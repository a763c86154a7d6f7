// Kernel libraries that cannot be loaded: what the error names, and that nothing is remembered.
#include "phi/core/kernel_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "phi/core/kernel_registry.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using ::testing::Contains;

constexpr KernelLocation kLocations[] = {{"library_test_kernel", "library_test"}};

class KernelLibraryTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { add_kernel_locations(kLocations); }
  const Kernel& kernel = Kernel::named("library_test_kernel");
};

TEST_F(KernelLibraryTest, AKernelInALibraryCountsAsRegistered) {
  EXPECT_TRUE(kernel.is_registered());
  EXPECT_FALSE(Kernel::named("library_test_kernel_of_nobody").is_registered());
  EXPECT_THAT(kernel_libraries(), Contains("library_test"));
  EXPECT_FALSE(is_kernel_library_loaded("library_test"));
}

TEST_F(KernelLibraryTest, AMissingLibraryIsNamedWithItsFileAndTheRemedy) {
  const auto look = [&] { kernel.check_has(DeviceKind::CPU, DataType::FLOAT32); };
  for (int times = 0; times < 2; ++times) {
    EXPECT_THAT(look, ThrowsError(ErrorCode::kNotFound, "libautophi_library_test.so"));
    EXPECT_THAT(look, ThrowsError(ErrorCode::kNotFound, "--target autophi_library_test"));
    EXPECT_THAT(look, ThrowsError(ErrorCode::kNotFound,
                                  "looking for kernel 'library_test_kernel' for float32"));
  }
}

TEST_F(KernelLibraryTest, AnUnknownNameListsTheKnownOnes) {
  EXPECT_THAT([] { load_kernel_library("visions"); },
              ThrowsError(ErrorCode::kNotFound,
                          "there is no kernel library 'visions'; known: library_test."));
}

TEST_F(KernelLibraryTest, WhatTheCoreHasNeedsNoLibrary) {
  Kernel& partly_here = Kernel::named("library_test_kernel_in_two_places");
  constexpr KernelLocation kSecond[] = {{"library_test_kernel_in_two_places", "library_test"}};
  add_kernel_locations(kSecond);
  const auto function = +[] {};
  partly_here.enter(DeviceKind::CPU, DataType::FLOAT32, function);
  EXPECT_EQ(partly_here.find(DeviceKind::CPU, DataType::FLOAT32), function);
  EXPECT_THROW(partly_here.find(DeviceKind::CPU, DataType::COMPLEX64), Error);
}

}  // namespace
}  // namespace phi
