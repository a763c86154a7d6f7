// A kind of models for jobs: an MLP that classifies images.
//   | models: [build/model_kind/libmy_models.so]
//   | model: {kind: mlp, image_size: 8, channels: 1, classes: 3, hidden: 32}
#include <api/nn/models/register_model.h>
#include <api/nn/nn.h>
#include <distributed/api.h>
#include <phi/api.h>

namespace dist = phi::distributed;
namespace models = phi::nn::models;
namespace nn = phi::nn;
using phi::Tensor;

namespace {

class Hidden final : public nn::Layer {
 public:
  Hidden(nn::Module& parent, const nn::Name& name, int64_t inputs, int64_t hidden)
      : Layer(parent, name), up(*this, "up", inputs, hidden) {}
  Tensor forward(const Tensor& images) const override {
    const phi::Dims& shape = images.shape();
    return relu(up(reshape(images, {shape[0], shape[1] * shape[2] * shape[3]})));
  }
  nn::Linear up;
};

std::unique_ptr<nn::Sequential> make_mlp(const models::ModelValues& values) {
  const int64_t size = values.size("image_size");
  auto model = std::make_unique<nn::Sequential>();
  model->add<Hidden>("input", values.size("channels") * size * size, values.size("hidden"));
  model->add<nn::Linear>("output", values.size("hidden"), values.size("classes"));
  return model;
}

models::ModelKind mlp_kind() {
  models::ModelKind kind{.name = "mlp", .samples = models::SampleKind::kImages};
  kind.keys = {models::size_key("image_size", 32), models::size_key("channels", 3),
               models::size_key("classes", 10), models::size_key("hidden", 128)};
  kind.make = make_mlp;
  kind.splits_over_tp = true;
  kind.placements.parameters("input.up.weight", {{"tp", dist::Shard(1)}})
      .parameters("input.up.bias", {{"tp", dist::Shard(0)}})
      .parameters("output.weight", {{"tp", dist::Shard(0)}})
      .outputs("output", {{"tp", dist::Replicate()}});
  return kind;
}

PHI_REGISTER_MODEL(mlp_kind);

}  // namespace
