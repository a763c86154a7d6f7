// Saves that are cut off at every point, and saves in which every file call fails in turn: the
// folder holds the old weights or the new ones.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/format/index.h"
#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"
#include "support/error_matchers.h"
#include "support/system/crash_disk.h"
#include "support/system/file_effects.h"
#include "temporary_folder.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;
using phi::testing::CrashDisk;
using phi::testing::DiskImage;
using phi::testing::FileEffect;
using phi::testing::FileEffects;
using Kind = FileEffect::Kind;

constexpr const char* kFolder = "runs/weights";  // below a test's root
constexpr int kNothing = 0;                      // what a folder without a checkpoint holds
const std::map<std::string, Dims> kShapes = {{"bias", {3}}, {"scale", {}}, {"weight", {7, 2}}};

// Every element is the version, so that a mixture of two shows.
std::vector<NamedTensor> tensors_of(int version, const World& world) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, dims] : kShapes) {
    const Placement placement = dims.ndim() == 2 ? Shard(0) : Replicate();
    const auto* attr = TensorDistAttr::get(ProcessMesh({world.size()}), {placement});
    auto x = DistTensor::empty({dims, DataType::FLOAT32}, attr, CPUPlace(), world.rank());
    std::fill_n(x.local().mutable_data<float>(), x.local().dims().numel(),
                static_cast<float>(version));
    tensors.push_back({name, x});
  }
  return tensors;
}

void save_version(int version, const fs::path& root, int64_t ranks) {
  run_ranks(ranks,
            [&](World& world) { save((root / kFolder).string(), tensors_of(version, world)); });
}

int version_in(const Checkpoint& checkpoint) {
  std::set<float> values;
  for (const auto& [name, dims] : kShapes) {
    DenseTensor out = DenseTensor::empty({dims, DataType::FLOAT32}, CPUPlace());
    checkpoint.source(name)->read(Box::whole(dims), &out);
    values.insert(out.values<float>().begin(), out.values<float>().end());
  }
  if (values.size() != 1) throw std::runtime_error("the values of several saves");
  return static_cast<int>(*values.begin());
}

// kNothing where no checkpoint is, a version where all of it can be read, else what is wrong.
std::string found_in(const fs::path& root) {
  std::optional<Checkpoint> checkpoint;
  try {
    checkpoint = open((root / kFolder).string());
  } catch (const Error& error) {
    return error.code() == ErrorCode::kNotFound ? std::to_string(kNothing) : error.what();
  }
  try {
    return std::to_string(version_in(*checkpoint));
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string listing(const DiskImage& image) {
  std::string text;
  for (const auto& [path, bytes] : image) text += fmt::format("\n  {} {}", bytes.size(), path);
  return text;
}

bool has_temporary_names(const DiskImage& image) {
  return std::ranges::any_of(image, [](const auto& file) { return file.first.ends_with(".part"); });
}

// Of weights or an index: receipts are nothing to anybody when a save is over.
bool has_unnamed_files(const DiskImage& image) {
  return std::ranges::any_of(image, [](const auto& file) {
    return file.first.ends_with(".part") && file.first.find(".receipt.") == std::string::npos;
  });
}

// A folder as it is before a save.
struct Start {
  DiskImage image;
  fs::path root;  // where the image was read
  int version = kNothing;
};

Start after_save(int version, int64_t ranks) {
  const TemporaryFolder root;
  save_version(version, root.path(), ranks);
  return {phi::testing::read_image(root.path()), root.path(), version};
}

struct CutCase {
  const char* what;
  Start start;
  int64_t ranks;
  int64_t slow_rank = 0;  // does its part of each step after the others
};

// Cuts a save at every point; gives what was lawful and held the new weights under temporary names.
std::optional<Start> cut_everywhere(const CutCase& c) {
  SCOPED_TRACE(fmt::format("{}, saved by {} ranks, rank {} last", c.what, c.ranks, c.slow_rank));
  const TemporaryFolder root;
  const TemporaryFolder scratch;
  const int version = c.start.version + 1;
  phi::testing::write_image(c.start.image, c.start.root, root.path());
  FileEffects effects(root.path(), [&](size_t, Kind) {
    if (World::current().rank() == c.slow_rank) std::this_thread::sleep_for(World::Milliseconds(1));
    return 0;
  });
  CrashDisk disk(phi::testing::read_image(root.path()));
  save_version(version, root.path(), c.ranks);

  std::set<DiskImage> checked;
  std::optional<Start> unnamed;
  const std::string old_found = std::to_string(c.start.version);
  const std::string new_found = std::to_string(version);
  const auto check = [&](const DiskImage& image, const std::string& cut, bool is_over) {
    if (!checked.insert(image).second && !is_over) return;
    phi::testing::write_image(image, root.path(), scratch.path());
    const std::string found = found_in(scratch.path());
    EXPECT_TRUE(found == new_found || (found == old_found && !is_over))
        << "A crash after '" << cut << "' may leave" << listing(image)
        << "\nwhich gives: " << found;
    if (found == new_found && has_unnamed_files(image)) unnamed = {image, root.path(), version};
  };
  std::string cut = "nothing";
  for (const FileEffect& effect : effects.seen()) {
    for (const DiskImage& image : disk.after_crash()) check(image, cut, false);
    disk.apply(effect);
    cut = effect.to_string();
  }
  for (const DiskImage& image : disk.after_crash()) check(image, "the end", true);
  EXPECT_FALSE(has_temporary_names(disk.without_crash()));
  EXPECT_EQ(disk.without_crash(), phi::testing::read_image(root.path()))
      << "something changed the folder unseen";
  return unnamed;
}

TEST(SaveThatIsCutOff, LeavesTheOldOrTheNewWeights) {
  const Start nothing = {{}, "/", kNothing};
  const Start of_one = after_save(1, 1);
  Start without_index = of_one;
  std::erase_if(without_index.image, [](auto& file) { return file.first.ends_with(kIndexFile); });
  const Start of_two = after_save(1, 2);
  for (const CutCase& c : std::vector<CutCase>{
           {"over nothing", nothing, 1},
           {"over nothing", nothing, 3},
           {"over a file without an index", without_index, 1},
           {"over one process's", of_one, 1},
           {"over one process's", of_one, 2},
           {"over two processes'", of_two, 1},
           {"over two processes'", of_two, 2, 0},
           {"over two processes'", of_two, 2, 1},
           {"over two processes'", of_two, 3, 1},
       }) {
    cut_everywhere(c);
  }
}

// What a crash left under temporary names is as good a start as any.
TEST(SaveThatIsCutOff, OverOneThatWasCutOff) {
  for (const int64_t ranks : {1, 2}) {
    const auto unnamed = cut_everywhere({"over a save", after_save(1, 2), ranks});
    ASSERT_TRUE(unnamed);
    EXPECT_TRUE(cut_everywhere({"over a save that was cut off", *unnamed, 2}));
  }
}

TEST(SaveThatHasReturned, HasItsNamesOnTheDisk) {
  const TemporaryFolder root;
  CrashDisk disk(phi::testing::read_image(root.path()));
  const FileEffects effects(root.path());
  save_version(1, root.path(), 2);
  for (const FileEffect& effect : effects.seen()) disk.apply(effect);
  for (const DiskImage& image : disk.after_crash()) {
    EXPECT_FALSE(has_unnamed_files(image)) << listing(image);
  }
}

// What a disk does at one of a save's calls, or from it on.
struct DiskFault {
  const char* what;
  int error;
  bool lasts = false;
  bool in_background = false;
};

void save_in(const fs::path& root, int version, int64_t ranks, const DiskFault& fault) {
  if (!fault.in_background) return save_version(version, root, ranks);
  run_ranks(ranks, [&](World& world) {
    std::vector<NamedTensor> tensors = tensors_of(version, world);
    start_save((root / kFolder).string(), tensors).wait();
  });
}

// True if a save over `start` has so many effects that number `failing` is one of them.
bool fail_at(size_t failing, const DiskFault& fault, const Start& start, int64_t ranks) {
  SCOPED_TRACE(fmt::format("{} at effect {}, {} ranks", fault.what, failing, ranks));
  const TemporaryFolder root;
  phi::testing::write_image(start.image, start.root, root.path());
  std::atomic<bool> failed = false;
  bool threw = false;
  bool committed = false;
  {
    const FileEffects effects(root.path(), [&](size_t index, Kind) {
      if (index < failing || (index > failing && !fault.lasts)) return 0;
      failed = true;
      return fault.error;
    });
    try {
      save_in(root.path(), start.version + 1, ranks, fault);
    } catch (const Error& error) {
      threw = true;
      EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.what();
      EXPECT_THAT(error.what(), ::testing::AnyOf(::testing::HasSubstr(std::strerror(fault.error)),
                                                 ::testing::HasSubstr("its disk fails")));
    }
    committed = std::ranges::any_of(effects.seen(), [](const FileEffect& effect) {
      return effect.kind == Kind::kRename && effect.to.ends_with(kIndexFile);
    });
  }
  EXPECT_TRUE(threw || committed);
  EXPECT_FALSE(threw && fault.error == FileEffects::kShort) << "the rest is written then";
  EXPECT_EQ(found_in(root.path()), std::to_string(start.version + (committed ? 1 : 0)));
  if (!fault.lasts) {
    EXPECT_FALSE(!committed && has_temporary_names(phi::testing::read_image(root.path())));
  }
  save_version(start.version + 2, root.path(), ranks);
  EXPECT_EQ(found_in(root.path()), std::to_string(start.version + 2)) << "a later save works";
  EXPECT_FALSE(has_temporary_names(phi::testing::read_image(root.path())));
  return failed;
}

TEST(SaveWhoseFileCallFails, LeavesTheOldOrTheNewWeights) {
  const Start old = after_save(1, 2);
  for (const DiskFault& fault : std::vector<DiskFault>{{"an error", EIO},
                                                       {"a full disk", ENOSPC, true},
                                                       {"a disk that is gone", EROFS, true, true},
                                                       {"short writes", FileEffects::kShort, true},
                                                       {"an error", EIO, false, true}}) {
    for (const int64_t ranks : {1, 2}) {
      size_t failing = 0;
      while (fail_at(failing, fault, old, ranks)) ++failing;
      EXPECT_GE(failing, 10u);
    }
  }
}

// A disk that cannot be read gives an error and no values.
TEST(LoadWhoseFileCallFails, HasNoValues) {
  const Start start = after_save(1, 2);
  const TemporaryFolder root;
  phi::testing::write_image(start.image, start.root, root.path());
  size_t failing = 0;
  for (bool failed = true; failed; ++failing) {
    failed = false;
    const FileEffects effects(root.path(), [&](size_t index, Kind) {
      failed = failed || index == failing;
      return index == failing ? EIO : 0;
    });
    const std::string found = found_in(root.path());
    if (failed) {
      EXPECT_THAT(found, ::testing::HasSubstr("its disk fails")) << failing;
    } else {
      EXPECT_EQ(found, "1");
    }
  }
  EXPECT_GE(failing, 4u) << "the index and two files";
}

// Whatever is left of an index, it is not taken for one.
TEST(Open, NoPrefixOfAnIndexIsRead) {
  const Start start = after_save(1, 2);
  const TemporaryFolder scratch;
  phi::testing::write_image(start.image, start.root, scratch.path());
  const fs::path index = scratch / kFolder / kIndexFile;
  const auto size = static_cast<int64_t>(fs::file_size(index)) - 1;  // but for the last newline
  for (int64_t left = size - 1; left >= 0; --left) {
    fs::resize_file(index, static_cast<uintmax_t>(left));
    EXPECT_THAT([&] { open((scratch / kFolder).string()); },
                ThrowsError(ErrorCode::kInvalidArgument, kIndexFile))
        << left;
  }
}

}  // namespace
}  // namespace phi::distributed::checkpoint
