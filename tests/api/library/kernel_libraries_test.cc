// The kernel libraries of this build: what the core knows of them is what they bring, and each is
// loaded by the first call that needs it and by no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "api/generated/api.h"
#include "phi/core/kernel_library.h"
#include "phi/core/kernel_registry.h"

namespace phi {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> loaded() {
  std::vector<std::string> names = kernel_libraries();
  std::erase_if(names, [](const std::string& name) { return !is_kernel_library_loaded(name); });
  return names;
}

// (kernel, dtype) of the CPU that are there now. Kernels of libraries are not looked for.
std::set<std::pair<std::string, int>> registered_here() {
  std::set<std::pair<std::string, int>> found;
  for (const std::string& name : Kernel::names()) {
    const Kernel& kernel = Kernel::named(name);
    for (int t = 1; t < kNumDataTypes; ++t) {
      if (kernel.is_here(DeviceKind::CPU, static_cast<DataType>(t))) found.emplace(name, t);
    }
  }
  return found;
}

// In order: a library that is loaded stays so.
TEST(KernelLibraries, AreLoadedByTheFirstCallThatNeedsThem) {
  EXPECT_THAT(kernel_libraries(), ElementsAre("linalg", "losses", "math", "quantized", "sampling",
                                              "sequence", "signal", "vision"));
  EXPECT_THAT(loaded(), IsEmpty());
  const Tensor x = ones({1, 2, 4, 4});
  const Tensor y = relu(matmul(x, x));
  EXPECT_THAT(loaded(), IsEmpty()) << "matmul and relu are in the core";
  const Tensor filter = ones({3, 2, 3, 3});
  EXPECT_EQ(conv2d(x, filter, {1, 1}, {0, 0}, "EXPLICIT", {1, 1}, 1, "NCHW").shape(),
            Dims({1, 3, 2, 2}));
  EXPECT_THAT(loaded(), ElementsAre("vision"));
}

// exp is in the core, its kernels for complex numbers are not.
TEST(KernelLibraries, AKernelMayHaveSomeDtypesInALibrary) {
  exp(ones({2}));
  EXPECT_FALSE(is_kernel_library_loaded("math"));
  const Tensor z = exp(cast(zeros({2}), DataType::COMPLEX64));
  EXPECT_EQ(z.dtype(), DataType::COMPLEX64);
  EXPECT_TRUE(is_kernel_library_loaded("math"));
}

TEST(KernelLibraries, ThreadsMayNeedOneAtOnce) {
  ASSERT_FALSE(is_kernel_library_loaded("linalg"));
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&right] {
      const Tensor l = cholesky(eye(4, 4), false);
      right += l.to_vector<float>()[5] == 1.0F;
    });
  }
  threads.clear();
  EXPECT_EQ(right, 8);
}

// In a process of its own (CMakeLists.txt): a library that is loaded already brings nothing.
TEST(KernelHomes, AreWhatEachLibraryBrings) {
  for (const std::string& library : kernel_libraries()) {
    ASSERT_FALSE(is_kernel_library_loaded(library));
    const auto before = registered_here();
    load_kernel_library(library);
    std::set<std::string> expected;
    for (const std::string& name : Kernel::names()) {
      for (const char* home : Kernel::named(name).libraries()) {
        if (home == library) expected.insert(name);
      }
    }
    std::set<std::string> brought;
    for (const auto& entry : registered_here()) {
      if (!before.contains(entry)) brought.insert(entry.first);
    }
    EXPECT_FALSE(brought.empty()) << library;
    EXPECT_EQ(brought, expected) << library;
  }
}

}  // namespace
}  // namespace phi
