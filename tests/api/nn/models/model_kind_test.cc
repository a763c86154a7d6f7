// Kinds of models: their rows, their values, and libraries that add some.
#include "api/nn/models/model_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/nn/models/decoder.h"
#include "api/nn/models/described_model.h"
#include "api/nn/models/load_models.h"
#include "api/nn/models/resnet.h"
#include "api/nn/models/vit.h"
#include "tests/phi/memory/scratch_folder.h"
#include "tests/support/error_matchers.h"

namespace phi::nn::models {
namespace {

using ::testing::HasSubstr;

ModelKind row(const std::string& name) {
  return {.name = name,
          .samples = SampleKind::kTokens,
          .keys = {size_key("vocab", 4), size_key("seq_len", 8)},
          .make = [](const ModelValues&) { return std::make_unique<Sequential>(); }};
}

std::unique_ptr<Sequential> make_default(const char* kind) {
  return model_kind(kind).make(default_values(model_kind(kind)));
}

TEST(ModelKind, DefaultsAreThoseOfTheConfigs) {
  EXPECT_EQ(dynamic_cast<Gpt&>(*make_default("gpt")).config(), ModelConfig(GptConfig{}));
  EXPECT_EQ(dynamic_cast<Llama&>(*make_default("llama")).config(), ModelConfig(LlamaConfig{}));
  EXPECT_EQ(make_default("resnet")->num_parameters(), ResNet(ResNetConfig{}).num_parameters());
  EXPECT_EQ(make_default("vit")->num_parameters(), Vit(VitConfig{}).num_parameters());
}

TEST(ModelKind, AKeyMayHaveTheDefaultOfAnother) {
  EXPECT_EQ(default_values(model_kind("llama")).size("kv_heads"), 6);
}

TEST(ModelKind, AnUnknownKindIsToldWithTheOthers) {
  EXPECT_THAT([] { model_kind("resnt"); },
              ThrowsError(ErrorCode::kNotFound,
                          "there is no kind of models 'resnt', did you mean 'resnet'? Kinds are "
                          "gpt, llama, resnet, vit"));
  EXPECT_THAT([] { model_kind("?"); }, ThrowsError(ErrorCode::kNotFound, "`models:` in a job"));
}

TEST(ModelKind, AValueOfAnotherTypeIsAnError) {
  const ModelValues values = default_values(model_kind("gpt"));
  EXPECT_THAT([&] { (void)values.text("vocab"); },
              ThrowsError(ErrorCode::kNotFound, "the model's key 'vocab' has another type"));
  EXPECT_THAT([&] { (void)values.size("blocks"); },
              ThrowsError(ErrorCode::kNotFound, "the model has no key 'blocks'"));
}

TEST(ModelKind, AWrongRowIsRefused) {
  const auto refused = [](const ModelKind& kind, const char* words) {
    EXPECT_THAT(
        [&] {
          add_model_kinds({row("t_good"), kind});
        },
        ThrowsError(ErrorCode::kInvalidArgument, words));
    EXPECT_EQ(find_model_kind("t_good"), nullptr) << "all or none";
  };
  ModelKind unmade = row("t_bad");
  unmade.make = nullptr;
  refused(unmade, "'t_bad' must have a name and a function make");
  ModelKind twice = row("t_bad");
  twice.keys.push_back(size_key("vocab", 4));
  refused(twice, "'t_bad' has the key 'vocab' twice");
  ModelKind seeded = row("t_bad");
  seeded.keys.push_back(size_key("seed", 4));
  refused(seeded, "one of kind and seed, which every kind has");
  ModelKind unsized = row("t_bad");
  unsized.keys.pop_back();
  refused(unsized, "'t_bad' must have a size 'seq_len', which its batches are made from");
  ModelKind other = row("t_bad");
  other.keys.push_back(text_key("layers", "many"));
  refused(other, "the key 'layers' of the kind of models 't_bad' has another type than in 'gpt'");
  EXPECT_THAT([] { add_model_kinds({row("gpt")}); },
              ThrowsError(ErrorCode::kAlreadyExists, "there is a kind of models 'gpt' already"));
}

TEST(ModelKind, ValuesThatDescribeNoModelNameTheirKeys) {
  const auto fault = [](const char* kind, const char* key, ModelValue value) {
    ModelValues values = default_values(model_kind(kind));
    values.set(key, std::move(value));
    return model_kind(kind).find_fault(values)->message;
  };
  EXPECT_THAT(fault("gpt", "heads", int64_t{5}), HasSubstr("5 heads do not divide d_model 384"));
  EXPECT_THAT(fault("vit", "heads", int64_t{5}), HasSubstr("5 heads do not divide d_model 192"));
  EXPECT_THAT(fault("vit", "patch", int64_t{5}), HasSubstr("patches of 5 do not divide"));
  EXPECT_THAT(fault("resnet", "blocks", std::vector<int64_t>{}), HasSubstr("is empty"));
}

TEST(DescribedModel, DiffersByKeys) {
  const ModelKind& kind = model_kind("resnet");
  const ModelValues values = default_values(kind);
  const std::string text = describe_model(kind, values);
  EXPECT_EQ(text,
            "{\n  \"kind\": \"resnet\",\n  \"blocks\": [2,2,2,2],\n  \"width\": 64,\n  "
            "\"channels\": 3,\n  \"classes\": 10\n}\n");
  EXPECT_EQ(description_differences(kind, values, text, "f", "f"), "");
  ModelValues other = values;
  other.set("classes", int64_t{5});
  EXPECT_EQ(description_differences(kind, other, text, "f", "f"),
            "\n  'classes' of the model is 5; in f it is 10");
  EXPECT_EQ(
      description_differences(model_kind("gpt"), default_values(model_kind("gpt")), text, "f", "f"),
      "\n  the model is a gpt; f is a resnet");
}

TEST(DescribedModel, IsComparedWithWeights) {
  const memory::ScratchFolder folder;
  const ModelKind& kind = model_kind("resnet");
  ModelValues values = default_values(kind);
  values.set("blocks", std::vector<int64_t>{1});
  values.set("width", int64_t{2});
  const auto model = kind.make(values);
  model->initialise(1);
  save_described(folder.path(), *model, describe_model(kind, values));
  EXPECT_NO_THROW(open_described(folder.path(), kind, values));
  values.set("width", int64_t{4});
  EXPECT_THAT([&] { open_described(folder.path(), kind, values); },
              ThrowsError(ErrorCode::kInvalidArgument, "'width' of the model is 4"));
}

TEST(LoadModels, AddsKindsOnce) {
  EXPECT_EQ(load_models(T_MODELS), std::vector<std::string>{"mlp"});
  EXPECT_EQ(load_models(T_MODELS), std::vector<std::string>{"mlp"});
  EXPECT_EQ(make_default("mlp")->num_parameters(), 3 * 32 * 32 * 128 + 128 + 128 * 10 + 10);
}

TEST(LoadModels, ATakenNameRefusesTheWholeLibrary) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(
        [] { load_models(T_SAME_MODEL); },
        ThrowsError(ErrorCode::kAlreadyExists, "there is a kind of models 'resnet' already"));
    EXPECT_EQ(find_model_kind("t_free"), nullptr);
  }
}

TEST(LoadModels, WhatIsNoLibraryOfModelsIsTold) {
  EXPECT_THAT([] { load_models("no/such.so"); },
              ThrowsError(ErrorCode::kNotFound, "there is no model library 'no/such.so'"));
  EXPECT_THAT([] { load_models(AUTOPHI_SOURCE_DIR "/README.md"); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "is not a model library; link one with autophi::autophi"));
  EXPECT_THAT([] { load_models(T_FIRST_OPS); },
              ThrowsError(ErrorCode::kInvalidArgument, "was loaded but registered no model"));
}

}  // namespace
}  // namespace phi::nn::models
