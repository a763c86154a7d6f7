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
#include "tools/spmd/case.h"
#include "tools/spmd/check.h"
#include "tools/spmd/infer.h"

namespace phi::spmd_tool {
namespace {

using ::testing::AllOf;
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

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "spmd_tool_test_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What check_cases prints, and its result.
std::pair<std::string, int> printed_by(const std::vector<std::string>& paths,
                                       const std::string& differences = "") {
  std::FILE* out = std::tmpfile();
  const int failed = check_cases(paths, differences, out);
  std::rewind(out);
  std::string printed(1 << 16, '\0');
  printed.resize(std::fread(printed.data(), 1, printed.size(), out));
  std::fclose(out);
  return {printed, failed};
}
std::pair<std::string, int> check(const std::string& text, const std::string& differences = "") {
  const TempFile file(text);
  return printed_by({file.path()}, differences);
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
        Malformed{"relu", "rellu", "1: there is no recorded rule 'rellu', did you mean 'relu'?"},
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
                  "2: the key 'rules' is not read here, did you mean 'rule'?"},
        Malformed{"shape: [2]", "shape: [2], dims: [dp]",
                  "3: the key 'dims' is not read here; the keys are shape."},
        Malformed{"partial", "partail", "4: the key 'partail' is not read here, did you mean"},
        Malformed{"partial: []", "partial: [0], partial_type: [sum, avg]",
                  "4: partial has 1 entries, partial_type 2; write one each."},
        Malformed{"partial: []", "partial: [0], partial_type: [som]", "4: "},
        Malformed{"partial: []", "partial: [0], partial_type: sum", "4: partial_type is no list"},
        Malformed{"{shape: [4], dims_mapping: [0], partial: []}",
                  "{list: [{shape: [4], dims_mapping: [0]}], shape: [4]}",
                  "4: the key 'shape' is not read here; the keys are list."},
        Malformed{"  expect", "  direktion: forward\n  expect",
                  "5: the key 'direktion' is not read here, did you mean 'direction'?"},
        Malformed{"expect: {inputs: [{dims_mapping", "expect: {inputs: [{shape: [4], dims_mapping",
                  "5: the key 'shape' is not read here"},
        Malformed{"expect: {", "expect: {reason: x, ", "5: the key 'reason' is not read here"},
        Malformed{"  expect", "  error: true\n  expect", "6: the key 'expect' is not read here"},
        // A rule infers from its inputs unless the direction is backward.
        Malformed{"  expect", "  outputs: [{shape: [4], dims_mapping: [0]}]\n  expect",
                  "5: the key 'outputs' is not read here"},
        Malformed{"  expect", "  inputs: []\n  expect", "5: 'inputs' is set twice."},
        Malformed{"[{shape", "[{{shape", "4: "}));

// ---- cases as lines, and records ----

std::string lines_of(const std::string& rule, const std::string& line) {
  return "rule: " + rule + "\ncases:\n- " + line + "\n";
}

TEST(CaseLines, SayWhatMapsSay) {
  const struct {
    const char* rule;
    const char* line;
    const char* map;
  } rows[] = {
      {"matmul", "2x4 transpose_y=true 64x32[0,1] 48x32[1,_] = [0,_] [1,_] -> [0,1]",
       "{mesh: {shape: [2, 4]}, attrs: {transpose_y: true}, inputs: [{shape: [64, 32], "
       "dims_mapping: [0, 1]}, {shape: [48, 32], dims_mapping: [1, -1]}], expect: {inputs: "
       "[{dims_mapping: [0, -1]}, {dims_mapping: [1, -1]}], outputs: [{dims_mapping: [0, 1]}]}}"},
      {"concat", "2 axis=1 (4x3[0,_] 4x5[_,_,p0:max]) = [0,_] [0,_] -> [0,_]",
       "{mesh: {shape: [2]}, attrs: {axis: 1}, inputs: [{list: [{shape: [4, 3], dims_mapping: [0, "
       "-1]}, {shape: [4, 5], dims_mapping: [-1, -1], partial: [0], partial_type: [max]}]}], "
       "expect: {inputs: [{dims_mapping: [0, -1]}, {dims_mapping: [0, -1]}], outputs: "
       "[{dims_mapping: [0, -1]}]}}"},
      {"relu", "backward 2x2 8[1+0] / 8[1+0] -> [1+0]",
       "{direction: backward, mesh: {shape: [2, 2]}, inputs: [{shape: [8], dims_mapping: [[1, "
       "0]]}], outputs: [{shape: [8], dims_mapping: [[1, 0]]}], expect: {inputs: [{dims_mapping: "
       "[[1, 0]]}], outputs: [{dims_mapping: [[1, 0]]}]}}"},
      {"gelu", "grad 2 8[0] 8[0] -> [0]",
       "{direction: grad, mesh: {shape: [2]}, inputs: [{shape: [8], dims_mapping: [0]}, {shape: "
       "[8], dims_mapping: [0]}], expect: {inputs: [{dims_mapping: [0]}, {dims_mapping: [0]}], "
       "outputs: [{dims_mapping: [0]}]}}"},
      {"matmul", "2 4x3[0,_] 4x3[0,_] -> refused",
       "{mesh: {shape: [2]}, inputs: [{shape: [4, 3], dims_mapping: [0, -1]}, {shape: [4, 3], "
       "dims_mapping: [0, -1]}], error: true}"},
  };
  for (const auto& row : rows) {
    const TempFile line(lines_of(row.rule, row.line)), map(lines_of(row.rule, row.map));
    const Case a = load_cases(line.path())[0].cases[0], b = load_cases(map.path())[0].cases[0];
    const Reference& reference = find_reference(row.rule);
    EXPECT_EQ(to_text(reference, a.call), to_text(reference, b.call));
    EXPECT_EQ(a.call.direction, b.call.direction);
    ASSERT_EQ(a.expected.has_value(), b.expected.has_value()) << row.line;
    if (a.expected) {
      EXPECT_EQ(to_text(*a.expected), to_text(*b.expected));
    }
    EXPECT_TRUE(run_case(reference, a).agrees) << row.line << run_case(reference, a).actual;
  }
}

TEST(CaseLines, NameFileAndLineOfWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"2 4[0]", "3: '2 4[0]' has no result"},
      {"2 4 -> [0]", "3: '4' is not of the form 64x32[0,_]"},
      {"two 4[0] -> [0]", "3: 'two' in 'two' is no number"},
      {"x 4[0] -> [0]", "3: 'x' is no mesh such as 2x4"},
      {"2 4[q] -> [0]", "3: 'q' in '4[q]' is no number"},
      {"2 (4[0] -> [0]", "3: '(4[0]' has a list without its ')'"},
      {"2 axis=1 4[0] -> [0]", "3: the rule has no attribute 'axis'"},
      {"backward 2 4[0] -> [0]", "3: the outputs are missing; write them behind '/'"},
      {"2 4[0] / 4[0] -> [0]", "3: only a backward case has outputs behind '/'"},
      {"grad 2 4[0] -> [0]", "3: the rule 'relu' has no gradient rule"},
      {"{case: '2 4[0] -> [0]', reason: x}", "3: the key 'differs' is missing"},
      {"{case: '2 4[0] -> [0]', differs: ''}", "3: a difference needs a reason"},
      {"{case: '2 4[0] -> [0]', differs: x, why: y}", "3: the key 'why' is not read here"},
  };
  for (const auto& [line, message] : rows) {
    const TempFile file(lines_of("relu", line));
    EXPECT_THAT(message_of([&] { load_cases(file.path()); }),
                HasSubstr(file.path() + ":" + message))
        << line;
  }
}

TEST(Records, AreCheckedRuleByRule) {
  const TempFolder folder;
  const auto write = [&](const std::string& text) {
    std::ofstream(folder.path() / "relu.yaml") << text;
    return printed_by({folder.path().string()});
  };
  EXPECT_EQ(write("op: relu\ncalls: []\n").first, "0 passed, 0 failed\n");
  EXPECT_EQ(write("op: relu\nrules:\n  relu:\n  - 2 4[0] -> [0]\n  exp:\n  - 2 4[_] -> [_]\n"
                  "  - {case: '2 4[0] -> [_]', differs: 'a reason'}\n")
                .first,
            "listed differences: 0 agree, 1 differ\n2 passed, 0 failed, 1 set aside\n");
  EXPECT_THAT(write("op: relu\nrules:\n  relu:\n  - 2 4[0] -> [_]\n").first,
              AllOf(HasSubstr("FAIL relu case 1"), HasSubstr("relu.yaml:4"),
                    HasSubstr("expected  [0] -> [_]")));
  EXPECT_THAT(write("op: relu\nrules:\n  rellu:\n  - 2 4[0] -> [0]\n").first,
              HasSubstr("relu.yaml:3: there is no recorded rule 'rellu'"));
  EXPECT_THAT(message_of([&] { write("op: relu\ncallz: []\n"); }),
              HasSubstr("relu.yaml:2: the key 'callz' is not read here, did you mean 'calls'"));
  EXPECT_THAT(message_of([&] { write("op: gelu\n"); }),
              HasSubstr("relu.yaml:1: op is 'gelu', and the file is named 'relu'."));
  EXPECT_THAT(message_of([&] { write("op: relu\nrules: [x]\n"); }),
              HasSubstr("relu.yaml:2: rules is no map of lists of cases."));
}

TEST(SpmdTool, MissingFileIsSaid) {
  EXPECT_THAT(message_of([] { load_cases("/nowhere.yaml"); }),
              HasSubstr("cannot read case file '/nowhere.yaml'"));
}

// Found by fuzzing: as an int64 such a number has no value.
TEST(SpmdTool, AnAxisBeyondAllIsAnError) {
  for (const std::string axis : {"92233720368547758072", "-1e30", ".nan", ".inf"}) {
    const std::string text =
        "rule: cumsum\ncases:\n- {mesh: {shape: [2]}, inputs: [{shape: [4], dims_mapping: [0]}], "
        "attrs: {axis: " +
        axis +
        ", flatten: false, exclusive: true, reverse: true}, "
        "expect: {inputs: [{dims_mapping: [-1]}], outputs: [{dims_mapping: [-1]}]}}\n";
    EXPECT_THAT(message_of([&] { check(text); }), HasSubstr("numbers of at most 2^62")) << axis;
  }
  EXPECT_THAT(message_of([] {
                infer_text({"concat", "2", {"4[0] 4[0]"}, {}, {"axis=1e30"}, false});
              }),
              HasSubstr("attribute axis is 1e+30; a rule accepts numbers of at most 2^62"));
}

TEST(SpmdTool, CountsAgreement) {
  EXPECT_EQ(check(kRelu), std::pair(std::string("1 passed, 0 failed\n"), 0));
}

TEST(SpmdTool, PrintsWhatDiffers) {
  const auto [printed, failed] =
      check(replaced("outputs: [{dims_mapping: [0]", "outputs: [{dims_mapping: [-1]"));
  EXPECT_EQ(failed, 1);
  EXPECT_THAT(printed, HasSubstr("FAIL relu case 1"));
  EXPECT_THAT(printed, HasSubstr("question  relu --mesh=2 --in='4[0]'"));
  EXPECT_THAT(printed, HasSubstr("expected  [0] -> [_]"));
  EXPECT_THAT(printed, HasSubstr("actual    [0] -> [0]"));
  EXPECT_THAT(printed, HasSubstr("0 passed, 1 failed\n"));
}

// As many entries as the tensors have dims, whatever the case expects of them.
TEST(SpmdTool, PrintsAllDimsOfWhatIsAnswered) {
  const std::string question =
      "rule: transpose\n"
      "cases:\n"
      "- mesh: {shape: [2]}\n"
      "  inputs: [{shape: [4, 6, 8], dims_mapping: [0, -1, -1]}]\n"
      "  attrs: {perm: [1, 0, 2]}\n"
      "  ";
  EXPECT_THAT(
      check(question + "expect: {inputs: [{dims_mapping: [0]}], outputs: []}\n").first,
      AllOf(HasSubstr("FAIL transpose case 1"), HasSubstr("actual    [0,_,_] -> [_,0,_]\n")));
  EXPECT_THAT(check(question + "error: true\n").first,
              HasSubstr("expected  to be rejected\n  actual    [0,_,_] -> [_,0,_]\n"));
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
  EXPECT_THAT(printed, HasSubstr("expected  [0] -> [p0:min]"));
  EXPECT_THAT(printed, HasSubstr("actual    [0] -> [p0:max]"));
}

TEST(SpmdTool, SuspectCasesAreCountedApart) {
  const auto [printed, failed] = check(std::string(kRelu) + "  suspect: true\n");
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(printed, "suspect: 1 agree, 0 differ\n0 passed, 0 failed, 1 set aside\n");
}

TEST(SpmdTool, ListedDifferencesAreCountedApart) {
  const TempFile list("- {rule: relu, case: 1, reason: on purpose}\n");
  EXPECT_THAT(check(kRelu, list.path()).first, HasSubstr("listed differences: 1 agree, 0 differ"));
}

TEST(SpmdTool, AnEntryOfDifferencesHasNoOtherKeys) {
  const TempFile more("- {rule: relu, case: 1, reason: on purpose, until: then}\n");
  EXPECT_THAT(message_of([&] { check(kRelu, more.path()); }),
              HasSubstr(more.path() + ":1: the key 'until' is not read here"));
  const TempFile wrong("- {rule: relu, case: first, reason: on purpose}\n");
  EXPECT_THAT(message_of([&] { check(kRelu, wrong.path()); }),
              HasSubstr(wrong.path() + ":1: case is no int."));
  const TempFile less("- {rule: relu, case: 1}\n");
  EXPECT_THAT(message_of([&] { check(kRelu, less.path()); }),
              HasSubstr(less.path() + ":1: the key 'reason' is missing"));
}

TEST(SpmdTool, MappingOfTheWrongLengthIsRefused) {
  EXPECT_THAT(check(replaced("dims_mapping: [0], partial", "dims_mapping: [0, -1], partial")).first,
              HasSubstr("has a dims_mapping of 2 entries"));
}

TEST(SpmdTool, AFileOfAnUnknownRuleIsOneFailureAndTheOthersAreChecked) {
  const TempFolder folder;
  std::ofstream(folder.path() / "a.yaml") << replaced("relu", "rellu");
  std::ofstream(folder.path() / "b.yaml") << kRelu;
  const auto [printed, failed] = printed_by({folder.path().string()});
  EXPECT_EQ(failed, 1);
  EXPECT_THAT(printed, HasSubstr("FAIL " + (folder.path() / "a.yaml").string() +
                                 ":1: there is no recorded rule 'rellu', did you mean 'relu'?"));
  EXPECT_THAT(printed, HasSubstr("unknown rules: 1\n1 passed, 1 failed\n"));
}

TEST(SpmdTool, AFolderStandsForItsFiles) {
  const TempFolder folder;
  std::ofstream(folder.path() / "b.yaml") << kRelu;
  std::ofstream(folder.path() / "a.yaml") << replaced("relu", "exp");
  std::ofstream(folder.path() / "notes.md") << "no cases";
  EXPECT_EQ(printed_by({folder.path().string()}),
            std::pair(std::string("2 passed, 0 failed\n"), 0));
  const TempFolder empty;
  EXPECT_THAT(message_of([&] { printed_by({empty.path().string()}); }),
              HasSubstr("the folder has no .yaml file."));
}

TEST(SpmdTool, AskAnswersReadably) {
  EXPECT_EQ(infer_text({"matmul", "2x3", {"64x32[0,_]", "32x48[_,1]"}, {}, {}, false}),
            "matmul --mesh=2x3 --in='64x32[0,_]' --in='32x48[_,1]' --attr transpose_x=false --attr "
            "transpose_y=false\n"
            "  needs  x    64x32[0,_]  [S0,R] on mesh(d0=2,d1=3)\n"
            "  needs  y    32x48[_,1]  [R,S1] on mesh(d0=2,d1=3)\n"
            "  gives  out  64x48[0,1]  [S0,S1] on mesh(d0=2,d1=3)\n");
}

TEST(SpmdTool, AskTakesEveryOperatorAndItsDefaults) {
  EXPECT_THAT(infer_text({"rms_norm", "2", {"8x16[0,_]", "16[0]"}, {}, {}, false}),
              AllOf(HasSubstr("--attr epsilon=1e-06"), HasSubstr("gives  invvar  8[0]"),
                    HasSubstr("needs  scale   16[_]")));
  // Along the last dim, not the first.
  EXPECT_THAT(infer_text({"softmax", "2", {"8x16[0,_]"}, {}, {}, false}),
              HasSubstr("gives  out  8x16[0,_]"));
  EXPECT_THAT(infer_text({"softmax", "2", {"8x16[0,_]"}, {}, {"axis=0"}, false}),
              HasSubstr("gives  out  8x16[_,_]"));
  EXPECT_THAT(infer_text({"masked_select", "2", {"8[0]", "8[0]"}, {}, {}, false}),
              AllOf(HasSubstr("--in='bool:8[0]'"), HasSubstr("gives  out   ?[_]")));
  EXPECT_THAT(infer_text({"split", "2", {"8x4[_,0]"}, {}, {"sections=3,5"}, false}),
              AllOf(HasSubstr("gives  out 0  3x4[_,0]"), HasSubstr("gives  out 1  5x4[_,0]")));
  EXPECT_THAT(infer_text({"layer_norm", "2", {"8x4[0,_]"}, {}, {}, false}),
              HasSubstr("needs  scale     absent\n"));
}

TEST(SpmdTool, AskReadsCoShardPartialDtypesAndLists) {
  EXPECT_THAT(infer_text({"relu", "2x3", {"64[0+1]"}, {}, {}, false}), HasSubstr("64[0+1]"));
  EXPECT_THAT(infer_text({"add_n", "2", {"6[_,p0] 6[_,p0]"}, {}, {}, false}),
              HasSubstr("gives  out     6[_,p0]  [P(sum)]"));
  EXPECT_THAT(infer_text({"transpose", "2", {"6x4[_,_,p0:max]"}, {}, {"perm=1,0"}, false}),
              HasSubstr("gives  out  4x6[_,_,p0:max]  [P(max)]"));
  EXPECT_THAT(infer_text({"relu", "2", {"bf16:6[0]"}, {}, {}, false}),
              HasSubstr("gives  out  bf16:6[0]"));
  EXPECT_THAT(infer_text({"full_like", "2", {"6[0]"}, {}, {"value=0.5", "dtype=i64"}, false}),
              HasSubstr("gives  out  i64:6[0]"));
}

// The spelling of autophi show and reshard, of meshes too.
TEST(SpmdTool, AskReadsPlacementsByMeshDim) {
  const std::string answer =
      infer_text({"matmul", "dp=2,tp=3", {"64x32[S0,R]", "32x48[R,S1]"}, {}, {}, false});
  EXPECT_THAT(answer, HasSubstr("gives  out  64x48[0,1]  [S0,S1] on mesh(dp=2,tp=3)\n"));
  EXPECT_THAT(infer_text({"transpose", "2x2", {"6x4[S1.1,S1]"}, {}, {"perm=1,0"}, false}),
              HasSubstr("gives  out  4x6[1+0,_]"));
  EXPECT_THAT(infer_text({"transpose", "2", {"6x4[P(max)]"}, {"4x6[R]"}, {"perm=1,0"}, false}),
              HasSubstr("needs  x    6x4[_,_]"));
}

TEST(SpmdTool, AskSaysWhatMovesAndWhatDisagrees) {
  EXPECT_THAT(infer_text({"softmax", "2", {"8x16[_,0]"}, {}, {}, false}),
              HasSubstr("needs  x    8x16[_,_]  [R] on mesh(d0=2)  given as [S1]\n"));
  const std::string answer = infer_text({"add", "2x2", {"4x4[0,_]", "4x4[1,_]"}, {}, {}, false});
  EXPECT_THAT(answer, AllOf(HasSubstr("needs  x    4x4[0,_]  [S0,R] on mesh(d0=2,d1=2)\n"),
                            HasSubstr("on mesh(d0=2,d1=2)  given as [R,S0]\n"),
                            HasSubstr("is split over mesh dim 'd0' by one tensor and over mesh dim "
                                      "'d1' by another\n")));
}

TEST(SpmdTool, AskInfersInputsFromOutputs) {
  EXPECT_THAT(infer_text({"transpose", "2", {"4x6[_,_]"}, {"6x4[0,_]"}, {"perm=1,0"}, false}),
              HasSubstr("needs  x    4x6[_,0]"));
}

TEST(SpmdTool, OnlyStrictCallersAreRefused) {
  const std::vector<std::string> disagreeing = {"4x4[0,_]", "4x4[1,_]"};
  EXPECT_THAT(infer_text({"add", "2x2", disagreeing, {}, {}, false}),
              HasSubstr("gives  out  4x4[0,_]"));
  EXPECT_THAT(message_of([&] {
                infer_text({"add", "2x2", disagreeing, {}, {}, true});
              }),
              HasSubstr("is split over mesh dim 'd0' by one tensor and over mesh dim 'd1' by "
                        "another; without --strict a policy decides."));
  EXPECT_THAT(infer_text({"nonzero", "2x2", {"4x4[0,1]"}, {}, {}, true}),
              HasSubstr("needs  condition"));
}

TEST(SpmdTool, ListSaysWhatAnOperatorTakes) {
  EXPECT_THAT(list(), HasSubstr("\nmatmul (x, y) transpose_x=false transpose_y=false: "
                                "MatmulInferSpmd\n"));
  EXPECT_THAT(list(), HasSubstr("\nlayer_norm (x, scale?, bias?) epsilon=1e-05"));
  EXPECT_THAT(list(), HasSubstr("\nconcat (x[]) axis=0: ConcatInferSpmd\n"));
  EXPECT_THAT(list(), HasSubstr("\nmasked_select (x, mask): replicated\n"));
  EXPECT_THAT(list(), HasSubstr("\nargmax (x) axis=<number> "));
}

struct BadInferRequest {
  InferRequest request;
  const char* message;
};
class BadInferRequests : public ::testing::TestWithParam<BadInferRequest> {};

TEST_P(BadInferRequests, AreExplained) {
  EXPECT_THAT(message_of([] { infer_text(GetParam().request); }), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, BadInferRequests,
    ::testing::Values(
        BadInferRequest{{"relu", "", {"4[0]"}, {}, {}, false},
                        "--mesh is missing; pass --mesh=2x3"},
        BadInferRequest{{"relu", "2", {"4"}, {}, {}, false}, "is not of the form"},
        BadInferRequest{{"relu", "2", {"4x4[0]"}, {}, {}, false},
                        "has 2 extents and 1 entries in brackets"},
        BadInferRequest{{"relu", "2y", {"4[0]"}, {}, {}, false}, "is no number"},
        BadInferRequest{{"relu", "2", {"4[3]"}, {}, {}, false}, "mesh dim 3 does not exist"},
        BadInferRequest{{"relu", "2", {"4[4294967296]"}, {}, {}, false}, "does not exist"},
        BadInferRequest{{"relu", "2", {"4[S0,R]"}, {}, {}, false}, "has 2 placements, but"},
        BadInferRequest{
            {"relu", "2", {"4[Q]"}, {}, {}, false},
            "'Q' in the tensor '4[Q]' is no placement; write R, S0, S0.1, P(sum), P(avg), "
            "P(max), ..., or for each tensor dim the mesh dim that splits it, as in [0,_]."},
        BadInferRequest{{"relu", "2", {"4[S1]"}, {}, {}, false}, "S1"},
        BadInferRequest{{"relu", "2", {"4[0,p0:most]"}, {}, {}, false}, "most"},
        BadInferRequest{{"relu", "2", {"f31:4[0]"}, {}, {}, false}, "f31"},
        BadInferRequest{{"matmull", "2", {"4[0]"}, {}, {}, false},
                        "there is no operator 'matmull'; the nearest are matmul"},
        BadInferRequest{{"matmul_v2", "2", {"4[0]"}, {}, {}, false},
                        "there is no operator 'matmul_v2'"},
        BadInferRequest{{"softmax", "2", {"4[0]"}, {}, {"axes=0"}, false},
                        "softmax has no attribute 'axes', did you mean 'axis'?"},
        BadInferRequest{{"argmax", "2", {"4[0]"}, {}, {}, false},
                        "the attribute 'axis' of argmax has no default; pass it."},
        BadInferRequest{{"add", "2", {"4[0]"}, {}, {}, false},
                        "1 inputs are passed, add takes 2: x, y"},
        BadInferRequest{{"relu", "2", {"4[0]"}, {}, {"a=1"}, false},
                        "relu has no attribute 'a'; it has no attributes"},
        BadInferRequest{{"softmax", "2", {"4[0]"}, {}, {"axis"}, false},
                        "--attr 'axis' is not of the form name=value"},
        BadInferRequest{{"sum", "2", {"4[0]"}, {}, {"keepdim=2"}, false},
                        "attribute keepdim is '2', expected true or false"},
        BadInferRequest{{"scale", "2", {"4[0]"}, {}, {"scale=2x"}, false},
                        "'2x' in attribute scale"},
        BadInferRequest{{"matmul", "2", {"4x4[0,_]", "5x4[_,_]"}, {}, {}, false},
                        "x is f32[4,4] and y is f32[5,4]"},
        BadInferRequest{{"add", "2", {"4[0]", "5[_]"}, {}, {}, false},
                        "x has shape [4] and y has shape [5]"},
        BadInferRequest{{"transpose", "2", {"4x6[_,_]"}, {"4x6[0,_]"}, {"perm=1,0"}, false},
                        "output 0 is passed as [4,6], but transpose returns [6,4]"}));

TEST(SpmdTool, TheReferencesOwnFormsAreChecked) {
  EXPECT_THAT(check("rule: reduce_base\n"
                    "cases:\n"
                    "- mesh: {shape: [2]}\n"
                    "  inputs: [{shape: [4], dims_mapping: [0]}]\n"
                    "  attrs: {reduce_type: 7}\n"
                    "  expect: {inputs: [{dims_mapping: [0]}], outputs: [{dims_mapping: []}]}\n")
                  .first,
              HasSubstr("reduce_type is 7; use 0 (sum) to 6 (all)."));
}

std::string checked(const std::string& rule, const std::string& inputs, const std::string& more) {
  return check("rule: " + rule + "\ncases:\n- mesh: {shape: [2]}\n  direction: grad\n  inputs: [" +
               inputs + "]\n" + more + "  expect: {inputs: [], outputs: []}\n")
      .first;
}

TEST(SpmdTool, TheReferencesGradientsSayWhatTheyCannotTake) {
  const std::string split = "{shape: [4, 4], dims_mapping: [0, -1]}";
  const std::string whole = "{shape: [4, 4], dims_mapping: [-1, -1]}";
  EXPECT_THAT(checked("argsort", whole + ", " + split + ", " + whole,
                      "  attrs: {axis: 1, descending: false, stable: false}\n"),
              HasSubstr("indices must be split as x is."));
  EXPECT_THAT(checked("bmm", whole + ", " + whole + ", " + whole, ""),
              HasSubstr("x is [4,4], y is [4,4]; both need 3 dims."));
  EXPECT_THAT(checked("bmm",
                      "{shape: [4, 4, 4], dims_mapping: [-1, -1, -1]}, "
                      "{shape: [4, 4, 4], dims_mapping: [-1, -1, -1]}, "
                      "{shape: [4, 4, 4], dims_mapping: [-1, 0, -1]}",
                      ""),
              HasSubstr("the two gradients need x, y or out_grad placed differently."));
}

// An alias is answered by our operator, under the reference's names.
TEST(SpmdTool, AliasesNameOurAttributes) {
  EXPECT_EQ(find_reference("matmul_v2").rule, &rules::find("matmul"));
  EXPECT_EQ(find_reference("elementwise_unary").rule, &rules::find("exp"));
  const std::string question =
      "rule: matmul_v2\n"
      "cases:\n"
      "- mesh: {shape: [2]}\n"
      "  inputs: [{shape: [4, 6], dims_mapping: [-1, 0]}, {shape: [4, 8], dims_mapping: [-1, "
      "-1]}]\n"
      "  attrs: {trans_x: true}\n"
      "  expect: {inputs: [{dims_mapping: [-1, 0]}, {dims_mapping: [-1, -1]}], "
      "outputs: [{dims_mapping: [0, -1]}]}\n";
  EXPECT_EQ(check(question).first, "1 passed, 0 failed\n");
}

TEST(SpmdTool, OperatorsOfOursAnswerUnderTheirNames) {
  for (const OpRule& rule : rules::all()) {
    EXPECT_EQ(find_reference(rule.name()).name, rule.name());
  }
  EXPECT_EQ(find_reference("tanh").rule, &rules::find("tanh"));
}

}  // namespace
}  // namespace phi::spmd_tool
