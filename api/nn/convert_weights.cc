// Detects the format of a folder of weights, and converts between formats.
#include "api/nn/convert_weights.h"

#include <glog/logging.h>

#include <filesystem>
#include <utility>

#include "api/nn/checkpoint.h"
#include "api/nn/huggingface/folder.h"
#include "api/nn/models/model_checkpoint.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi::nn {
namespace {

namespace fs = std::filesystem;
using distributed::checkpoint::Checkpoint;
using huggingface::Folder;
using models::ModelConfig;

bool has_own_config(const std::string& folder) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / models::kConfigFile, ignored);
}

std::string path_in(const std::string& folder, const char* file) {
  return "'" + (fs::path(folder) / file).string() + "'";
}

void check_fits(const ModelConfig& wanted, const ModelConfig& found, const std::string& folder,
                const char* file) {
  const std::string faults = models::differences(wanted, found, path_in(folder, file));
  PHI_CHECK(faults.empty(), errors::InvalidArgument(
                                "the weights in '{}' belong to another model:{}", folder, faults));
}

// The model config of a folder in this library's format.
ModelConfig model_of(const std::string& folder, const std::optional<ModelConfig>& said) {
  if (!has_own_config(folder)) {
    PHI_CHECK(said, errors::InvalidArgument(
                        "the folder '{}' has no {} that describes the model of its weights; pass "
                        "the model's config (autophi weights convert --job=JOB.yaml).",
                        folder, models::kConfigFile));
    return *said;
  }
  const ModelConfig config = models::load_config(folder);
  if (said) check_fits(*said, config, folder, models::kConfigFile);
  return config;
}

Folder open_either(const std::string& from, const Conversion& conversion) {
  if (kind_of_folder(from) == FolderKind::kAutophi) {
    const ModelConfig model = model_of(from, conversion.model);
    return {{huggingface::architecture_of(model), model},
            weights_in(distributed::checkpoint::open(from))};
  }
  Folder folder = huggingface::open(from);
  if (conversion.model) {
    check_fits(*conversion.model, folder.config.model, from, huggingface::kConfigFile);
  }
  return folder;
}

}  // namespace

const char* name_of(FolderKind kind) {
  return kind == FolderKind::kAutophi ? "autophi" : "huggingface";
}

FolderKind kind_of_folder(const std::string& folder) {
  return huggingface::is_folder(folder) && !has_own_config(folder) ? FolderKind::kHuggingFace
                                                                   : FolderKind::kAutophi;
}

Checkpoint open_weights(const std::string& folder, const ModelConfig& model) {
  if (kind_of_folder(folder) == FolderKind::kHuggingFace) {
    const Folder found = huggingface::open(folder);
    check_fits(model, found.config.model, folder, huggingface::kConfigFile);
    if (RankContext::current().rank() == 0) {
      for (const std::string& note : found.config.notes) {
        LOG(WARNING) << path_in(folder, huggingface::kConfigFile) << ": " << note;
      }
    }
    return found.weights;
  }
  if (has_own_config(folder)) {
    check_fits(model, models::load_config(folder), folder, models::kConfigFile);
  }
  Checkpoint weights = weights_in(distributed::checkpoint::open(folder));
  models::check_model(weights, model);
  return weights;
}

std::vector<std::string> convert_weights(const std::string& from, const std::string& to,
                                         const Conversion& conversion) {
  Folder folder = open_either(from, conversion);
  if (conversion.to == FolderKind::kHuggingFace) {
    if (conversion.architecture) folder.config.architecture = *conversion.architecture;
    huggingface::write(to, folder.config, folder.weights, conversion.max_file_bytes);
  } else {
    PHI_CHECK(!has_own_config(to),
              errors::AlreadyExists("the folder '{}' already has a {}; pass a folder without one.",
                                    to, models::kConfigFile));
    distributed::checkpoint::copy_to_folder(
        folder.weights, to, models::metadata_of(folder.config.model), conversion.max_file_bytes);
    models::save_config(to, folder.config.model);
  }
  return folder.config.notes;
}

}  // namespace phi::nn
