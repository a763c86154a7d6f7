// When checkpoints are written, which stay, and what a training goes on from.
#include "api/training/checkpoint/checkpointer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <thread>

#include "api/generated/ops/gaussian.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "distributed/api.h"
#include "distributed/checkpoint/format/index.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"
#include "tests/support/system/file_effects.h"

namespace phi::training {
namespace {

namespace fs = std::filesystem;
using distributed::ProcessMesh;
using distributed::Shard;
using distributed::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class Net final : public nn::Sequential {
 public:
  Net() { add<nn::Linear>("out", 3, 2, nn::LinearOptions{.weight = nn::normal(0.5)}); }
};

class Deep final : public nn::Sequential {
 public:
  Deep() {
    add<nn::Linear>("up", 3, 4, nn::LinearOptions{.weight = nn::normal(0.5)});
    add<nn::Linear>("out", 4, 2, nn::LinearOptions{.weight = nn::normal(0.5)});
  }
};

struct Spread {
  const char* mesh_dim;
  nn::Layout layout;
};

std::vector<Spread> spreads() {
  return {{"dp", nn::Layout().batches({{"dp", Shard(0)}}).zero(3)},
          {"tp", nn::Layout().parameters("*.weight", {{"tp", Shard(1)}})},
          {"pp", nn::Layout().pipeline("pp", "*")}};
}

void spread(Deep& net, const Spread& over) {
  nn::shard(net, ProcessMesh({2}, {over.mesh_dim}), over.layout);
}

void flip_bit(const std::string& path) {
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(-5, std::ios::end);
  const char flipped = static_cast<char>(bytes.get() ^ 0x10);
  bytes.seekp(-5, std::ios::end);
  bytes.put(flipped);
}

// Of the second of two ranks' files.
struct Damage {
  const char* what;
  std::function<void(const std::string& file, const std::string& other)> apply;
};

std::vector<Damage> damages() {
  return {
      {"flipped", [](const std::string& file, const std::string&) { flip_bit(file); }},
      {"cut", [](const std::string& file, const std::string&) { fs::resize_file(file, 20); }},
      {"deleted", [](const std::string& file, const std::string&) { fs::remove(file); }},
      {"zeroed",
       [](const std::string& file, const std::string&) {
         const auto size = fs::file_size(file);
         fs::resize_file(file, 0);
         fs::resize_file(file, size);
       }},
      {"exchanged",
       [](const std::string& file, const std::string& other) {
         fs::rename(file, file + "x");
         fs::rename(other, file);
         fs::rename(file + "x", other);
       }},
      {"a folder",
       [](const std::string& file, const std::string&) {
         fs::remove(file);
         fs::create_directory(file);
       }},
      {"a pipe",
       [](const std::string& file, const std::string&) {
         fs::remove(file);
         mkfifo(file.c_str(), 0600);
       }},
      {"a loop",
       [](const std::string& file, const std::string&) {
         fs::remove(file);
         fs::create_symlink(file, file);
       }},
  };
}

std::vector<Batch> batch(int64_t number, float spoil = 0.0f) {
  std::vector<float> labels(8, static_cast<float>(number));
  labels[3] += spoil;
  return {{gaussian({4, 3}, 0.0f, 1.0f, static_cast<int>(number)),
           Tensor::from(std::move(labels), {4, 2})}};
}

constexpr const char* kIndex = distributed::checkpoint::kIndexFile;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class CheckpointerTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  TrainerOptions options(OnNonFinite on_nonfinite = OnNonFinite::kStop) const {
    return {.optimizer = {.kind = OptimizerKind::kAdamW},
            .rate = {.peak = 0.1},
            .on_nonfinite = on_nonfinite};
  }

  // The folders of checkpoints that are there.
  std::set<std::string> names() const { return names_in(folder_); }
  static std::set<std::string> names_in(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory()) names.insert(entry.path().filename());
    }
    return names;
  }

  const std::string root_ = (fs::temp_directory_path() /
                             ("checkpointer_" + std::to_string(getpid()) + "_" +
                              ::testing::UnitTest::GetInstance()->current_test_info()->name()))
                                .string();
  const std::string folder_ = root_ + "/run";
};

TEST_F(CheckpointerTest, SavesEverySoManyStepsAndKeepsTheNewest) {
  for (const bool async : {false, true}) {
    fs::remove_all(folder_);
    Net net;
    Trainer trainer(net, nn::mean_squared_error, options());
    Checkpointer checkpoints(trainer, {.folder = folder_, .every = 2, .keep = 2, .async = async});
    for (int64_t step = 1; step <= 7; ++step) {
      checkpoints.after_step(trainer.step(batch(trainer.next_batch())));
    }
    checkpoints.finish();
    EXPECT_EQ(checkpoints.stats().failures, 0);
    EXPECT_EQ(names().size(), 2u);
    EXPECT_TRUE(names().contains("step-00000007"));
    if (!async) {
      EXPECT_EQ(checkpoints.stats().saves, 4);
      EXPECT_EQ(names(), (std::set<std::string>{"step-00000006", "step-00000007"}));
    }
  }
}

TEST_F(CheckpointerTest, GoesOnFromTheNewestOnAnotherMesh) {
  std::vector<float> expected;
  {
    Net net;
    Trainer trainer(net, nn::mean_squared_error, options());
    Checkpointer checkpoints(trainer, {.folder = folder_, .metadata = {{"job", "a"}}});
    EXPECT_FALSE(checkpoints.resume());
    for (int64_t step = 1; step <= 3; ++step) {
      checkpoints.after_step(trainer.step(batch(trainer.next_batch())));
    }
    checkpoints.finish();
    trainer.step(batch(trainer.next_batch()));
    expected = net.parameter_at("out.weight").to_vector<float>();
  }
  distributed::run_ranks(2, [&](World&) {
    Net net;
    nn::shard(net, ProcessMesh({2}, {"dp"}), nn::Layout().batches({{"dp", Shard(0)}}).zero(1));
    Trainer trainer(net, nn::mean_squared_error, options());
    Checkpointer checkpoints(trainer, {.folder = folder_});
    const auto resumed = checkpoints.resume();
    ASSERT_TRUE(resumed);
    EXPECT_EQ(resumed->step, 3);
    EXPECT_EQ(resumed->metadata.at("job"), "a");
    EXPECT_EQ(trainer.next_batch(), 4);
    trainer.step(batch(trainer.next_batch()));
    const auto weight =
        distributed::unshard_dtensor(net.parameter_at("out.weight")).to_vector<float>();
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(weight[i], expected[i], 1e-6);
  });
}

TEST_F(CheckpointerTest, PassesOverADamagedOneAndSaysSo) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  {
    Checkpointer checkpoints(trainer, {.folder = folder_, .every = 1, .async = false});
    for (int64_t step = 1; step <= 2; ++step) {
      checkpoints.after_step(trainer.step(batch(trainer.next_batch())));
    }
  }
  const std::string file = folder_ + "/step-00000002/model.safetensors";
  flip_bit(file);
  Checkpointer checkpoints(trainer, {.folder = folder_});
  auto resumed = checkpoints.resume();
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->step, 1);
  EXPECT_EQ(trainer.steps(), 1);
  EXPECT_THAT(resumed->damaged, ElementsAre(HasSubstr("step-00000002")));
  fs::resize_file(folder_ + "/step-00000001/model.safetensors", 20);
  EXPECT_THAT([&] { checkpoints.resume(); },
              ThrowsError(ErrorCode::kUnavailable, "none of the checkpoints"));
}

TEST_F(CheckpointerTest, WhatOneRankFindsDamagedAllPassOver) {
  for (const Spread& over : spreads()) {
    const std::string good = root_ + "/good_" + over.mesh_dim;
    distributed::run_ranks(2, [&](World&) {
      Deep net;
      spread(net, over);
      Trainer trainer(net, nn::mean_squared_error, options());
      Checkpointer checkpoints(trainer, {.folder = good, .every = 1, .async = false});
      for (int64_t step = 1; step <= 2; ++step) {
        checkpoints.after_step(trainer.step(batch(trainer.next_batch())));
      }
    });
    for (const Damage& damage : damages()) {
      SCOPED_TRACE(fmt::format("{} over {}", damage.what, over.mesh_dim));
      fs::remove_all(folder_);
      fs::copy(good, folder_, fs::copy_options::recursive);
      const std::string newest = folder_ + "/step-00000002/model-0000";
      damage.apply(newest + "2-of-00002.safetensors", newest + "1-of-00002.safetensors");
      distributed::run_ranks(2, [&](World&) {
        Deep net;
        spread(net, over);
        Trainer trainer(net, nn::mean_squared_error, options());
        Checkpointer checkpoints(trainer, {.folder = folder_});
        const auto resumed = checkpoints.resume();
        ASSERT_TRUE(resumed);
        EXPECT_EQ(resumed->step, 1);
        EXPECT_EQ(trainer.steps(), 1);
        EXPECT_THAT(resumed->damaged, ElementsAre(HasSubstr("step-00000002")));
        trainer.step(batch(trainer.next_batch()));
      });
      EXPECT_EQ(names(), (std::set<std::string>{"step-00000001", "step-00000002.damaged"}));
    }
  }
}

TEST_F(CheckpointerTest, RollsBackOnEveryRankPastOneThatOneRankFindsDamaged) {
  for (const Spread& over : spreads()) {
    SCOPED_TRACE(over.mesh_dim);
    fs::remove_all(folder_);
    distributed::run_ranks(2, [&](World& world) {
      Deep net;
      spread(net, over);
      Trainer trainer(net, nn::mean_squared_error, options(OnNonFinite::kSkip));
      Checkpointer checkpoints(trainer,
                               {.folder = folder_, .every = 1, .async = false, .roll_back = true});
      const auto step = [&](float spoil) {
        checkpoints.after_step(trainer.step(batch(trainer.next_batch(), spoil)));
      };
      step(0.0f);
      step(0.0f);
      if (world.rank() == 0) flip_bit(folder_ + "/step-00000002/model-00002-of-00002.safetensors");
      world.everyone().barrier();
      step(kInfinity);
      EXPECT_EQ(trainer.steps(), 1);
      EXPECT_EQ(trainer.next_batch(), 4);
      step(0.0f);
      EXPECT_EQ(trainer.steps(), 2);
      EXPECT_EQ(checkpoints.stats().rollbacks, 1);
    });
    EXPECT_EQ(names(),
              (std::set<std::string>{"step-00000001", "step-00000002", "step-00000002.damaged"}));
  }
}

TEST_F(CheckpointerTest, OneWithoutAnIndexIsPassedOverAndTold) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  const auto lose = [&](int64_t step) {
    const std::string index = fmt::format("{}/step-{:08}/{}", folder_, step, kIndex);
    fs::remove(index);
    return index;
  };
  for (const bool is_loop : {false, true}) {
    fs::remove_all(folder_);
    {
      Checkpointer checkpoints(trainer, {.folder = folder_, .every = 1, .async = false});
      for (int i = 0; i < 2; ++i) {
        checkpoints.after_step(trainer.step(batch(trainer.next_batch())));
      }
    }
    const int64_t last = trainer.steps();
    const std::string index = lose(last);
    if (is_loop) fs::create_symlink(index, index);
    fs::create_directory(fmt::format("{}/step-{:08}", folder_, last + 1));  // a save was cut off
    Checkpointer checkpoints(trainer, {.folder = folder_});
    const auto resumed = checkpoints.resume();
    ASSERT_TRUE(resumed);
    EXPECT_EQ(resumed->step, last - 1);
    EXPECT_THAT(resumed->damaged, ElementsAre(HasSubstr(kIndex)));
    EXPECT_TRUE(names().contains(fmt::format("step-{:08}.damaged", last)));
    EXPECT_TRUE(names().contains(fmt::format("step-{:08}", last + 1)));
    // Without an older one this is no new training.
    lose(last - 1);
    EXPECT_THAT([&] { checkpoints.resume(); }, ThrowsError(ErrorCode::kUnavailable, kIndex));
    EXPECT_THAT([&] { checkpoints.begin(); },
                ThrowsError(ErrorCode::kAlreadyExists, "has checkpoints of another training run"));
  }
}

TEST_F(CheckpointerTest, SignalsSaveAndStop) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  Checkpointer checkpoints(trainer, {.folder = folder_});
  const auto step = [&] { checkpoints.after_step(trainer.step(batch(trainer.next_batch()))); };
  step();
  EXPECT_THAT(names(), SizeIs(0));
  std::raise(SIGUSR1);
  step();
  EXPECT_EQ(checkpoints.stop_signal(), 0);
  std::raise(SIGTERM);
  step();
  EXPECT_EQ(checkpoints.stop_signal(), SIGTERM);
  EXPECT_EQ(names(), (std::set<std::string>{"step-00000002", "step-00000003"}));
  checkpoints.finish();
  EXPECT_EQ(checkpoints.stats().saves, 2) << "what is saved is not saved again";
}

TEST_F(CheckpointerTest, TheClockOfRank0IsEverybodys) {
  distributed::run_ranks(2, [&](World&) {
    Net net;
    nn::shard(net, ProcessMesh({2}, {"dp"}), nn::Layout().batches({{"dp", Shard(0)}}));
    Trainer trainer(net, nn::mean_squared_error, options());
    Checkpointer checkpoints(trainer, {.folder = folder_, .minutes = 1e-9, .async = false});
    for (int64_t step = 1; step <= 3; ++step) {
      checkpoints.after_step(trainer.step(batch(trainer.next_batch())));
    }
    EXPECT_EQ(checkpoints.stats().saves, 3);
  });
}

TEST_F(CheckpointerTest, RollsBackBehindTheBatchAtFault) {
  const auto train = [&](const std::vector<int64_t>& bad, std::vector<int64_t>* taken) {
    Net net;
    Trainer trainer(net, nn::mean_squared_error, options(OnNonFinite::kSkip));
    Checkpointer checkpoints(trainer,
                             {.folder = folder_, .every = 2, .async = false, .roll_back = true});
    while (trainer.steps() < 6) {
      const int64_t number = trainer.next_batch();
      taken->push_back(number);
      const bool is_bad = std::ranges::count(bad, number) > 0;
      checkpoints.after_step(trainer.step(batch(number, is_bad ? kInfinity : 0.0f)));
    }
    EXPECT_EQ(checkpoints.stats().rollbacks, std::ssize(bad));
    return net.parameter_at("out.weight").to_vector<float>();
  };
  std::vector<int64_t> taken;
  const auto weight = train({4}, &taken);
  EXPECT_THAT(taken, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));

  // The same as a training that never saw batches 3 and 4.
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  for (const int64_t number : {1, 2, 5, 6, 7, 8}) trainer.step(batch(number));
  EXPECT_EQ(net.parameter_at("out.weight").to_vector<float>(), weight);
}

TEST_F(CheckpointerTest, RollingBackForEverIsRefused) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options(OnNonFinite::kSkip));
  Checkpointer checkpoints(trainer,
                           {.folder = folder_, .every = 1, .async = false, .roll_back = true});
  const auto step = [&](float spoil) {
    checkpoints.after_step(trainer.step(batch(trainer.next_batch(), spoil)));
  };
  EXPECT_THAT([&] { step(kInfinity); },
              ThrowsError(ErrorCode::kNotFinite, "has no checkpoint to roll back to yet"));
  step(0.0f);
  for (int i = 0; i < 3; ++i) step(kInfinity);
  EXPECT_THAT([&] { step(kInfinity); },
              ThrowsError(ErrorCode::kNotFinite, "3 rollbacks did not get past it"));
}

// Steps that fail by turns are the furthest one's failures too.
TEST_F(CheckpointerTest, RollbacksAreCountedUpToTheFurthestStep) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options(OnNonFinite::kSkip));
  Checkpointer checkpoints(trainer,
                           {.folder = folder_, .every = 2, .async = false, .roll_back = true});
  const auto step = [&](float spoil) {
    checkpoints.after_step(trainer.step(batch(trainer.next_batch(), spoil)));
  };
  step(0.0f);
  step(0.0f);
  const auto fail_at_4 = [&] {
    step(0.0f);
    step(kInfinity);
  };
  fail_at_4();
  step(kInfinity);  // at 3
  fail_at_4();
  EXPECT_THAT([&] { step(kInfinity); },
              ThrowsError(ErrorCode::kNotFinite, "3 rollbacks did not get past it"));
}

TEST_F(CheckpointerTest, WhatWasResumedFromIsNotSavedAgain) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  for (const int64_t saves : {1, 0, 0}) {
    Checkpointer checkpoints(trainer, {.folder = folder_});
    EXPECT_EQ(checkpoints.resume().has_value(), saves == 0);
    if (saves == 1) trainer.step(batch(1));
    checkpoints.finish();
    EXPECT_EQ(checkpoints.stats().saves, saves);
  }
}

TEST_F(CheckpointerTest, AStepThatIsDamagedTwiceGetsTwoNames) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  for (int time = 0; time < 3; ++time) {
    Checkpointer checkpoints(trainer, {.folder = folder_, .every = 1, .async = false});
    if (time > 0) {
      flip_bit(folder_ + "/step-00000002/model.safetensors");
      EXPECT_EQ(checkpoints.resume()->step, 1);
    }
    while (trainer.steps() < 2) {
      checkpoints.after_step(trainer.step(batch(trainer.next_batch())));
    }
  }
  EXPECT_EQ(names(), (std::set<std::string>{"step-00000001", "step-00000002",
                                            "step-00000002.damaged", "step-00000002.damaged-2"}));
}

// One that is due while another is being written is done after that.
TEST_F(CheckpointerTest, ASaveThatIsDueDuringAnotherFollowsIt) {
  std::atomic<bool> held = true;
  const phi::testing::FileEffects effects(
      folder_, [&](size_t, phi::testing::FileEffect::Kind kind) {
        while (kind == phi::testing::FileEffect::Kind::kSync && held) std::this_thread::yield();
        return 0;
      });
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  held = false;
  Checkpointer checkpoints(trainer, {.folder = folder_});
  held = true;
  const auto step = [&] { checkpoints.after_step(trainer.step(batch(trainer.next_batch()))); };
  std::raise(SIGUSR1);
  step();
  std::raise(SIGUSR1);
  step();
  EXPECT_EQ(checkpoints.stats().saves, 0);
  held = false;
  for (int more = 0; more < 5000 && checkpoints.stats().saves < 2; ++more) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    step();
  }
  EXPECT_EQ(checkpoints.stats().saves, 2);
}

TEST_F(CheckpointerTest, AFolderThatDoesNotTakeItIsFoundBeforeTheFirstStep) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  std::ofstream(root_ + "/file") << "not a folder";
  EXPECT_THAT([&] { Checkpointer(trainer, {.folder = root_ + "/file/run"}); },
              ThrowsError(ErrorCode::kUnavailable, "file/run"));
  EXPECT_THAT(
      [&] { Checkpointer(trainer, {.folder = folder_, .fallback = root_ + "/file/second"}); },
      ThrowsError(ErrorCode::kUnavailable, "file/second"));
  const Checkpointer first(trainer, {.folder = folder_});
  EXPECT_THAT([&] { Checkpointer(trainer, {.folder = folder_}); },
              ThrowsError(ErrorCode::kAlreadyExists, "run"));
  EXPECT_THAT([&] { Checkpointer(trainer, {.folder = folder_, .keep = 0}); },
              ThrowsError(ErrorCode::kInvalidArgument, "keep 1 or more"));
}

TEST_F(CheckpointerTest, ASaveThatFailsIsToldAndTrainingGoesOn) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  Checkpointer checkpoints(trainer, {.folder = folder_, .every = 1, .async = false});
  const auto step = [&] { checkpoints.after_step(trainer.step(batch(trainer.next_batch()))); };
  step();
  std::ofstream(folder_ + "/step-00000002") << "in the way";
  step();
  EXPECT_EQ(checkpoints.stats().failures, 1);
  step();
  EXPECT_EQ(checkpoints.stats().saves, 2);
  EXPECT_EQ(names(), (std::set<std::string>{"step-00000001", "step-00000003"}));
  EXPECT_TRUE(fs::is_regular_file(folder_ + "/step-00000002")) << "a stranger's file stays";
}

TEST_F(CheckpointerTest, ATrainingThatBeginsDoesNotMixWithAnother) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  const auto step = [&](Checkpointer& checkpoints) {
    checkpoints.after_step(trainer.step(batch(trainer.next_batch())));
  };
  {
    Checkpointer checkpoints(trainer, {.folder = folder_, .every = 1, .async = false});
    checkpoints.begin();
    step(checkpoints);
  }
  Checkpointer checkpoints(trainer, {.folder = folder_, .every = 1});
  const auto matcher =
      ThrowsError(ErrorCode::kAlreadyExists,
                  "has checkpoints of another training run, the newest of step 1; resume");
  EXPECT_THAT([&] { checkpoints.begin(); }, matcher);
  EXPECT_THAT([&] { step(checkpoints); }, matcher);
  ASSERT_TRUE(checkpoints.resume());
  step(checkpoints);
  checkpoints.finish();
  EXPECT_EQ(names(), (std::set<std::string>{"step-00000001", "step-00000002"}));
}

TEST_F(CheckpointerTest, TheNewestMayBeInTheSecondFolder) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  const CheckpointerOptions both = {
      .folder = folder_, .every = 1, .async = false, .fallback = root_ + "/second"};
  {
    Checkpointer checkpoints(trainer, both);
    const auto step = [&] { checkpoints.after_step(trainer.step(batch(trainer.next_batch()))); };
    step();
    std::ofstream(folder_ + "/step-00000002") << "in the way";
    step();
    EXPECT_EQ(checkpoints.stats().saves, 2);
    EXPECT_EQ(checkpoints.stats().failures, 0);
  }
  Checkpointer checkpoints(trainer, both);
  const auto resumed = checkpoints.resume();
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->step, 2);
  EXPECT_THAT(resumed->path, HasSubstr("/second/step-00000002"));
}

// What is done in the first folder is done in the second: old ones go, the newest is found, none is
// mixed with, a damaged one is passed over and renamed, and a rollback leads there.
TEST_F(CheckpointerTest, BothFoldersAreTreatedAlike) {
  const std::string second = root_ + "/second";
  for (const std::string& folder : {folder_, second}) {
    SCOPED_TRACE(folder);
    fs::remove_all(folder_);
    fs::remove_all(second);
    fs::create_directories(folder_);
    for (int64_t step = 1; step <= 9 && folder == second; ++step) {
      std::ofstream(fmt::format("{}/step-{:08}", folder_, step)) << "in the way";
    }
    const CheckpointerOptions both = {.folder = folder_,
                                      .every = 1,
                                      .keep = 2,
                                      .async = false,
                                      .fallback = second,
                                      .roll_back = true};
    Net net;
    Trainer trainer(net, nn::mean_squared_error, options(OnNonFinite::kSkip));
    const auto step = [&](Checkpointer& checkpoints, float spoil = 0.0f) {
      checkpoints.after_step(trainer.step(batch(trainer.next_batch(), spoil)));
    };
    {
      Checkpointer checkpoints(trainer, both);
      for (int i = 0; i < 5; ++i) step(checkpoints);
    }
    EXPECT_EQ(names_in(folder), (std::set<std::string>{"step-00000004", "step-00000005"}));
    EXPECT_THAT([&] { Checkpointer(trainer, both).begin(); },
                ThrowsError(ErrorCode::kAlreadyExists, "the newest of step 5"));
    flip_bit(folder + "/step-00000005/model.safetensors");
    {
      Checkpointer checkpoints(trainer, both);
      const auto resumed = checkpoints.resume();
      ASSERT_TRUE(resumed);
      EXPECT_EQ(resumed->path, folder + "/step-00000004");
      EXPECT_EQ(names_in(folder),
                (std::set<std::string>{"step-00000004", "step-00000005.damaged"}));
      step(checkpoints);
      step(checkpoints, kInfinity);
      EXPECT_EQ(checkpoints.stats().rollbacks, 1);
      EXPECT_EQ(trainer.steps(), 5);
      EXPECT_EQ(trainer.next_batch(), 7);
    }
    EXPECT_EQ(names_in(folder),
              (std::set<std::string>{"step-00000004", "step-00000005", "step-00000005.damaged"}));
  }
}

TEST_F(CheckpointerTest, ACheckpointThatCannotBeLoadedForOtherReasonsKeepsItsName) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, options());
  {
    Checkpointer checkpoints(trainer, {.folder = folder_, .every = 1, .async = false});
    checkpoints.after_step(trainer.step(batch(1)));
  }
  {
    TrainerOptions momentum = options();
    momentum.optimizer.kind = OptimizerKind::kMomentum;
    Trainer other(net, nn::mean_squared_error, momentum);
    Checkpointer checkpoints(other, {.folder = folder_});
    EXPECT_THAT([&] { checkpoints.resume(); },
                ThrowsError(ErrorCode::kInvalidArgument, "has states of the optimizer adamw"));
  }
  // And one that is damaged does where there is no other.
  fs::resize_file(folder_ + "/step-00000001/model.safetensors", 20);
  Checkpointer checkpoints(trainer, {.folder = folder_});
  EXPECT_THAT([&] { checkpoints.resume(); }, ThrowsError(ErrorCode::kUnavailable, "can be read"));
  EXPECT_EQ(names(), (std::set<std::string>{"step-00000001"}));
}

}  // namespace
}  // namespace phi::training
