// Sanitizers see bugs of kernels at their source lines: the programs in planted/, compiled with
// AddressSanitizer and UndefinedBehaviorSanitizer or with ThreadSanitizer in every build.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

namespace cuda_on_cpu_test {
namespace {

using ::testing::HasSubstr;

struct Printed {
  int status;
  std::string output;
};

Printed run(const std::string& command) {
  Printed result{};
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.output.append(buffer.data(), n);
  }
  result.status = pclose(pipe);
  return result;
}

// The place that the source marks with the bug's name, as sanitizers print it.
std::string place_of(const std::string& bug) {
  std::ifstream source(AUTOPHI_SOURCE_DIR "/tests/cuda_on_cpu/planted/planted.cu");
  std::string line;
  for (int number = 1; std::getline(source, line); ++number) {
    if (line.ends_with("BUG " + bug)) return fmt::format("planted.cu:{}", number);
  }
  return "no line of planted.cu";
}

class Orders : public ::testing::TestWithParam<const char*> {
 protected:
  static Printed planted(const char* program, const std::string& bug) {
    return run(fmt::format("TSAN_OPTIONS=atexit_sleep_ms=0 AUTOPHI_CUDA_SEED={} {} {}", GetParam(),
                           program, bug));
  }
  static void expect_found(const char* program, const std::string& bug, const char* report) {
    const Printed result = planted(program, bug);
    EXPECT_NE(result.status, 0) << bug;
    EXPECT_THAT(result.output, HasSubstr(report)) << bug;
    EXPECT_THAT(result.output, HasSubstr(place_of(bug))) << bug;
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, Orders, ::testing::Values("forward", "backward", "7"));

TEST_P(Orders, RightKernelIsSilent) {
  for (const char* program : {PLANTED_ASAN, PLANTED_TSAN}) {
    const Printed result = planted(program, "right");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.output, "nothing found\n");
  }
}

TEST_P(Orders, AddressesOutOfBounds) {
  expect_found(PLANTED_ASAN, "out_of_bounds", "AddressSanitizer: use-after-poison");
}

TEST_P(Orders, MisalignedVectors) {
  expect_found(PLANTED_ASAN, "misaligned", "which requires 16 byte alignment");
}

TEST_P(Orders, IndicesBeyondSharedArrays) {
  expect_found(PLANTED_ASAN, "beyond_shared", "out of bounds for type 'float [64]'");
}

TEST_P(Orders, DeviceMemoryFreedEarly) {
  expect_found(PLANTED_ASAN, "freed_early", "AddressSanitizer: use-after-poison");
}

TEST_P(Orders, PinnedMemoryFreedEarly) {
  const Printed result = planted(PLANTED_ASAN, "host_freed_early");
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("AddressSanitizer: heap-use-after-free"));
  EXPECT_THAT(result.output, HasSubstr("freed by"));
  EXPECT_THAT(result.output, HasSubstr(place_of("host_freed_early")));
}

TEST_P(Orders, MissingBarriers) {
  for (const char* bug : {"missing_barrier", "missing_barrier_before_reuse", "missing_syncwarp"}) {
    expect_found(PLANTED_TSAN, bug, "ThreadSanitizer: data race");
  }
}

TEST_P(Orders, TwoThreadsOfABlockWriteOneElement) {
  expect_found(PLANTED_TSAN, "two_write", "ThreadSanitizer: data race");
}

}  // namespace
}  // namespace cuda_on_cpu_test
