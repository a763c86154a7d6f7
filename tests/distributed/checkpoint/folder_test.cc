// A folder of checkpoints: which are complete, which one to resume from, what is pruned.
#include "distributed/checkpoint/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/storage/folder_lock.h"
#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"
#include "support/error_matchers.h"
#include "temporary_folder.h"
#include "tensor_files.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void save_step(const CheckpointFolder& folder, int64_t step) {
  save(folder.path_of(step), std::vector{named<float>("w", std::vector<float>(1000, 1.0f), {1000})},
       {.metadata = {{"step", std::to_string(step)}}});
}

std::vector<int64_t> steps_of(const std::vector<SavedStep>& saved) {
  std::vector<int64_t> steps;
  for (const SavedStep& each : saved) steps.push_back(each.step);
  return steps;
}

void flip_bit(const fs::path& path, int64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at, at < 0 ? std::ios::end : std::ios::beg);
  const auto place = file.tellg();
  const auto byte = static_cast<char>(file.get() ^ 4);
  file.seekp(place);
  file.put(byte);
}

TEST(CheckpointFolder, ListsWhatIsCompleteNewestFirst) {
  const TemporaryFolder root;
  const CheckpointFolder folder((root / "runs").string());
  EXPECT_TRUE(folder.find().complete.empty()) << "of a folder that is not there";
  for (const int64_t step : {100, 20, 300}) save_step(folder, step);
  EXPECT_EQ(folder.path_of(20), (root / "runs").string() + "/step-00000020");
  fs::create_directories(folder.path_of(400));
  for (const char* other : {"step-1", "step-00000500.damaged", "step--0000001", "else"}) {
    fs::create_directories(root / "runs" / other);
  }
  fs::remove(fs::path(folder.path_of(100)) / kSingleFile);
  const CheckpointFolder::Listing found = folder.find();
  EXPECT_THAT(steps_of(found.complete), ElementsAre(300, 20));
  EXPECT_THAT(steps_of(found.broken), ElementsAre(400, 100));
  EXPECT_THAT(found.faults, ElementsAre(HasSubstr("step-00000400' has no model.safetensors.index"),
                                        HasSubstr("step-00000100/model.safetensors'")));
}

TEST(CheckpointFolder, PruneLeavesTheNewestAndWhatIsNotOurs) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  for (const int64_t step : {1, 2, 3, 4, 5}) save_step(folder, step);
  fs::remove(fs::path(folder.path_of(3)) / kIndexFile);  // cut off
  fs::create_directories(folder.path_of(6));             // under way
  std::ofstream(fs::path(folder.path_of(1)) / "notes.txt") << "the user's own";
  folder.prune(2);
  EXPECT_THAT(files_in(root.path()),
              ElementsAre("step-00000001", "step-00000004", "step-00000005", "step-00000006"));
  EXPECT_THAT(files_in(folder.path_of(1)), ElementsAre("notes.txt"));
  EXPECT_THAT(steps_of(folder.find().complete), ElementsAre(5, 4));
  EXPECT_THAT([&] { folder.prune(0); },
              ThrowsError(ErrorCode::kInvalidArgument, "0 checkpoints cannot be kept"));
}

TEST(CheckpointFolder, PruneLeavesWhatCannotBeOpenedNow) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  for (const int64_t step : {1, 2, 3, 4}) save_step(folder, step);
  const fs::path file = fs::path(folder.path_of(1)) / kSingleFile;
  const fs::path index = fs::path(folder.path_of(2)) / kIndexFile;
  for (const fs::path& each : {file, index}) {
    fs::rename(each, each.string() + ".away");
    fs::create_symlink(each, each);  // a loop: no call looks past it
  }
  folder.prune(1);
  run_ranks(
      2, [&](World& world) { EXPECT_THAT(steps_of(folder.saved(world)), ElementsAre(4, 2, 1)); });
  for (const fs::path& each : {file, index}) fs::rename(each.string() + ".away", each);
  EXPECT_THAT(steps_of(folder.find().complete), ElementsAre(4, 2, 1));
  folder.prune(1);
  EXPECT_THAT(files_in(root.path()), ElementsAre("step-00000004"));
}

TEST(CheckpointFolder, PruneRemovesTheLocksOfKilledProcesses) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  for (const int64_t step : {1, 2, 3}) save_step(folder, step);
  for (const int64_t step : {1, 2}) {
    std::ofstream(fs::path(folder.path_of(step)) / FolderLock::kFile) << "process 1 on nowhere\n";
  }
  fs::remove(fs::path(folder.path_of(2)) / kIndexFile);  // killed in its first save
  folder.prune(1);
  EXPECT_THAT(files_in(root.path()), ElementsAre("step-00000003"));
}

TEST(CheckpointFolder, PruneLeavesWhatIsBeingSavedTo) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  for (const int64_t step : {1, 2, 3}) save_step(folder, step);
  {
    const FolderLock lock(folder.path_of(2));
    folder.prune(1);
  }
  EXPECT_THAT(files_in(root.path()), ElementsAre("step-00000002", "step-00000003"));
  EXPECT_THAT(steps_of(folder.find().complete), ElementsAre(3, 2));
}

TEST(CheckpointFolder, TwoMayPruneAtOnce) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  for (int64_t step = 1; step <= 40; ++step) save_step(folder, step);
  ::testing::internal::CaptureStderr();
  {
    const std::jthread one([&] { folder.prune(2); });
    const std::jthread other([&] { folder.prune(2); });
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), Not(HasSubstr("Success")));
  EXPECT_THAT(files_in(root.path()), ElementsAre("step-00000039", "step-00000040"));
}

TEST(CheckpointFolder, WithoutItsIndexNoneIsGood) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  for (const int64_t step : {1, 2}) save_step(folder, step);
  fs::remove(fs::path(folder.path_of(2)) / kIndexFile);
  fs::create_directories(folder.path_of(3));  // cut off
  run_ranks(2, [&](World& world) {
    EXPECT_THAT(steps_of(folder.saved(world)), ElementsAre(2, 1));
    EXPECT_EQ(folder.newest_valid(world), (SavedStep{1, folder.path_of(1)}));
  });
  EXPECT_THAT(
      [&] {
        open(SavedStep{2, folder.path_of(2)});
      },
      ThrowsError(ErrorCode::kNotFound, "its save was interrupted, or the file was removed"));
}

TEST(CheckpointFolder, NewestGoodPassesOverDamage) {
  const TemporaryFolder root;
  const CheckpointFolder folder(root.path());
  for (const int64_t step : {1, 2, 3, 4}) save_step(folder, step);
  flip_bit(fs::path(folder.path_of(4)) / kSingleFile, -1);
  flip_bit(fs::path(folder.path_of(3)) / kIndexFile, 20);
  for (const int64_t ranks : {1, 3}) {
    run_ranks(ranks, [&](World& world) {
      EXPECT_EQ(folder.newest_valid(world), (SavedStep{2, folder.path_of(2)}));
    });
  }
  folder.set_aside({4, folder.path_of(4)});
  save_step(folder, 4);
  run_ranks(2, [&](World& world) {
    EXPECT_EQ(folder.newest_valid(world), (SavedStep{4, folder.path_of(4)}));
  });
  const CheckpointFolder empty((root / "empty").string());
  run_ranks(2, [&](World& world) { EXPECT_EQ(empty.newest_valid(world), std::nullopt); });
}

}  // namespace
}  // namespace phi::distributed::checkpoint
