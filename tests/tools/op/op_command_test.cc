// The op command: recorded calls that agree, that differ, that are refused, and files that are
// none.
#include "tools/op_command.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "distributed/checkpoint/format/safetensors.h"
#include "tests/support/run_command.h"

namespace phi::op_tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Printed = phi::testing::Printed;

Printed run(std::vector<std::string> words) {
  words.insert(words.begin(), "op");
  return phi::testing::run_command(
      [](int argc, char** argv) { return op_command(argc, argv, [](const char*) {}); },
      std::move(words));
}

// A folder with the tensors x [1,2,3], y [4,5,6], sum [5,7,9] and one [1], and a file of calls of
// add.
class OpCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string write_cases(const std::string& cases, const std::string& op = "add") {
    write_tensors(op + ".safetensors");
    return write(
        op + ".yaml",
        "op: " + op + "\nargs: \"Tensor x, Tensor y\"\noutput: \"Tensor(out)\"\ncases:\n" + cases);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  void write_tensors(const std::string& name) {
    distributed::checkpoint::SafetensorsHeader header;
    std::vector<float> values;
    const std::vector<std::pair<std::string, std::vector<float>>> tensors = {
        {"x", {1, 2, 3}}, {"y", {4, 5, 6}}, {"sum", {5, 7, 9}}, {"one", {1, 1, 1}}};
    for (const auto& [tensor, numbers] : tensors) {
      header.tensors.push_back({tensor, {Dims{3}, DataType::FLOAT32}, 0, 0});
    }
    header.lay_out();
    for (const auto& entry : header.tensors) {
      for (const auto& [tensor, numbers] : tensors) {
        if (tensor == entry.name) values.insert(values.end(), numbers.begin(), numbers.end());
      }
    }
    std::ofstream file(folder_ / name, std::ios::binary);
    file << header.encode();
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  }

  std::filesystem::path folder_;
};

constexpr const char* kRight =
    "- {id: 0, in: {x: x, y: y}, attrs: {}, out: {out: sum}, grad_of_out: {out: one}, grad: {x: "
    "one, y: "
    "one}}\n";

TEST_F(OpCommand, CountsWhatAgrees) {
  const Printed r = run({"--cases=" + write_cases(kRight)});
  EXPECT_EQ(r.out, "1 passed, 0 failed\n") << r.err;
  EXPECT_EQ(r.status, 0);
}

TEST_F(OpCommand, SaysWhatDiffers) {
  const Printed r =
      run({write_cases("- {id: 7, in: {x: x, y: y}, attrs: {}, out: {out: y}}\n"
                       "- {id: 8, in: {x: x, y: y}, attrs: {}, out: {out: sum}, "
                       "grad_of_out: {out: one}, grad: {x: y, y: one}}\n")});
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.out,
              AllOf(HasSubstr("FAIL add case 7"), HasSubstr("add(x: f32[3], y: f32[3])"),
                    HasSubstr("out: expected f32[3] [4, 5, 6], got f32[3] [5, 7, 9]"),
                    HasSubstr("gradient of x: expected f32[3] [4, 5, 6], got f32[3] [1, 1, 1]"),
                    HasSubstr("0 passed, 2 failed")));
}

TEST_F(OpCommand, RefusedCallsMustBeRefused) {
  const Printed r =
      run({write_cases("- {id: 0, in: {x: x, y: y}, attrs: {}, refused: call}\n"
                       "- {id: 2, in: {x: x, y: y}, attrs: {}, refused: dtype}\n"
                       "- {id: 4, in: {x: x, y: null}, attrs: {}, refused: call}\n")});
  EXPECT_THAT(r.out,
              AllOf(HasSubstr("FAIL add case 0"), HasSubstr("expected an error, got a result"),
                    HasSubstr("2 passed, 1 failed")));
}

TEST_F(OpCommand, AnswersOnAMeshAreTheSame) {
  const std::string cases = write_cases(kRight);
  EXPECT_EQ(run({"--cases=" + cases, "--mesh=2x2", "--draws=9"}).out, "1 passed, 0 failed\n");
  EXPECT_THAT(
      run({write_cases("- {id: 7, in: {x: x, y: y}, attrs: {}, out: {out: y}}\n"), "--mesh=2"}).out,
      AllOf(HasSubstr("on "), HasSubstr("rank"), HasSubstr("0 passed, 1 failed")));
}

// What they answer there is a test of the program with GPUs (tests/ops).
TEST_F(OpCommand, GpusAreAskedFor) {
  const std::string cases = write_cases(kRight);
  EXPECT_THAT(run({"--cases=" + cases, "--place=tpu"}).err,
              HasSubstr("--place is 'tpu'; use cpu or gpu."));
  EXPECT_THAT(run({"--list", "--place=gpu"}).err, HasSubstr("--place requires --cases"));
  EXPECT_EQ(run({"--cases=" + cases, "--place=cpu"}).out, "1 passed, 0 failed\n");
}

TEST_F(OpCommand, OperatorsThatAreNotThereFailWhole) {
  const Printed r = run({write_cases(kRight, "no_such_operator")});
  EXPECT_THAT(r.out, AllOf(HasSubstr("the operator is unknown"), HasSubstr("0 passed, 1 failed")));
}

TEST_F(OpCommand, DifferencesAreSetAside) {
  const std::string cases = write_cases("- {id: 7, in: {x: x, y: y}, attrs: {}, out: {out: y}}\n");
  const std::string listed = write("listed", "- {op: add, ids: [7], why: it is wrong}\n");
  EXPECT_EQ(run({cases, "--differences=" + listed}).out,
            "listed differences: 1 differ, 0 agree\n0 passed, 0 failed\n");
  EXPECT_THAT(run({cases, "--differences=" + write("bare", "- {op: add, ids: [7]}\n")}).err,
              HasSubstr("the key 'why' is missing"));
  EXPECT_THAT(
      run({cases, "--differences=" + write("empty", "- {op: add, ids: [7], why: ''}\n")}).err,
      HasSubstr("a difference needs a reason"));
}

// Tensors 0.x [1], 0.y [2], 0.out.out [3], 1.inputs.0 [1], 1.inputs.1 [2], 1.out.out
// [3], 2.dout.out [2].
std::string write_record_tensors(const std::string& path) {
  const std::vector<std::pair<std::string, float>> tensors = {
      {"0.x", 1},        {"0.y", 2},       {"0.out.out", 3}, {"1.inputs.0", 1},
      {"1.inputs.1", 2}, {"1.out.out", 3}, {"2.dout.out", 2}};
  distributed::checkpoint::SafetensorsHeader header;
  for (const auto& [name, value] : tensors) {
    header.tensors.push_back({name, {Dims{1}, DataType::FLOAT32}, 0, 0});
  }
  header.lay_out();
  std::ofstream file(path, std::ios::binary);
  file << header.encode();
  for (const auto& entry : header.tensors) {
    for (const auto& [name, value] : tensors) {
      if (name == entry.name) file.write(reinterpret_cast<const char*>(&value), sizeof(value));
    }
  }
  return path;
}

TEST_F(OpCommand, RecordsNameTensorsInShort) {
  const std::string head = "  args: \"Tensor x, Tensor y\"\n  output: \"Tensor(out)\"\n  cases:\n";
  write_record_tensors(path("add.safetensors"));
  const std::string cases = "  - {id: 0, in: [x, y], out: [out]}\n";
  EXPECT_EQ(run({write("add.yaml", "op: add\nrecorded:\n" + head + cases)}).out,
            "1 passed, 0 failed\n");
  // A list of tensors.
  write_record_tensors(path("add_n.safetensors"));
  EXPECT_EQ(run({write("add_n.yaml",
                       "op: add_n\nrecorded:\n  args: \"Tensor[] inputs\"\n  output: "
                       "\"Tensor(out)\"\n  cases:\n  - {id: 1, in: [inputs], out: [out]}\n")})
                .out,
            "1 passed, 0 failed\n");
  // Gradients of outputs are those that the file has.
  EXPECT_THAT(run({write("add.yaml", "op: add\nrecorded:\n" + head +
                                         "  - {id: 2, in: {x: 0.x, y: 0.y}, out: {out: 0.out.out}, "
                                         "grad: {x: 0.x}}\n")})
                  .out,
              HasSubstr("gradient of x: expected f32[1] [1], got f32[1] [2]"));
  const Printed wrong = run(
      {write("add.yaml", "op: add\nrecorded:\n" + head + "  - {id: 0, in: [x], out: [out]}\n")});
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("FAIL add case 0"), HasSubstr("add.yaml:6")));
  EXPECT_THAT(
      run({write("add.yaml", "op: add\nrecorded:\n" + head + "  - {id: 0, in: [z]}\n")}).err,
      HasSubstr("add.yaml:6: '" + path("add.safetensors") + "' has no tensor '0.z'"));
}

TEST_F(OpCommand, RecordsHaveTheirDifferences) {
  write_record_tensors(path("add.safetensors"));
  const std::string head =
      "recorded:\n  args: \"Tensor x, Tensor y\"\n  output: \"Tensor(out)\"\n  cases:\n";
  const std::string map = "  - {id: 0, in: {x: 0.x, y: 0.x}, out: {out: 0.out.out}}\n";
  const std::string differs = "op: add\ndifferences:\n- {ids: [0], when: always, why: it is 2}\n";
  EXPECT_EQ(run({write("add.yaml", differs + head + map)}).out,
            "listed differences: 1 differ, 0 agree\n0 passed, 0 failed\n");
  EXPECT_THAT(run({write("add.yaml", "op: add\ndifferences:\n- {ids: [0], when: always}\n")}).err,
              HasSubstr("add.yaml:3: the key 'why' is missing"));
  EXPECT_EQ(run({write("add.yaml", "op: add\n")}).out, "0 passed, 0 failed\n");
  EXPECT_THAT(run({write("add.yaml", "op: add\nrefusal: []\n")}).err,
              HasSubstr("add.yaml:2: the key 'refusal' is not read here"));
}

TEST_F(OpCommand, FilesThatAreNoneAreErrors) {
  const struct {
    const char* cases;
    const char* message;
  } rows[] = {
      {"- {id: 0, in: {x: z}, attrs: {}}\n", "has no tensor 'z'"},
      {"- {id: 0, in: x, attrs: {}}\n", "a map of tensors, or a list of names is expected"},
      {"- {id: 0, in: [x], attrs: {}}\n", "has no tensor '0.x'"},
      {"- {id: 0, in: {x: x}, attrs: {}, refused: maybe}\n", "refused must be call or dtype"},
      {"- {id: 0, in: {x: x}, attrs: {}, answer: 3}\n", "the key 'answer' is not read here"},
      {"- {id: 0, in: {x: {}}, attrs: {}}\n", "the name of a tensor is no text"},
  };
  for (const auto& row : rows) {
    const Printed r = run({write_cases(row.cases)});
    EXPECT_EQ(r.status, 1);
    EXPECT_THAT(r.err, AllOf(HasSubstr("add.yaml:5"), HasSubstr(row.message))) << row.cases;
  }
  EXPECT_THAT(run({"--cases=" + path("nothing.yaml")}).err, HasSubstr("nothing.yaml"));
}

TEST_F(OpCommand, AttributesAreRead) {
  const std::string cases =
      write_cases("- {id: 0, in: {x: x}, attrs: {scale: two}, out: {out: y}}\n", "scale");
  EXPECT_THAT(run({cases}).err, HasSubstr("attribute 'scale': 'two' is no number"));
  write_cases("- {id: 0, in: {x: x}, attrs: {scale: [1, 2]}, out: {out: y}}\n", "scale");
  EXPECT_THAT(run({cases}).err, HasSubstr("one value is expected, not a list or map"));
  write_cases(
      "- {id: 0, in: {x: x}, attrs: {scale: 1, bias: 3, bias_after_scale: true}, out: {out: y}}\n",
      "scale");
  EXPECT_EQ(run({cases}).out, "1 passed, 0 failed\n");
}

TEST_F(OpCommand, ListsOperators) {
  EXPECT_THAT(run({"--list"}).out,
              HasSubstr("matmul(x, y; transpose_x=false, transpose_y=false) -> out\n"));
  EXPECT_THAT(run({"--document"}).out, HasSubstr("torch.matmul"));
}

TEST_F(OpCommand, WhatIsNotReadIsAnError) {
  const struct {
    std::vector<std::string> words;
    const char* message;
  } rows[] = {{{}, "pass --list, --document, or --cases"},
              {{"--list", "--mesh=2"}, "--mesh requires --cases"},
              {{"--list", "--differences=d"}, "--differences requires --cases"},
              {{"x.yaml", "--draws=0"}, "--draws is 0; 1 is the least."},
              {{"--case=x"}, "did you mean 'cases'"}};
  for (const auto& row : rows) {
    const Printed r = run(row.words);
    EXPECT_EQ(r.status, 2) << row.message;
    EXPECT_THAT(r.err, HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace phi::op_tool
