// The spmd tool: reading of case files with errors that point, verdicts, and the ask form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "phi/common/errors.h"
#include "tools/cli/command_line.h"
#include "tools/spmd/ask.h"
#include "tools/spmd/case.h"
#include "tools/spmd/check.h"

namespace phi::spmd_tool {
namespace {

using ::testing::HasSubstr;

class TempFile {
 public:
  explicit TempFile(const std::string& text) {
    static int count = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("spmd_tool_test_" + std::to_string(::getpid()) + "_" + std::to_string(count++)))
                .string() +
            ".yaml";
    std::ofstream(path_) << text;
  }
  ~TempFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

constexpr const char* kRelu =
    "rule: relu\n"
    "cases:\n"
    "- mesh: {shape: [2]}\n"
    "  inputs: [{shape: [4], dims_mapping: [0], partial: []}]\n"
    "  expect: {inputs: [{dims_mapping: [0]}], outputs: [{dims_mapping: [0]}]}\n";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kRelu;
  return text.replace(text.find(from), from.size(), to);
}

// What check_cases prints, and its result.
std::pair<std::string, int> check(const std::string& text, const std::string& differences = "") {
  const TempFile file(text);
  std::FILE* out = std::tmpfile();
  const int failed = check_cases({file.path()}, differences, out);
  std::rewind(out);
  std::string printed(1 << 16, '\0');
  printed.resize(std::fread(printed.data(), 1, printed.size(), out));
  std::fclose(out);
  return {printed, failed};
}

struct Malformed {
  const char* from;
  const char* to;
  const char* message;
};
class MalformedCases : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedCases, NameLineAndKey) {
  const TempFile file(replaced(GetParam().from, GetParam().to));
  EXPECT_THAT(message_of([&] { load_cases(file.path()); }),
              HasSubstr(file.path() + ":" + GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, MalformedCases,
    ::testing::Values(
        Malformed{"relu", "rleu", "1: there is no rule 'rleu'; the nearest are elu, relu"},
        Malformed{"rule: relu\n", "", "1: the key 'rule' is missing"},
        Malformed{"{shape: [2]}", "{}", "3: the key 'shape' is missing"},
        Malformed{"shape: [4]", "shape: [x]", "4: shape is no int"},
        Malformed{"dims_mapping: [0], partial", "dims_mapping: 0, partial",
                  "4: dims_mapping is no list"},
        Malformed{"  expect", "  direction: sideways\n  expect", "5: direction is 'sideways'"},
        Malformed{"  expect", "  direction: grad\n  expect",
                  "3: the rule 'relu' has no gradient rule"},
        Malformed{"  expect", "  attrs: {axis: 1}\n  expect",
                  "5: the rule has no attribute 'axis'"},
        Malformed{"  expect", "  expects", "3: the key 'expect' is missing"},
        // Keys that nothing reads.
        Malformed{"rule: relu\n", "rule: relu\nrules: x\n",
                  "2: nothing reads the key 'rules' here, did you mean 'rule'?"},
        Malformed{"shape: [2]", "shape: [2], dims: [dp]",
                  "3: nothing reads the key 'dims' here; the keys are shape."},
        Malformed{"partial", "partail", "4: nothing reads the key 'partail' here, did you mean"},
        Malformed{"partial: []", "partial: [0], partial_type: [sum, avg]",
                  "4: partial has 1 entries, partial_type 2; give one each."},
        Malformed{"partial: []", "partial: [0], partial_type: [som]", "4: "},
        Malformed{"partial: []", "partial: [0], partial_type: sum", "4: partial_type is no list"},
        Malformed{"{shape: [4], dims_mapping: [0], partial: []}",
                  "{list: [{shape: [4], dims_mapping: [0]}], shape: [4]}",
                  "4: nothing reads the key 'shape' here; the keys are list."},
        Malformed{"  expect", "  direktion: forward\n  expect",
                  "5: nothing reads the key 'direktion' here, did you mean 'direction'?"},
        Malformed{"expect: {inputs: [{dims_mapping", "expect: {inputs: [{shape: [4], dims_mapping",
                  "5: nothing reads the key 'shape' here"},
        Malformed{"expect: {", "expect: {reason: x, ", "5: nothing reads the key 'reason' here"},
        Malformed{"  expect", "  error: true\n  expect", "6: nothing reads the key 'expect' here"},
        // A rule is asked from its inputs unless the direction is backward.
        Malformed{"  expect", "  outputs: [{shape: [4], dims_mapping: [0]}]\n  expect",
                  "5: nothing reads the key 'outputs' here"},
        Malformed{"  expect", "  inputs: []\n  expect", "5: 'inputs' is there twice."},
        Malformed{"[{shape", "[{{shape", "4: "}));

TEST(SpmdTool, MissingFileIsSaid) {
  EXPECT_THAT(message_of([] { load_cases("/nowhere.yaml"); }),
              HasSubstr("/nowhere.yaml: the file cannot be read"));
}

TEST(SpmdTool, CountsAgreement) {
  EXPECT_EQ(check(kRelu), std::pair(std::string("1 passed, 0 failed\n"), 0));
}

TEST(SpmdTool, PrintsWhatDiffers) {
  const auto [printed, failed] =
      check(replaced("outputs: [{dims_mapping: [0]", "outputs: [{dims_mapping: [-1]"));
  EXPECT_EQ(failed, 1);
  EXPECT_THAT(printed, HasSubstr("FAIL relu case 0"));
  EXPECT_THAT(printed, HasSubstr("question  relu --mesh=2 --in='4[0]'"));
  EXPECT_THAT(printed, HasSubstr("expected  [0] -> [_]"));
  EXPECT_THAT(printed, HasSubstr("actual    [0] -> [0]"));
  EXPECT_THAT(printed, HasSubstr("0 passed, 1 failed\n"));
}

TEST(SpmdTool, HowAPartialReducesIsCompared) {
  const std::string question =
      "rule: reduce_base\n"
      "cases:\n"
      "- mesh: {shape: [2]}\n"
      "  inputs: [{shape: [4], dims_mapping: [0]}]\n"
      "  attrs: {reduce_type: 1}\n"
      "  expect: {inputs: [{dims_mapping: [0]}], outputs: [{dims_mapping: [], partial: [0], ";
  EXPECT_EQ(check(question + "partial_type: [max]}]}").second, 0);
  const auto [printed, failed] = check(question + "partial_type: [min]}]}");
  EXPECT_EQ(failed, 1);
  EXPECT_THAT(printed, HasSubstr("expected  [0] -> [p0(min)]"));
  EXPECT_THAT(printed, HasSubstr("actual    [0] -> [p0(max)]"));
}

TEST(SpmdTool, SuspectCasesAreCountedApart) {
  const auto [printed, failed] = check(std::string(kRelu) + "  suspect: true\n");
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(printed, "suspect: 1 agree, 0 differ\n0 passed, 0 failed\n");
}

TEST(SpmdTool, ListedDifferencesAreCountedApart) {
  const TempFile list("- {rule: relu, case: 0, reason: on purpose}\n");
  EXPECT_THAT(check(kRelu, list.path()).first, HasSubstr("listed differences: 1 agree, 0 differ"));
}

TEST(SpmdTool, AnEntryOfDifferencesHasNoOtherKeys) {
  const TempFile more("- {rule: relu, case: 0, reason: on purpose, until: then}\n");
  EXPECT_THAT(message_of([&] { check(kRelu, more.path()); }),
              HasSubstr(more.path() + ":1: nothing reads the key 'until' here"));
  const TempFile wrong("- {rule: relu, case: first, reason: on purpose}\n");
  EXPECT_THAT(message_of([&] { check(kRelu, wrong.path()); }),
              HasSubstr(wrong.path() + ":1: case is no int."));
  const TempFile less("- {rule: relu, case: 0}\n");
  EXPECT_THAT(message_of([&] { check(kRelu, less.path()); }),
              HasSubstr(less.path() + ":1: the key 'reason' is missing"));
}

TEST(SpmdTool, MappingOfTheWrongLengthIsRefused) {
  EXPECT_THAT(check(replaced("dims_mapping: [0], partial", "dims_mapping: [0, -1], partial")).first,
              HasSubstr("has a dims_mapping of 2 entries"));
}

TEST(SpmdTool, AskAnswersReadably) {
  const std::string text = ask({"matmul", "2x3", {"64x32[0,_]", "32x48[_,1]"}, {}, {}, false});
  EXPECT_THAT(text, HasSubstr("needs  x            [0,_]"));
  EXPECT_THAT(text, HasSubstr("gives  output 0     [0,1]"));
}

TEST(SpmdTool, AskReadsCoShardPartialAndLists) {
  EXPECT_THAT(ask({"relu", "2x3", {"64[0+1]"}, {}, {}, false}), HasSubstr("[0+1]"));
  EXPECT_THAT(ask({"add_n", "2", {"6[_,p0] 6[_,p0]"}, {}, {}, false}), HasSubstr("P(sum)"));
}

struct BadAsk {
  Ask question;
  const char* message;
};
class BadAsks : public ::testing::TestWithParam<BadAsk> {};

TEST_P(BadAsks, AreExplained) {
  EXPECT_THAT(message_of([] { ask(GetParam().question); }), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, BadAsks,
    ::testing::Values(
        BadAsk{{"relu", "", {"4[0]"}, {}, {}, false}, "which mesh?"},
        BadAsk{{"relu", "2", {"4"}, {}, {}, false}, "is not of the form"},
        BadAsk{{"relu", "2", {"4x4[0]"}, {}, {}, false}, "has 2 extents and 1 entries in brackets"},
        BadAsk{{"relu", "2y", {"4[0]"}, {}, {}, false}, "is no number"},
        BadAsk{{"relu", "2", {"4[3]"}, {}, {}, false}, "mesh dim 3 does not exist"},
        BadAsk{{"softmax", "2", {"4[0]"}, {}, {"axes=0"}, false},
               "the rule has no attribute 'axes'"},
        BadAsk{{"add", "2", {"4[0]"}, {}, {}, false}, "1 inputs are given, the rule takes 2: x, y"},
        BadAsk{{"relu", "2", {"4[0]"}, {}, {"a=1"}, false},
               "the rule has no attribute 'a'; it takes none"},
        BadAsk{{"softmax", "2", {"4[0]"}, {}, {"axis"}, false},
               "--attr 'axis' is not of the form name=value"},
        BadAsk{{"sum", "2", {"4[0]"}, {}, {"keep_dim=2"}, false},
               "attribute keep_dim is '2', expected true or false"},
        BadAsk{{"reduce_base", "2", {"4[0]"}, {}, {"reduce_type=7"}, false},
               "reduce_type is 7; use 0 (sum) to 6 (all)."}));

}  // namespace
}  // namespace phi::spmd_tool
