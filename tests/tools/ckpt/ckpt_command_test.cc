// The ckpt command: what it prints of checkpoints, its exit status, and its errors.
#include "tools/ckpt_command.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "distributed/checkpoint/folder.h"
#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/temporary_folder.h"
#include "distributed/checkpoint/tensor_files.h"
#include "support/run_command.h"
#include "tools/cli/command_line.h"

namespace phi {
namespace {

using namespace distributed::checkpoint;  // NOLINT
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

testing::Printed run(std::vector<std::string> words) {
  words.insert(words.begin(), "ckpt");
  return testing::run_command(ckpt_command, std::move(words));
}

std::vector<NamedTensor> tensors(float last) {
  return {named<float>("weight", {1, 2, 3, 4, 5, last}, {2, 3}), named<int64_t>("step", {7}, {})};
}

// A job's folder with two checkpoints.
void save_two(const CheckpointFolder& folder) {
  save(folder.path_of(10), tensors(6), {.metadata = {{"step", "10"}}});
  save(folder.path_of(20), tensors(6.5f), {.metadata = {{"step", "20"}, {"job", "a\nb"}}});
}

void damage(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('\x55');
}

TEST(CkptCommand, LsShowsTensorsAndMetadata) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  save_two(folder);
  const testing::Printed one = run({"ls", folder.path_of(20)});
  EXPECT_EQ(one.status, 0);
  EXPECT_EQ(one.out,
            "job: a b\n"
            "step: 20\n"
            "step    i64[]  model.safetensors\n"
            "weight  f32[2,3]  model.safetensors\n"
            "2 tensors, 32 B\n");
  std::filesystem::create_directories(folder.path_of(30));
  const testing::Printed all = run({"ls", root.path()});
  EXPECT_EQ(all.out, folder.path_of(20) + "  step 20, 2 tensors, 32 B\n" + folder.path_of(10) +
                         "  step 10, 2 tensors, 32 B\n" + folder.path_of(30) + "  not complete: '" +
                         folder.path_of(30) + "' has no " + kIndexFile +
                         ": its save was interrupted, or the file was removed.\n");
}

TEST(CkptCommand, ControlCharactersOfNamesAreShown) {
  const TemporaryFolder folder;
  save(folder.path(), std::vector{named<float>("\x1b[2Jw", {1}, {1})},
       {.metadata = {{"\x1b]0;k", "\x1b[31m"}}});
  const auto printed = run({"ls", folder.path()});
  EXPECT_THAT(printed.out, HasSubstr("\\x1b[2Jw"));
  EXPECT_THAT(printed.out, HasSubstr("\\x1b]0;k: \\x1b[31m"));
  EXPECT_EQ(printed.out.find('\x1b'), std::string::npos);
}

TEST(CkptCommand, CatPrintsOneTensor) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  save_two(folder);
  const testing::Printed whole = run({"cat", root.path(), "weight"});
  EXPECT_EQ(whole.out, "f32[2,3]\n[[  1,   2,   3],\n [  4,   5, 6.5]]\n");
  EXPECT_EQ(whole.err,
            "autophi ckpt: " + folder.path_of(20) + " is the newest of '" + root.path() + "'\n");
  EXPECT_EQ(run({"cat", folder.path_of(10), "weight", "--box=[1:2,1:3]"}).out,
            "f32[1,2]\n[[5, 6]]\n");
  EXPECT_EQ(run({"cat", folder.path_of(10), "step", "--box=[]"}).out, "i64[]\n7\n");
  const testing::Printed unknown = run({"cat", folder.path_of(10), "wieght"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, HasSubstr("has no tensor 'wieght', did you mean 'weight'?"));
  for (const char* box : {"[0:2]", "[0:3,0:1]", "[1:0,0:1]", "[0:1,0:1,0:1]", "[-1:1,0:1]", "0:1",
                          "[0:1,0:1", "[a:b,c:d]", "[", "[0:1;0:1]", "[0:1,0:1]x"}) {
    const testing::Printed wrong =
        run({"cat", folder.path_of(10), "weight", std::string("--box=") + box});
    EXPECT_EQ(wrong.status, cli::kUsageStatus) << box;
    EXPECT_THAT(wrong.err,
                HasSubstr(fmt::format("--box={} is no box of f32[2,3], like [0:2,0:3].", box)));
  }
}

TEST(CkptCommand, DiffTellsWhereAndHowMuch) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  save_two(folder);
  const testing::Printed same = run({"diff", folder.path_of(10), folder.path_of(10)});
  EXPECT_EQ(same.status, 0);
  EXPECT_EQ(same.out, "0 tensors differ\n");
  const testing::Printed other = run({"diff", folder.path_of(10), folder.path_of(20)});
  EXPECT_EQ(other.status, 1);
  EXPECT_EQ(other.out,
            "weight differs in 1 of 6 elements, by up to 0.5 (at [1,2]), relative 0.0769\n"
            "1 tensors differ\n");
  const std::string path = (root / "other").string();
  save(path, std::vector{named<float>("weight", {1}, {1}), named<float>("extra", {1}, {1})});
  EXPECT_EQ(run({"diff", folder.path_of(10), path}).out,
            "extra is only in '" + path + "'\n" + "step is only in '" + folder.path_of(10) + "'\n" +
                "weight is f32[2,3] and f32[1]\n3 tensors differ\n");
}

TEST(CkptCommand, VerifyNamesDamage) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  save_two(folder);
  const testing::Printed good = run({"verify", root.path()});
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.out, folder.path_of(20) + ": 2 tensors, 32 B compared: as it was saved\n" +
                          folder.path_of(10) + ": 2 tensors, 32 B compared: as it was saved\n");
  damage(folder.path_of(10) + "/" + kSingleFile);
  for (const std::string& path : {root.path(), folder.path_of(10)}) {
    const testing::Printed bad = run({"verify", path});
    EXPECT_EQ(bad.status, 1);
    EXPECT_THAT(bad.out, HasSubstr("'" + folder.path_of(10) +
                                   "/model.safetensors' is damaged: "
                                   "the bytes of tensor 'weight' in block 1 of 1"));
    EXPECT_THAT(bad.out, HasSubstr("32 B compared: 1 faults\n"));
  }
  std::filesystem::remove(folder.path_of(10) + "/" + kSingleFile);
  EXPECT_EQ(run({"verify", root.path()}).status, 1);
  EXPECT_EQ(run({"verify", (root / "nowhere").string()}).status, 1);
}

TEST(CkptCommand, MergeAndImportGoThereAndBack) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  save_two(folder);
  const std::string file = (root / "whole.safetensors").string();
  const std::string back = (root / "back").string();
  EXPECT_EQ(run({"merge", root.path(), file}).out, "tensors written to " + file + "\n");
  const testing::Printed unguarded = run({"verify", file});
  EXPECT_EQ(unguarded.status, 0);
  EXPECT_THAT(unguarded.out, HasSubstr("without checksums: step, weight\n"));
  EXPECT_EQ(run({"import", file, back}).out, "checkpoint written to " + back + "\n");
  EXPECT_THAT(unequal(distributed::checkpoint::open(folder.path_of(20)),
                      distributed::checkpoint::open(back)),
              IsEmpty());
  EXPECT_EQ(distributed::checkpoint::open(back).metadata().at("step"), "20");
  EXPECT_THAT(run({"verify", back}).out, HasSubstr("32 B compared: as it was saved"));
  EXPECT_EQ(run({"import", file, back}).status, 1);
}

TEST(CkptCommand, ErrorsSayWhatToWrite) {
  const TemporaryFolder empty;
  const struct {
    std::vector<std::string> words;
    const char* message;
  } rows[] = {
      {{}, "autophi ckpt: give one of ls, cat, diff, verify, merge, import; see"},
      {{"verfy", "a"},
       "autophi ckpt: 'verfy' is none of ls, cat, diff, verify, merge, import, did"},
      {{"cat", "a"}, "autophi ckpt: cat takes PATH and TENSOR; got 1 names."},
      {{"merge", "a", "b"}, "'b' is to be one file; give it a name like whole.safetensors."},
      {{"ls", "a", "--box=[]"}, "--box goes with autophi ckpt cat."},
  };
  for (const auto& row : rows) {
    const testing::Printed r = run(row.words);
    EXPECT_EQ(r.status, cli::kUsageStatus) << row.message;
    EXPECT_THAT(r.err, HasSubstr(row.message));
  }
  const testing::Printed nothing = run({"ls", empty.path()});
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.err,
              StartsWith("autophi ckpt: there is no checkpoint in '" + empty.path() + "'"));
  const testing::Printed help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("autophi ckpt verify PATH"));
}

}  // namespace
}  // namespace phi
