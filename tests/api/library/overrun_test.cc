// A kernel of somebody's own that writes out of bounds ends a program with AddressSanitizer, which
// names it, as does a read of memory that is free. Kernel and program are built with it in all
// builds, the library that they use in its preset alone.
#include <gtest/gtest.h>

#include <cstdlib>

#include "api/call/named_call.h"
#include "api/library/load_ops.h"
#include "phi/tensor_api.h"

namespace phi::testing {
namespace {

// As large as a block of memory: behind its last element is none of this program's.
Tensor block() { return Tensor::from<float>(std::vector<float>(128 * 128, 0.0f), {128, 128}); }

TEST(Overrun, AKernelThatWritesOutOfBoundsIsCaught) {
  load_ops(T_OVERRUN_OPS);
  EXPECT_DEATH(call_function("t_overrun", {{block()}}, {}),
               "heap-buffer-overflow(.|\n)*OverrunKernel");
}

TEST(Overrun, AReadOfATensorThatIsGoneIsCaught) {
  const auto read = [] {
    const float* data = block().dense().data<float>();
    std::exit(static_cast<int>(data[0]));
  };
  EXPECT_DEATH(read(), "heap-use-after-free");
}

TEST(Overrun, AKernelThatDoesNotIsNot) {
  EXPECT_EQ(call_function("square", {{block()}}, {}).at(0).to_vector<float>().size(), 128u * 128u);
}

}  // namespace
}  // namespace phi::testing
