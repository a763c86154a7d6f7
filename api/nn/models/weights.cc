// Weights with their config.
#include "api/nn/models/weights.h"

#include "api/nn/checkpoint.h"
#include "distributed/comm/world.h"

namespace phi::nn::models {

void save(const std::string& folder, const Decoder& model) {
  nn::save(folder, model);
  if (distributed::World::current().rank() == 0) save_config(folder, model.config());
}

std::unique_ptr<Decoder> load(const std::string& folder, DataType dtype) {
  auto model = make(load_config(folder));
  model->initialise(model->seed(), dtype);
  nn::load(distributed::checkpoint::open(folder), model.get());
  return model;
}

}  // namespace phi::nn::models
