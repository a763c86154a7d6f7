// A trainer that goes on, on its own mesh bit for bit, on others to rounding.
#include "api/training/checkpoint/trainer_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <map>

#include "api/generated/ops/cast.h"
#include "api/generated/ops/gaussian.h"
#include "api/nn/checkpoint.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/nn/models/decoder.h"
#include "api/tensor/checkpoint.h"
#include "api/tensor/local_shard.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/core/storage/source_bytes.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi::training {
namespace {

namespace checkpoint = distributed::checkpoint;
using distributed::ProcessMesh;
using distributed::World;

// A new folder for each test, gone at its end.
class TrainerCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = (std::filesystem::temp_directory_path() /
                               ("trainer_checkpoint_" + std::to_string(getpid()) + "_" +
                                ::testing::UnitTest::GetInstance()->current_test_info()->name()))
                                  .string();
};

struct Setting {
  std::string name = {};
  std::vector<int64_t> mesh = {};
  std::vector<std::string> dims = {};
  int zero = 0;
  int64_t chunks = 1;
  std::string schedule = "1f1b";
  bool capture = false;
  DataType dtype = DataType::FLOAT32;
  OptimizerKind kind = OptimizerKind::kAdamW;
  double dropout = 0.1;
  int64_t heads = 2;

  int64_t ranks() const {
    int64_t ranks = 1;
    for (const int64_t extent : mesh) ranks *= extent;
    return ranks;
  }
};

constexpr int64_t kVocab = 17;
constexpr int64_t kMicroBatches = 2;

std::unique_ptr<nn::models::Decoder> model_of(const Setting& setting) {
  auto model =
      nn::models::make(nn::models::GptConfig{.vocab = kVocab,
                                             .seq_len = 6,
                                             .d_model = 8,
                                             .layers = 4,
                                             .heads = setting.heads,
                                             .dropout = setting.capture ? 0.0 : setting.dropout});
  model->initialise(3, setting.dtype);
  if (setting.mesh.empty()) return model;
  const ProcessMesh mesh(setting.mesh, setting.dims);
  nn::shard(
      *model, mesh,
      nn::transformer_layout(*model, mesh, {.zero_stage = setting.zero, .chunks = setting.chunks}));
  return model;
}

Tensor ids(int64_t seed) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 24; ++i) values.push_back((seed * 31 + i * (i + seed)) % kVocab);
  return Tensor::from(std::move(values), {4, 6});
}

std::vector<Batch> batches(int64_t number) {
  std::vector<Batch> out;
  for (int64_t m = 0; m < kMicroBatches; ++m) {
    out.push_back({ids(2 * number + m), ids(2 * number + m + 1000)});
  }
  return out;
}

TrainerOptions options_of(const Setting& setting) {
  return {.optimizer = {.kind = setting.kind, .grad_clip = 1.0},
          .rate = {.peak = 0.01, .warmup_steps = 4},
          .micro_batches = kMicroBatches,
          .schedule = setting.schedule,
          .capture = setting.capture};
}

std::vector<double> losses_of(Trainer& trainer, int64_t steps) {
  std::vector<double> losses;
  while (trainer.steps() < steps) {
    losses.push_back(trainer.step(batches(trainer.next_batch())).loss);
  }
  return losses;
}

// Losses of steps 4 to 6, gone on from `folder` (empty: not interrupted).
std::vector<double> second_half(const Setting& setting, const std::string& folder) {
  std::vector<double> out;
  distributed::run_ranks(setting.ranks(), [&](World& world) {
    const auto model = model_of(setting);
    Trainer trainer(*model, nn::cross_entropy, options_of(setting));
    if (folder.empty()) {
      losses_of(trainer, 3);
    } else {
      load(checkpoint::open(folder), &trainer);
      EXPECT_EQ(trainer.steps(), 3);
    }
    const auto losses = losses_of(trainer, 6);
    if (world.rank() == 0) out = losses;
  });
  return out;
}

void save_after_3(const Setting& setting, const std::string& folder) {
  distributed::run_ranks(setting.ranks(), [&](World&) {
    const auto model = model_of(setting);
    Trainer trainer(*model, nn::cross_entropy, options_of(setting));
    losses_of(trainer, 3);
    save(folder, trainer);
  });
}

const std::vector<Setting> kSettings = {
    {.name = "plain"},
    {.name = "dp2 zero1", .mesh = {2}, .dims = {"dp"}, .zero = 1},
    {.name = "dp2 zero3", .mesh = {2}, .dims = {"dp"}, .zero = 3},
    {.name = "tp2", .mesh = {2}, .dims = {"tp"}},
    {.name = "pp2 zb_h1", .mesh = {2}, .dims = {"pp"}, .schedule = "zb_h1"},
    {.name = "pp2 interleaved",
     .mesh = {2},
     .dims = {"pp"},
     .chunks = 2,
     .schedule = "interleaved"},
    {.name = "dp2 pp2 zero2", .mesh = {2, 2}, .dims = {"dp", "pp"}, .zero = 2},
};

TEST_F(TrainerCheckpoint, OnTheSameMeshTheBitsAreThoseOfAnUnbrokenRun) {
  for (Setting setting : kSettings) {
    for (const bool capture : {false, true}) {
      setting.capture = capture && setting.schedule != "zb_h1";
      const std::string folder = folder_ + "/" + setting.name + (capture ? " captured" : "");
      save_after_3(setting, folder);
      EXPECT_EQ(second_half(setting, folder), second_half(setting, "")) << folder;
    }
  }
}

TEST_F(TrainerCheckpoint, EveryMeshGoesOnFromEveryOther) {
  for (const Setting& from : kSettings) {
    const std::string folder = folder_ + "/" + from.name;
    save_after_3(from, folder);
    const auto expected = second_half(from, "");
    for (const Setting& to : kSettings) {
      const auto losses = second_half(to, folder);
      ASSERT_EQ(losses.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(losses[i], expected[i], 2e-6 * expected[i]) << from.name << " to " << to.name;
      }
    }
  }
}

TEST_F(TrainerCheckpoint, TheGeneratorGoesOnWhereItWas) {
  seed(11);
  const auto model = model_of({});
  Trainer trainer(*model, nn::cross_entropy, options_of({}));
  losses_of(trainer, 1);
  gaussian({3});
  save(folder_ + "/new", trainer);
  const auto next = gaussian({3}).to_vector<float>();
  seed(2);
  load(checkpoint::open(folder_ + "/new"), &trainer);
  EXPECT_EQ(rng_state(), (RngState{.seed = 11, .draws = 1}));
  EXPECT_EQ(gaussian({3}).to_vector<float>(), next);

  // A checkpoint of a version without a generator says nothing of it.
  checkpoint::SaveOptions options = options_of(trainer);
  std::string& numbers = options.metadata.at(kTrainerKey);
  const size_t begin = numbers.find("\"generator\":{");
  ASSERT_NE(begin, std::string::npos) << numbers;
  numbers.erase(begin, numbers.find("},", begin) + 2 - begin);
  checkpoint::save(folder_ + "/old", trainer.states(), options);
  seed(3);
  load(checkpoint::open(folder_ + "/old"), &trainer);
  EXPECT_EQ(rng_state(), (RngState{.seed = 3}));
}

TEST_F(TrainerCheckpoint, ParametersOf16BitsComeFromTheirMastersAndBack) {
  Setting half = {.name = "half", .dtype = DataType::BFLOAT16};
  save_after_3(half, folder_ + "/half");
  const checkpoint::Checkpoint saved = checkpoint::open(folder_ + "/half");
  EXPECT_TRUE(saved.contains("optimizer.master.layer0.qkv.weight"));
  EXPECT_EQ(second_half(half, folder_ + "/half"), second_half(half, ""));

  const auto values = [](const Tensor& x) { return cast(x, DataType::FLOAT32).to_vector<float>(); };
  const auto model = model_of({});
  Trainer whole(*model, nn::cross_entropy, options_of({}));
  load(saved, &whole);
  std::vector<float> master(8 * 24);
  saved.read("optimizer.master.layer0.qkv.weight", Box::whole(Dims{8, 24}), DataType::FLOAT32,
             master.data());
  EXPECT_EQ(values(model->parameter_at("layer0.qkv.weight")), master);

  save(folder_ + "/whole", whole);
  const auto half_model = model_of(half);
  Trainer again(*half_model, nn::cross_entropy, options_of(half));
  load(checkpoint::open(folder_ + "/whole"), &again);
  for (const auto& [name, state] : again.states()) {
    if (name != "optimizer.master.layer0.qkv.weight") continue;
    EXPECT_EQ(values(state), master);
  }
}

// All that decides what a trainer does from here on.
struct TrainerState {
  TrainerCounters numbers;
  std::map<std::string, std::string> tensors;  // bytes on this rank

  friend bool operator==(const TrainerState&, const TrainerState&) = default;
};

TrainerState state_of(const Trainer& trainer) {
  TrainerState state{.numbers = trainer.counters(), .tensors = {}};
  for (const auto& [name, value] : trainer.states()) {
    const LocalShard here = local_shard(value);
    if (!here.array) continue;
    const HostBytes bytes(*here.array);
    const auto span = bytes.get();
    state.tensors[name].assign(reinterpret_cast<const char*>(span.data()), span.size());
  }
  return state;
}

// Each number is another one than a new trainer's, and than the others.
TrainerCounters odd_numbers() {
  TrainerCounters numbers;
  int next = 3;
  for_each_trainer_counter([&](const auto& number) {
    numbers.*number.value = static_cast<std::decay_t<decltype(numbers.*number.value)>>(next++);
  });
  return numbers;
}

void set_numbers(Trainer* trainer, const TrainerCounters& numbers) {
  trainer->restore(numbers, [](const std::string&, const Tensor& now) { return now; });
}

TEST_F(TrainerCheckpoint, EveryNumberIsKept) {
  const Setting half = {.dtype = DataType::FLOAT16};
  const auto first_model = model_of(half);
  Trainer first(*first_model, nn::cross_entropy, options_of(half));
  set_numbers(&first, odd_numbers());
  EXPECT_EQ(first.counters(), odd_numbers());
  save(folder_, first);
  EXPECT_EQ(counters_in(checkpoint::open(folder_)), odd_numbers());
  const auto second_model = model_of(half);
  Trainer second(*second_model, nn::cross_entropy, options_of(half));
  load(checkpoint::open(folder_), &second);
  EXPECT_EQ(second.counters(), odd_numbers());
}

// What a trainer is loaded into: a new one, one that has left steps out, one that has trained.
const std::vector<std::pair<const char*, TrainerCounters>> kPasts = {
    {"new", {}},
    {"left out", {.steps = 40, .loss_scale = 1e30, .left_out = 5}},
    {"trained", {.steps = 9, .updates = 9, .passes = 18, .data_offset = 2, .loss_scale = 8.0}}};

// Where it was saved: before the scale grows, and among steps that are left out.
const std::vector<std::pair<const char*, TrainerCounters>> kSaved = {
    {"growing", {.steps = 3, .updates = 2, .passes = 6, .loss_scale = 4.0, .finite_steps = 1997}},
    {"failing", {.steps = 3, .passes = 6, .data_offset = 1, .loss_scale = 1e30}}};

TEST_F(TrainerCheckpoint, AWholeStateGoesOnInATrainerWithAnyPast) {
  const std::vector<Setting> settings = {
      {.name = "half", .dtype = DataType::FLOAT16},
      {.name = "half zero1", .mesh = {2}, .dims = {"dp"}, .zero = 1, .dtype = DataType::FLOAT16},
      {.name = "zero3", .mesh = {2}, .dims = {"dp"}, .zero = 3},
      {.name = "pp2", .mesh = {2}, .dims = {"pp"}, .schedule = "zb_h1"},
      {.name = "momentum captured", .capture = true, .kind = OptimizerKind::kMomentum}};
  for (const Setting& setting : settings) {
    for (const auto& [what, numbers] : kSaved) {
      const std::string folder = fmt::format("{}/{} {}", folder_, setting.name, what);
      TrainerOptions options = options_of(setting);
      options.on_nonfinite = OnNonFinite::kSkip;
      distributed::run_ranks(setting.ranks(), [&, &saved = numbers](World& world) {
        const auto model = model_of(setting);
        Trainer trainer(*model, nn::cross_entropy, options);
        set_numbers(&trainer, saved);
        trainer.step(batches(trainer.next_batch()));
        save(folder, trainer);
        const TrainerState at_save = state_of(trainer);
        losses_of(trainer, at_save.numbers.steps + 3);
        const TrainerState after = state_of(trainer);
        for (const auto& [past, before] : kPasts) {
          SCOPED_TRACE(fmt::format("{} into one that is {}, rank {}", folder, past, world.rank()));
          const auto other_model = model_of(setting);
          Trainer other(*other_model, nn::cross_entropy, options);
          set_numbers(&other, before);
          losses_of(other, before.steps + 2);
          load(checkpoint::open(folder), &other);
          EXPECT_TRUE(state_of(other) == at_save);
          losses_of(other, at_save.numbers.steps + 3);
          EXPECT_EQ(other.counters(), after.numbers);
          EXPECT_TRUE(state_of(other) == after);
        }
      });
    }
  }
}

TEST_F(TrainerCheckpoint, ARankReadsItsShardsAlone) {
  save_after_3({}, folder_);
  const Setting setting = {.mesh = {2}, .dims = {"dp"}, .zero = 3};
  distributed::run_ranks(2, [&](World&) {
    const auto model = model_of(setting);
    Trainer trainer(*model, nn::cross_entropy, options_of(setting));
    const checkpoint::Checkpoint from = checkpoint::open(folder_);
    load(from, &trainer);
    int64_t held = 0;
    for (const auto& [name, state] : trainer.states()) {
      held += static_cast<int64_t>(state.nbytes_here());
    }
    EXPECT_EQ(from.bytes_read(), held);
    EXPECT_LT(held, 4 * model->num_parameters() * 3 * 3 / 5) << "about a half";
  });
}

TEST_F(TrainerCheckpoint, IsAFolderOfWeightsToo) {
  save_after_3({}, folder_);
  const auto trained = model_of({});
  nn::load(checkpoint::open(folder_), trained.get());
  const auto anew = model_of({});
  EXPECT_NE(trained->parameter_at("head").to_vector<float>(),
            anew->parameter_at("head").to_vector<float>());
}

TEST_F(TrainerCheckpoint, WhatDoesNotFitIsRefusedAndChangesNothing) {
  save_after_3({}, folder_);
  const auto loading = [&](const Setting& setting, const std::string& from) {
    return [=] {
      const auto model = model_of(setting);
      Trainer trainer(*model, nn::cross_entropy, options_of(setting));
      load(checkpoint::open(from), &trainer);
    };
  };
  EXPECT_THAT(loading({.kind = OptimizerKind::kMomentum}, folder_),
              ThrowsError(ErrorCode::kInvalidArgument,
                          "has states of the optimizer adamw, and this trainer's is momentum"));
  nn::save(folder_ + "/weights", *model_of({}));
  EXPECT_THAT(loading({}, folder_ + "/weights"),
              ThrowsError(ErrorCode::kInvalidArgument, "has weights and no state of a training"));
  // A net with other parameters.
  auto small = nn::models::make(
      nn::models::GptConfig{.vocab = kVocab, .seq_len = 6, .d_model = 8, .layers = 2, .heads = 2});
  Trainer trainer(*small, nn::cross_entropy, options_of({}));
  const auto before = small->parameter_at("head").to_vector<float>();
  EXPECT_THAT(
      [&] { load(checkpoint::open(folder_), &trainer); },
      ThrowsError(ErrorCode::kInvalidArgument, "'layer2.qkv.weight' f32[8,24] is not expected"));
  EXPECT_EQ(small->parameter_at("head").to_vector<float>(), before);
  EXPECT_EQ(trainer.steps(), 0);
}

TEST_F(TrainerCheckpoint, StatesThatAreNotFiniteAreNotSaved) {
  save_after_3({}, folder_);
  distributed::run_ranks(2, [&](World& world) {
    const Setting setting = {.mesh = {2}, .dims = {"tp"}};
    const auto model = model_of(setting);
    Trainer trainer(*model, nn::cross_entropy, options_of(setting));
    model->fill([&](const std::string& name, const Tensor& now) {
      std::vector<float> values(static_cast<size_t>(now.numel()), 0.5f);
      if (name == "layer1.up.weight") values.back() = std::numeric_limits<float>::quiet_NaN();
      return Tensor::from(std::move(values), now.shape());
    });
    EXPECT_THAT([&] { save(folder_, trainer); },
                ThrowsError(ErrorCode::kNotFinite, "rank 1: 'layer1.up.weight[0:8,"))
        << world.rank();
  });
  EXPECT_EQ(second_half({}, folder_), second_half({}, "")) << "the one before is unharmed";
}

}  // namespace
}  // namespace phi::training
