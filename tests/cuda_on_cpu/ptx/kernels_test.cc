// Finding kernels by name, in texts and in the library that was built.
#include "support/cuda_on_cpu/ptx/kernels.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "support/cuda_on_cpu/ptx/fat_binary.h"

namespace cuda_on_cpu_test {
namespace {

using cuda_on_cpu::ptx::common_name;
using cuda_on_cpu::ptx::Kernels;
using cuda_on_cpu::ptx::read_ptx;
using ::testing::SizeIs;

TEST(PtxKernels, NamesOfBothCompilers) {
  EXPECT_EQ(common_name("void phi::gpu::fill<float>(phi::Rows<float>, long)"),
            "phi::gpu::fill<float>");
  EXPECT_EQ(common_name("phi::(anonymous namespace)::probe(int*)"),
            "phi::(anonymous namespace)::probe");
  EXPECT_EQ(common_name("void phi::map<4, std::pair<int, (anonymous namespace)::F> >(F (*)(int))"),
            "phi::map<4, std::pair<int, (anonymous namespace)::F> >");
  EXPECT_EQ(common_name("_INTERNAL_ffb_2_0_cu_b5::phi::scan(int)"), "phi::scan");
}

// Kernels of one name; that of the anonymous namespace as nvcc has it.
constexpr const char* kOfAll = ".visible .entry _Z4fillPf(\n.param .u64 a\n)\n{\nret;\n}\n";
constexpr const char* kOfOne =
    "\n.entry _ZN12_GLOBAL__N_14fillEPf(\n.param .u64 a\n)\n{\nret;\n}\n";
constexpr const char* kOfAnother =
    "\n.entry _ZN16_GLOBAL__N__1_cu4fillEPf(\n.param .u64 a\n)\n{\nret;\n}\n";
constexpr const char* kOverloaded = "\n.entry _Z4fillPi(\n.param .u64 a\n)\n{\nret;\n}\n";

TEST(PtxKernels, InstancesInSeveralTextsAreOne) {
  Kernels kernels({std::string("\n") + kOfAll, std::string("\n") + kOfAll});
  EXPECT_THAT(kernels.names(), ::testing::ElementsAre("fill"));
  EXPECT_EQ(kernels.find("fill(float*)").name, "_Z4fillPf");
}

TEST(PtxKernelsDeathTest, OneNameOfTwo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      Kernels({kOfOne, kOfAnother}).find("(anonymous namespace)::fill(float*)"),
      "the kernel \\(anonymous namespace\\)::fill is defined twice, as .*12.* and .*16.*: rename");
  EXPECT_DEATH(Kernels({std::string("\n") + kOfAll, kOverloaded}).find("fill(float*)"),
               "the kernel fill is defined twice, as _Z4fillPf and _Z4fillPi");
  EXPECT_DEATH(Kernels({kOfOne}).find("empty(float*)"), "there is no PTX of the kernel empty");
}

TEST(PtxKernelsDeathTest, Files) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(read_ptx("/nowhere.so"), "/nowhere.so cannot be read");
  const auto text = std::filesystem::temp_directory_path() / "no_library.txt";
  std::ofstream(text) << "no library";
  EXPECT_THAT(read_ptx(text), SizeIs(0));
  std::ofstream(text) << "\x7f"
                         "ELF, and no more";
  EXPECT_DEATH(read_ptx(text), "no_library.txt ends too early, or is not a library");
  std::filesystem::remove(text);
}

#ifdef LIBRARY_WITH_PTX
// Each instruction of each kernel has a row in the interpreter, and each name belongs to one
// kernel.
TEST(PtxKernels, AllOfTheLibrary) {
  Kernels kernels(read_ptx(LIBRARY_WITH_PTX));
  const auto names = kernels.names();
  EXPECT_GT(names.size(), 1000u);
  for (const std::string& name : names) EXPECT_FALSE(kernels.find(name).code.empty()) << name;
}
#endif

}  // namespace
}  // namespace cuda_on_cpu_test
