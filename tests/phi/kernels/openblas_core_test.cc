// Which processor's kernels OpenBLAS has (phi/kernels/cpu/openblas_core.cc): those of this one, or
// those that the user names.
#include <cblas.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace phi::testing {
namespace {

constexpr const char* kCoreType = "OPENBLAS_CORETYPE";

/// What test `name` prints between brackets in a process of its own with OPENBLAS_CORETYPE set.
std::string printed_with(const std::string& core, const std::string& name) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      std::string(kCoreType) + "=" + core + " '" + program + "' --gtest_filter=" + name + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> part{};
  while (pipe && fgets(part.data(), static_cast<int>(part.size()), pipe)) text += part.data();
  EXPECT_EQ(pipe ? pclose(pipe) : -1, 0) << text;
  const size_t from = text.find("core <"), to = text.find('>', from);
  return from == std::string::npos ? text : text.substr(from + 6, to - from - 6);
}

TEST(OpenBlasCore, HasTheInstructionsOfThisProcessor) {
  if (std::getenv(kCoreType)) GTEST_SKIP() << "the user has named a core";
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "a processor without AVX2";
  EXPECT_STRNE(openblas_get_corename(), "Prescott");  // its fallback, which has SSE3
  EXPECT_EQ(std::getenv(kCoreType), nullptr) << "children would have what was chosen here";
}

TEST(OpenBlasCore, Prints) { std::printf("core <%s>\n", openblas_get_corename()); }

TEST(OpenBlasCore, IsTheOneThatTheUserNames) {
  EXPECT_EQ(printed_with("PRESCOTT", "OpenBlasCore.Prints"), "Prescott");
  EXPECT_EQ(printed_with("NEHALEM", "OpenBlasCore.Prints"), "Nehalem");
}

}  // namespace
}  // namespace phi::testing
