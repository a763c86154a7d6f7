// Saves beside a computation: what is saved, what goes wrong, and what everybody is told of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/saving/receipt.h"
#include "distributed/checkpoint/storage/folder_lock.h"
#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"
#include "support/error_matchers.h"
#include "support/system/file_effects.h"
#include "temporary_folder.h"
#include "tensor_files.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;
using phi::testing::FileEffect;
using phi::testing::FileEffects;
using ::testing::Each;
using Kind = FileEffect::Kind;

constexpr int64_t kRows = 1000;

// What happens, once, between a file's opening and its locking by the calling thread.
thread_local std::function<void()> before_flock;

// Rows over all ranks, each element `value`.
NamedTensor tensor_of(float value, const World& world) {
  const auto* attr = TensorDistAttr::get(ProcessMesh({world.size()}), {Shard(0)});
  auto x = DistTensor::empty({{kRows, 3}, DataType::FLOAT32}, attr, CPUPlace(), world.rank());
  std::fill_n(x.local().mutable_data<float>(), x.local().dims().numel(), value);
  return {"w", x};
}

void fill(NamedTensor& named, float value) {
  DenseTensor& local = named.tensor.local();
  std::fill_n(local.mutable_data<float>(), local.dims().numel(), value);
}

// A disk on which nothing is written before it is released.
class HeldDisk {
 public:
  explicit HeldDisk(const std::string& folder)
      : effects_(folder, [this](size_t, Kind kind) {
          while (kind == Kind::kSync && held_) std::this_thread::yield();
          return 0;
        }) {}
  ~HeldDisk() { release(); }
  void release() { held_ = false; }

 private:
  std::atomic<bool> held_{true};
  FileEffects effects_;
};

TEST(PendingSave, HoldsTheValuesOfItsStart) {
  for (const int64_t ranks : {1, 3}) {
    const TemporaryFolder folder;
    HeldDisk disk(folder.path());
    run_ranks(ranks, [&](World& world) {
      std::vector<NamedTensor> tensors = {tensor_of(1, world)};
      PendingSave pending = start_save(folder.path(), tensors, {.metadata = {{"step", "1"}}});
      fill(tensors[0], 2);
      EXPECT_FALSE(pending.poll());
      EXPECT_FALSE(pending.done());
      EXPECT_THAT([&] { open(folder.path()); }, ThrowsError(ErrorCode::kNotFound, "no checkpoint"));
      world.everyone().barrier();
      disk.release();
      pending.wait();
      EXPECT_TRUE(pending.done());
      EXPECT_TRUE(pending.poll());
      EXPECT_EQ(pending.folder(), folder.path());
      const Checkpoint saved = open(folder.path());
      EXPECT_THAT(read<float>(saved, "w"), Each(1));
      EXPECT_EQ(saved.metadata().at("step"), "1");
    });
    EXPECT_THAT(files_in(folder.path()), ::testing::SizeIs(ranks + 1)) << "no temporary files";
  }
}

// Slower than a message may be: a save has its own deadline.
TEST(PendingSave, ASlowDiskIsNoLateMessage) {
  constexpr World::Milliseconds kDeadline{1000};
  const TemporaryFolder folder;
  const FileEffects effects(folder.path(), [&](size_t, Kind kind) {
    if (kind == Kind::kSync && World::current().rank() == 1) {
      std::this_thread::sleep_for(kDeadline + kDeadline / 2);
    }
    return 0;
  });
  run_ranks(
      3, [&](World& world) { save(folder.path(), std::vector<NamedTensor>{tensor_of(1, world)}); },
      kDeadline);
  EXPECT_THAT(read<float>(open(folder.path()), "w"), Each(1));
}

TEST(PendingSave, ThatDoesNotEndIsGivenUpByAll) {
  const TemporaryFolder folder;
  std::atomic<bool> over = false;
  const FileEffects effects(folder.path(), [&](size_t, Kind kind) {
    while (kind == Kind::kSync && !over && World::current().rank() == 1) std::this_thread::yield();
    return 0;
  });
  run_ranks(3, [&](World& world) {
    const std::vector<NamedTensor> tensors = {tensor_of(1, world)};
    PendingSave pending = start_save(folder.path(), tensors, {.deadline = World::Milliseconds(50)});
    while (!pending.done() && world.rank() == 2) std::this_thread::yield();
    const std::jthread opens([&] {  // so that the thread can be had back
      std::this_thread::sleep_for(World::Milliseconds(300));
      over = true;
    });
    EXPECT_THAT([&] { pending.wait(); },
                ThrowsError(ErrorCode::kExecutionTimeout, "[save] the save to '" + folder.path() +
                                                              "' did not end within 0.05 s"));
  });
  EXPECT_THAT([&] { open(folder.path()); }, ThrowsError(ErrorCode::kNotFound, "no checkpoint"));
}

TEST(PendingSave, AFaultOfOneRankIsToldToAll) {
  const TemporaryFolder folder;
  for (const int64_t failing_rank : {1, 2}) {
    const FileEffects effects(folder.path(), [=](size_t, Kind kind) {
      return kind == Kind::kWrite && World::current().rank() == failing_rank ? ENOSPC : 0;
    });
    run_ranks(3, [&](World& world) {
      PendingSave pending =
          start_save(folder.path(), std::vector<NamedTensor>{tensor_of(1, world)});
      EXPECT_THAT([&] { pending.wait(); },
                  ThrowsError(ErrorCode::kUnavailable, fmt::format("[save] rank {}: '{}/model-",
                                                                   failing_rank, folder.path())));
      EXPECT_TRUE(pending.done());
    });
    EXPECT_TRUE(files_in(folder.path()).empty());
  }
}

TEST(PendingSave, ThatFailsGoesToTheSecondFolder) {
  const TemporaryFolder root;
  for (const int64_t failing_rank : {0, 1}) {
    const std::string first = (root / "first").string();
    const std::string second = (root / "second").string();
    const FileEffects effects(first, [=](size_t, Kind kind) {
      return kind == Kind::kSync && World::current().rank() == failing_rank ? EIO : 0;
    });
    run_ranks(2, [&](World& world) {
      std::vector<NamedTensor> tensors = {tensor_of(1, world)};
      PendingSave pending = start_save(first, tensors, {.fallback = second});
      fill(tensors[0], 2);
      pending.wait();
      EXPECT_EQ(pending.folder(), second);
      EXPECT_THAT(read<float>(open(second), "w"), Each(1));
    });
    EXPECT_TRUE(files_in(first).empty());
    fs::remove_all(second);
  }
}

TEST(PendingSave, ThatNobodyWaitsForLeavesTheOldOne) {
  const TemporaryFolder folder;
  run_ranks(
      2, [&](World& world) { save(folder.path(), std::vector<NamedTensor>{tensor_of(1, world)}); });
  const auto before = files_in(folder.path());
  HeldDisk disk(folder.path());
  run_ranks(2, [&](World& world) {
    {
      PendingSave pending =
          start_save(folder.path(), std::vector<NamedTensor>{tensor_of(2, world)});
      const std::jthread releases([&] { disk.release(); });
    }
    world.everyone().barrier();
  });
  const float value = read<float>(open(folder.path()), "w")[0];
  EXPECT_TRUE(value == 1 || value == 2);
  EXPECT_FALSE(fs::exists(folder / FolderLock::kFile));
}

// What has a limit of memory has no room for a copy: the values are written before it goes on.
TEST(PendingSave, UnderALimitIsWrittenAtOnce) {
  const TemporaryFolder folder;
  run_ranks(2, [&](World& world) {
    const std::vector<NamedTensor> tensors = {tensor_of(1, world)};
    if (world.rank() == 1) world.rank_context().memory()->set_device_limit(1 << 20);
    const int64_t before = memory_stats(CPUPlace()).peak;
    PendingSave pending = start_save(folder.path(), tensors);
    EXPECT_TRUE(pending.done());
    EXPECT_TRUE(world.rank() == 0 || memory_stats(CPUPlace()).peak == before);
    EXPECT_THAT(read<float>(open(folder.path()), "w"), Each(1));
    EXPECT_TRUE(pending.poll());
  });
}

// Rank 0 may find one while it is written, or before all of it can be seen on this machine.
TEST(Receipt, IsWholeOrNothing) {
  const Receipt receipt{7, {{"w[0:2]", {1, 2}}, {"v", {3}}}};
  const std::string text = receipt.encode();
  const auto read = Receipt::decode(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->header, receipt.header);
  EXPECT_EQ(read->sums, receipt.sums);
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(Receipt::decode(text.substr(0, size))) << size;
    std::string other = text;
    other[size] ^= 1;
    EXPECT_FALSE(Receipt::decode(other)) << size;
  }
}

// A rank that could not write all of it takes it back while rank 0 looks.
TEST(Receipt, IsNothingWhereItIsTakenBack) {
  const TemporaryFolder folder;
  const std::string path = fs::path(folder.path()) / "receipt";
  const std::string text = Receipt{7, {}}.encode();
  std::atomic<bool> goes_on = true;
  std::thread other([&] {
    while (goes_on) {
      std::ofstream(path) << text;
      fs::remove(path);
    }
  });
  int found = 0;
  EXPECT_NO_THROW({
    for (int i = 0; i < 20000 || found < 100; ++i) found += Receipt::find(path) ? 1 : 0;
  });
  goes_on = false;
  other.join();
  std::ofstream(path) << text;
  EXPECT_TRUE(Receipt::find(path));
}

TEST(FolderLock, NamesItsHolder) {
  const TemporaryFolder folder;
  const NamedTensor w = named<float>("w", {1}, {1});
  {
    const auto lock = std::make_shared<const FolderLock>(folder.path());
    const std::string holder = fmt::format("is being written by process {} on ", getpid());
    EXPECT_THAT([&] { FolderLock(folder.path()); }, ThrowsError(ErrorCode::kAlreadyExists, holder));
    EXPECT_THAT([&] { save(folder.path(), std::vector{w}); },
                ThrowsError(ErrorCode::kAlreadyExists, holder));
    EXPECT_THAT(files_in(folder.path()), ::testing::ElementsAre(FolderLock::kFile));
    save(folder.path(), std::vector{w}, {.lock = lock});
    EXPECT_TRUE(fs::exists(folder / FolderLock::kFile));
  }
  EXPECT_FALSE(fs::exists(folder / FolderLock::kFile));
  folder.write(FolderLock::kFile, "process 1 on elsewhere, since then, which has died long ago\n");
  save(folder.path(), std::vector{w});
  EXPECT_FALSE(fs::exists(folder / FolderLock::kFile));
}

// The file that is opened may be another's lock, gone by the time that it is locked here.
TEST(FolderLock, OfAFileThatWasRemovedIsNone) {
  const TemporaryFolder folder;
  auto first = std::make_unique<FolderLock>(folder.path());
  before_flock = [&] { first.reset(); };
  const FolderLock second(folder.path());
  EXPECT_FALSE(before_flock);
  EXPECT_TRUE(fs::exists(folder / FolderLock::kFile));
  EXPECT_THROW(FolderLock(folder.path()), Error);
}

TEST(FolderLock, TwoWhoWantItAtOnceGetItInTurn) {
  const TemporaryFolder folder;
  std::atomic<int> holders = 0;
  const auto work = [&] {
    for (int taken = 0; taken < 200;) {
      try {
        const FolderLock lock(folder.path());
        EXPECT_EQ(holders++, 0);
        ++taken;
        --holders;
      } catch (const Error&) {
      }
    }
  };
  const std::jthread other(work);
  work();
}

}  // namespace
}  // namespace phi::distributed::checkpoint

// In front of libc's.
extern "C" int flock(int fd, int operation) noexcept {
  using phi::distributed::checkpoint::before_flock;
  if (const auto happens = std::exchange(before_flock, nullptr)) happens();
  return static_cast<int>(syscall(SYS_flock, fd, operation));
}
