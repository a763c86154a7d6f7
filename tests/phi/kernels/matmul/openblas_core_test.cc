// Which processor's kernels OpenBLAS has (phi/kernels/cpu/matmul/openblas_core.h).
#include "phi/kernels/cpu/matmul/openblas_core.h"

#include <cblas.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace phi::testing {
namespace {

constexpr const char* kCoreType = "OPENBLAS_CORETYPE";

/// The core of a process of its own that is started by `env` with these words.
std::string core_with(const std::string& words) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      "env " + words + " '" + program + "' --gtest_filter=OpenBlasCore.Prints 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> part{};
  while (pipe && fgets(part.data(), static_cast<int>(part.size()), pipe)) text += part.data();
  EXPECT_EQ(pipe ? pclose(pipe) : -1, 0) << text;
  const size_t from = text.find("core <"), to = text.find('>', from);
  return from == std::string::npos ? text : text.substr(from + 6, to - from - 6);
}

const char* named() { return std::getenv(kCoreType); }

TEST(OpenBlasCore, Prints) {
  std::printf("core <%s>, named <%s>\n", openblas_get_corename(), named() ? named() : "");
}

TEST(OpenBlasCore, IsNeverTheOneOfUnknownProcessors) {
  EXPECT_NE(core_with("-u OPENBLAS_CORETYPE"), "Prescott");
}

TEST(OpenBlasCore, IsTheOneThatTheUserNames) {
  EXPECT_EQ(core_with("OPENBLAS_CORETYPE=PRESCOTT"), "Prescott");
  EXPECT_EQ(core_with("OPENBLAS_CORETYPE=NEHALEM"), "Nehalem");
}

TEST(OpenBlasCore, IsAnotherOneWhereOpenBlasKnewNoneAndNobodyNamedOne) {
  EXPECT_NE(better_openblas_core("Prescott", nullptr),
            nullptr);  // the build takes AVX2 for granted
  EXPECT_EQ(better_openblas_core("Prescott", "PRESCOTT"), nullptr);
  for (const char* known : {"Haswell", "Zen", "SkylakeX", "Cooperlake"}) {
    EXPECT_EQ(better_openblas_core(known, nullptr), nullptr) << known;
  }
}

/// A product that takes several of OpenBLAS's blocks.
std::vector<double> product() {
  constexpr int kSide = 150;
  std::vector<double> a(kSide * kSide), c(kSide * kSide);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 17) - 8;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kSide, kSide, kSide, 1, a.data(), kSide,
              a.data(), kSide, 0, c.data(), kSide);
  return c;
}

TEST(OpenBlasCore, IsTakenByAProgramThatHasComputed) {
  const std::string before = openblas_get_corename(), word = named() ? named() : "";
  const std::vector<double> expected = product();  // whole numbers: exact in any order
  const char* const better = better_openblas_core("Prescott", nullptr);
  for (const std::string core : {"Nehalem", better, before.c_str()}) {
    take_openblas_core(core.c_str());
    EXPECT_EQ(openblas_get_corename(), core);
    EXPECT_EQ(product(), expected) << core;
    EXPECT_EQ(named() ? named() : "", word) << "children would have what was taken here";
  }
}

}  // namespace
}  // namespace phi::testing
