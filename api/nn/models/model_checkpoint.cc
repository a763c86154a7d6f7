// Checkpoints that contain the model's config.
#include "api/nn/models/model_checkpoint.h"

#include <utility>

#include "api/nn/checkpoint.h"
#include "api/nn/models/described_model.h"
#include "phi/common/errors.h"

namespace phi::nn::models {

namespace checkpoint = distributed::checkpoint;

std::map<std::string, std::string> metadata_of(const ModelConfig& config) {
  return {{kModelKey, to_json(config)}};
}

void check_model(const checkpoint::Checkpoint& from, const ModelConfig& wanted) {
  const auto said = from.metadata().find(kModelKey);
  if (said == from.metadata().end()) return;
  const std::string where = fmt::format("the metadata of '{}'", from.path());
  const std::string faults = differences(wanted, from_json(said->second, from.path()), where);
  PHI_CHECK(faults.empty(),
            errors::InvalidArgument("the weights in '{}' belong to another model:{}", from.path(),
                                    faults));
}

void save(const std::string& folder, const Decoder& model, checkpoint::SaveOptions options) {
  save_described(folder, model, to_json(model.config()), std::move(options));
}

std::unique_ptr<Decoder> load(const std::string& folder, DataType dtype) {
  auto model = make(load_config(folder));
  const checkpoint::Checkpoint from = checkpoint::open(folder);
  check_model(from, model->config());
  model->initialise(model->seed(), dtype);
  nn::load(from, model.get());
  return model;
}

}  // namespace phi::nn::models
