// Binds the models of the library, autophi.nn.models. Their configurations are keyword arguments.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <type_traits>
#include <vector>

#include "api/nn/models/config_fields.h"
#include "api/nn/models/decoder.h"
#include "api/nn/models/model_checkpoint.h"
#include "api/nn/models/resnet.h"
#include "api/nn/models/vit.h"
#include "phi/common/nearest_name.h"
#include "python/src/base/convert.h"
#include "python/src/base/dtype.h"
#include "python/src/base/errors.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/nn.h"

namespace phi::python {

namespace nb = nanobind;
namespace models = nn::models;

namespace {

// Returns a config whose fields have the values of the keywords, or their defaults.
template <typename Config>
Config config_from(const char* model, nb::kwargs keywords) {
  Config config;
  std::vector<std::string> names;
  size_t used = 0;
  models::for_each_field(config, [&](std::string_view name, auto& value) {
    names.emplace_back(name);
    if (!keywords.contains(names.back().c_str())) return;
    ++used;
    value = converted<std::remove_cvref_t<decltype(value)>>(
        nb::object(keywords[names.back().c_str()]).ptr(), {model, names.back().c_str()});
  });
  if (used == keywords.size()) return config;
  for (auto [key, value] : keywords) {
    const auto name = nb::cast<std::string>(key);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    raise(PyExc_TypeError,
          fmt::format("{} has no argument '{}'{}", model, name, did_you_mean(name, names)));
  }
  return config;
}

nb::dict config_dict(const models::Decoder& model) {
  nb::dict dict;
  dict["kind"] = std::string(models::kind_of(model.config()));
  std::visit(
      [&](const auto& config) {
        models::for_each_field(config, [&](std::string_view name, const auto& value) {
          dict[nb::cast(std::string(name))] = value;
        });
      },
      model.config());
  return dict;
}

template <typename Model, typename Config>
void bind_decoder(nb::module_& module, const char* name, const char* doc) {
  nb::class_<Model, models::Decoder>(module, name, doc)
      .def("__init__", [name](Model* self, nb::kwargs keywords) {
        new (self) Model(config_from<Config>(name, keywords));
        track_parameters(*self);
      });
}

void bind_decoders(nb::module_& module) {
  nb::class_<models::Decoder, nn::Sequential>(
      module, "Decoder",
      "Transformer language model: ids int64 [B,S] -> logits float32 [B,S,vocab].")
      .def_prop_ro("config", &config_dict, "Configuration of the model, as a dict.")
      .def_prop_ro("vocab", &models::Decoder::vocab)
      .def_prop_ro("seq_len", &models::Decoder::seq_len);
  bind_decoder<models::Gpt, models::GptConfig>(
      module, "GPT",
      "GPT: learned positions, layer norms, biases, GELU, dropout.\n\n"
      "Keywords: vocab=256, seq_len=256, d_model=384, layers=6, heads=6, hidden=1536,\n"
      "activation='gelu_tanh', dropout=0.0, norm_eps=1e-5, tied_head=False.");
  bind_decoder<models::Llama, models::LlamaConfig>(
      module, "Llama",
      "Llama: rotary positions, RMS norms, grouped queries, SwiGLU.\n\n"
      "Keywords: vocab=256, seq_len=256, d_model=384, layers=6, heads=6, kv_heads=6, ffn=1024,\n"
      "rope_base=10000.0, norm_eps=1e-5, qkv_bias=False, tied_head=False.");
}

void bind_vision(nb::module_& module) {
  nb::class_<models::ResNet, nn::Sequential>(
      module, "ResNet",
      "ResNet: float32 images [B,C,H,W] -> logits [B,classes]. The defaults are a ResNet-18.")
      .def(
          "__init__",
          [](models::ResNet* self, std::vector<int64_t> blocks, int64_t width, int64_t channels,
             int64_t classes) {
            new (self) models::ResNet({std::move(blocks), width, channels, classes});
            track_parameters(*self);
          },
          nb::kw_only(), nb::arg("blocks") = std::vector<int64_t>{2, 2, 2, 2},
          nb::arg("width") = 64, nb::arg("channels") = 3, nb::arg("classes") = 10);
  nb::class_<models::Vit, nn::Sequential>(
      module, "ViT", "Vision transformer: float32 images [B,C,H,W] -> logits [B,classes].")
      .def(
          "__init__",
          [](models::Vit* self, int64_t image, int64_t patch, int64_t channels, int64_t classes,
             int64_t d_model, int64_t layers, int64_t heads, std::optional<int64_t> hidden,
             double dropout, double norm_eps) {
            new (self) models::Vit({.image = image,
                                    .patch = patch,
                                    .channels = channels,
                                    .classes = classes,
                                    .d_model = d_model,
                                    .layers = layers,
                                    .heads = heads,
                                    .hidden = hidden.value_or(4 * d_model),
                                    .dropout = dropout,
                                    .norm_eps = norm_eps});
            track_parameters(*self);
          },
          nb::kw_only(), nb::arg("image") = 32, nb::arg("patch") = 4, nb::arg("channels") = 3,
          nb::arg("classes") = 10, nb::arg("d_model") = 192, nb::arg("layers") = 6,
          nb::arg("heads") = 3, nb::arg("hidden").none() = nb::none(), nb::arg("dropout") = 0.0,
          nb::arg("norm_eps") = 1e-6);
}

nb::object load_model(const std::string& folder, nb::handle dtype) {
  const DataType wanted = dtype_from(dtype.ptr(), {"load", "dtype"});
  GilRelease others;
  std::unique_ptr<models::Decoder> model = models::load(folder, wanted);
  others.end();
  track_parameters(*model);
  return nb::cast(model.release(), nb::rv_policy::take_ownership);
}

}  // namespace

void bind_models(nb::module_& nn_module) {
  nb::module_ module = nn_module.def_submodule("models");
  bind_decoders(module);
  bind_vision(module);
  module.def(
      "save",
      [](const std::string& folder, const models::Decoder& model) {
        const GilRelease others;
        models::save(folder, model);
      },
      nb::arg("folder"), nb::arg("model"),
      "Save the weights and the model's configuration (model.json).\n\n"
      "Collective: each rank writes its shards.");
  module.def("load", &load_model, nb::arg("folder"), nb::kw_only(), nb::arg("dtype") = "float32",
             "Load the model that save() wrote.\n\n"
             "After nn.shard(), each rank reads its shards only.");
}

}  // namespace phi::python
