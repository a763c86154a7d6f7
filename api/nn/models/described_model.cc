// Descriptions of models, as JSON.
#include "api/nn/models/described_model.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "api/nn/checkpoint.h"
#include "api/nn/convert_weights.h"
#include "api/nn/models/model_checkpoint.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace phi::nn::models {
namespace {

namespace checkpoint = distributed::checkpoint;
using checkpoint::Json;

Json json_of(const ModelValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

std::string description_path(const std::string& folder) {
  return (std::filesystem::path(folder) / kConfigFile).string();
}

// The description next to the weights, if there is one.
std::optional<std::string> description_in(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(description_path(folder), ignored)) return std::nullopt;
  return checkpoint::read_text(description_path(folder));
}

void check_same(const ModelKind& kind, const ModelValues& values, std::string_view text,
                const std::string& path, const std::string& where, const std::string& folder) {
  const std::string faults = description_differences(kind, values, text, path, where);
  PHI_CHECK(faults.empty(), errors::InvalidArgument(
                                "the weights in '{}' belong to another model:{}", folder, faults));
}

}  // namespace

std::string describe_model(const ModelKind& kind, const ModelValues& values) {
  if (kind.decoder_config) return to_json(kind.decoder_config(values));
  std::string text = fmt::format("{{\n  \"kind\": {}", Json(kind.name).dump());
  for (const ModelKey& key : kind.keys) {
    text += fmt::format(",\n  {}: {}", Json(key.name).dump(), json_of(values.at(key.name)).dump());
  }
  return text + "\n}\n";
}

std::string description_differences(const ModelKind& kind, const ModelValues& values,
                                    std::string_view text, const std::string& path,
                                    const std::string& where) {
  const checkpoint::JsonFile file(path, text);
  const std::string& found = file.string(file.member(file.root(), "kind", "the config"), "'kind'");
  if (found != kind.name) {
    return fmt::format("\n  the model is a {}; {} is a {}", kind.name, where, found);
  }
  if (kind.decoder_config) {
    return differences(kind.decoder_config(values), from_json(text, path), where);
  }
  std::string lines;
  for (const ModelKey& key : kind.keys) {
    const Json own = json_of(values.at(key.name));
    const Json& other = file.member(file.root(), key.name.c_str(), "the config");
    if (key.name == "dropout" || own == other) continue;
    lines += fmt::format("\n  '{}' of the model is {}; in {} it is {}", key.name, own.dump(), where,
                         other.dump());
  }
  return lines;
}

void save_described(const std::string& folder, const Module& model, const std::string& description,
                    checkpoint::SaveOptions options) {
  options.metadata[kModelKey] = description;
  nn::save(folder, model, options);
  if (distributed::World::current().rank() != 0) return;
  checkpoint::make_folder(folder);
  checkpoint::write_text(description_path(folder), description);
}

checkpoint::Checkpoint open_described(const std::string& folder, const ModelKind& kind,
                                      const ModelValues& values) {
  const std::optional<std::string> description = description_in(folder);
  if (description) {
    check_same(kind, values, *description, description_path(folder),
               "'" + description_path(folder) + "'", folder);
  }
  if (kind.decoder_config) return open_weights(folder, kind.decoder_config(values));
  PHI_CHECK(
      kind_of_folder(folder) == FolderKind::kAutophi,
      errors::InvalidArgument("'{}' is a folder of Hugging Face, which only gpt and llama can "
                              "read; pass weights that a model of kind {} has saved.",
                              folder, kind.name));
  checkpoint::Checkpoint weights = weights_in(checkpoint::open(folder));
  const auto said = weights.metadata().find(kModelKey);
  if (said == weights.metadata().end()) return weights;
  check_same(kind, values, said->second, folder,
             fmt::format("the metadata of '{}'", weights.path()), folder);
  return weights;
}

}  // namespace phi::nn::models
