// What the model of a disk takes for possible.
#include "support/system/crash_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace phi::testing {
namespace {

using Kind = FileEffect::Kind;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

FileEffect create(const std::string& path) { return {Kind::kCreate, path, {}, {}}; }
FileEffect write(const std::string& path, const std::string& bytes, size_t offset = 0) {
  return {Kind::kWrite, path, {}, bytes, offset};
}
FileEffect sync(const std::string& path) { return {Kind::kSync, path, {}, {}}; }
FileEffect sync_folder(const std::string& path) { return {Kind::kSyncFolder, path, {}, {}}; }
FileEffect rename(const std::string& path, const std::string& to) {
  return {Kind::kRename, path, to, {}};
}

CrashDisk after(const DiskImage& image, const std::vector<FileEffect>& effects) {
  CrashDisk disk(image);
  for (const FileEffect& effect : effects) disk.apply(effect);
  return disk;
}

TEST(CrashDisk, BytesThatWereNotSyncedMayBeMissing) {
  const CrashDisk disk = after({{"/r/a", "old!"}}, {create("/r/a"), write("/r/a", "news")});
  EXPECT_EQ(disk.without_crash(), (DiskImage{{"/r/a", "news"}}));
  EXPECT_THAT(
      disk.after_crash(),
      UnorderedElementsAre(DiskImage{{"/r/a", "old!"}}, DiskImage{{"/r/a", "news"}},
                           DiskImage{{"/r/a", "ne"}}, DiskImage{{"/r/a", std::string(4, '\0')}}));
}

TEST(CrashDisk, WhatIsSyncedStays) {
  const CrashDisk disk =
      after({}, {create("/r/a"), write("/r/a", "xx"), write("/r/a", "y", 1), sync("/r/a")});
  EXPECT_THAT(disk.after_crash(), UnorderedElementsAre(DiskImage{}, DiskImage{{"/r/a", "xy"}}));
  CrashDisk named = disk;
  named.apply(sync_folder("/r"));
  EXPECT_THAT(named.after_crash(), UnorderedElementsAre(DiskImage{{"/r/a", "xy"}}));
}

TEST(CrashDisk, ALaterRenameMayBeThereWithoutAnEarlierOne) {
  const CrashDisk disk =
      after({{"/r/a", "1"}, {"/r/b", "2"}}, {rename("/r/a", "/r/c"), rename("/r/b", "/r/d")});
  EXPECT_THAT(disk.after_crash(), UnorderedElementsAre(DiskImage{{"/r/a", "1"}, {"/r/b", "2"}},
                                                       DiskImage{{"/r/c", "1"}, {"/r/b", "2"}},
                                                       DiskImage{{"/r/a", "1"}, {"/r/d", "2"}},
                                                       DiskImage{{"/r/c", "1"}, {"/r/d", "2"}}));
}

TEST(CrashDisk, ARenameDoesNotSyncTheBytes) {
  const CrashDisk disk =
      after({{"/r/a", "1"}}, {create("/r/b"), write("/r/b", "22"), rename("/r/b", "/r/a")});
  EXPECT_THAT(disk.after_crash(), IsSupersetOf({DiskImage{{"/r/a", ""}}, DiskImage{{"/r/a", "2"}},
                                                DiskImage{{"/r/a", "1"}, {"/r/b", "22"}}}));
}

TEST(CrashDisk, AFolderThatIsLostTakesItsFilesAlong) {
  const CrashDisk disk =
      after({}, {{Kind::kMakeFolder, "/r/f", {}, {}}, create("/r/f/a"), sync_folder("/r/f")});
  EXPECT_THAT(disk.after_crash(),
              UnorderedElementsAre(DiskImage{}, DiskImage{{"/r/f/", ""}, {"/r/f/a", ""}}));
}

TEST(CrashDisk, ARemovedNameMayStillBeThere) {
  const CrashDisk disk = after({{"/r/a", "1"}}, {{Kind::kUnlink, "/r/a", {}, {}}});
  EXPECT_THAT(disk.after_crash(), UnorderedElementsAre(DiskImage{}, DiskImage{{"/r/a", "1"}}));
}

}  // namespace
}  // namespace phi::testing
