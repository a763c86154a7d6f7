// The kernel registry: registration, selection, and what it says when a kernel is missing.
#include "phi/core/kernel_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi {

namespace kernels {
struct registry_test_double {
  using Signature = KernelSignature<const DenseTensor&, DenseTensor*>;
  using Parameters = KernelParameters<"x", "out">;
  static constexpr const char* kName = "registry_test_double";
};
}  // namespace kernels

using TwoTypes = TypeList<float, int64_t>;
template <typename T, typename Context>
void DoubleKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  for (int64_t i = 0; i < x.numel(); ++i) out->mutable_data<T>()[i] = 2 * x.data<T>()[i];
}
PHI_REGISTER_KERNEL(registry_test_double, CPU, DoubleKernel, TwoTypes);

namespace {

TEST(KernelRegistry, SelectsByNamePlaceAndDtype) {
  const Kernel& kernel = Kernel::named("registry_test_double");
  const auto run =
      kernel.select<kernels::registry_test_double::Signature>(DeviceKind::CPU, DataType::INT64);
  const std::vector<int64_t> values = {1, 2};
  const DenseTensor x = DenseTensor::from<int64_t>(values, {2});
  DenseTensor out = DenseTensor::empty(x.meta(), CPUPlace());
  run(KernelContext(), x, &out);
  EXPECT_THAT(out.values<int64_t>(), ::testing::ElementsAre(2, 4));
  EXPECT_EQ(&kernel, &Kernel::named("registry_test_double"));
  EXPECT_THAT(Kernel::names(), ::testing::Contains("registry_test_double"));
}

TEST(KernelRegistry, AMissingKernelListsWhatIsThere) {
  const auto select = [](const char* name, DeviceKind kind, DataType dtype) {
    Kernel::named(name).select<kernels::registry_test_double::Signature>(kind, dtype);
  };
  EXPECT_THAT(
      [&] { select("registry_test_double", DeviceKind::CPU, DataType::BOOL); },
      ThrowsError(ErrorCode::kUnimplemented,
                  "kernel 'registry_test_double' is not registered for bool on cpu; it supports "
                  "int64, float32, cast the input."));
  EXPECT_THAT([&] { select("registry_test_double", DeviceKind::GPU, DataType::FLOAT32); },
              ThrowsError(ErrorCode::kUnimplemented, "no kernel on that place at all"));
  EXPECT_TRUE(Kernel::named("registry_test_double").is_registered());
  EXPECT_FALSE(Kernel::named("registry_test_none").is_registered());
  EXPECT_THAT([&] { select("registry_test_none", DeviceKind::CPU, DataType::BOOL); },
              ThrowsError(ErrorCode::kUnimplemented,
                          "kernel 'registry_test_none' is not registered: it is declared only"));
}

}  // namespace
}  // namespace phi
