// What is no YAML file, or none that anybody means, is one error.
#include "phi/yaml/yaml_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/error_matchers.h"

namespace phi::yaml {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(YamlText, OneDocumentIsRead) {
  EXPECT_EQ(load("a: [1, 2]", "f.yaml")["a"][1].as<int>(), 2);
  EXPECT_TRUE(load("", "f.yaml").IsNull());
}

TEST(YamlText, DepthHasALimit) {
  EXPECT_NO_THROW(load(repeated("[", 64) + repeated("]", 64), "f.yaml"));
  const auto too_deep = ThrowsError(ErrorCode::kInvalidArgument, "nested more than 64 deep");
  EXPECT_THAT([] { load(repeated("[", 65) + repeated("]", 65), "f.yaml"); }, too_deep);
  EXPECT_THAT([] { load(repeated("[", 100'000), "f.yaml"); }, too_deep);
  EXPECT_THAT([] { load(repeated("- ", 70) + "x", "f.yaml"); }, too_deep);
  EXPECT_THAT([] { load(repeated("{a: ", 70), "f.yaml"); }, too_deep);
}

TEST(YamlText, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT([] { load("a: 1\nb: {", "f.yaml"); },
              ThrowsError(ErrorCode::kInvalidArgument, "f.yaml:2: not valid YAML"));
  EXPECT_THAT([] { load("a: 1\n---\nb: 1", "f.yaml"); },
              ThrowsError(ErrorCode::kInvalidArgument, "f.yaml:2: one document per file"));
}

TEST(YamlText, OnlyOrdinaryFilesAreRead) {
  const auto fails = [](const std::string& path, const std::string& words) {
    EXPECT_THAT([&] { read_text(path, "job file"); },
                ThrowsError(ErrorCode::kNotFound, "cannot read job file '" + path + "': " + words));
  };
  const std::string folder = ::testing::TempDir() + "/yaml_text_test";
  std::filesystem::create_directories(folder);
  fails("/dev/zero", "it is no ordinary file");
  fails(folder, "it is a folder");
  fails(folder + "/none", "No such file");
  fails(folder + "/none/below", "No such file");
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fails(pipe, "it is no ordinary file");
  const std::string large = folder + "/large";
  std::ofstream(large) << "a: 1";
  EXPECT_EQ(read_text(large, "job file"), "a: 1");
  std::filesystem::resize_file(large, (16 << 20) + 1);
  fails(large, "it has 16777217 bytes");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace phi::yaml
