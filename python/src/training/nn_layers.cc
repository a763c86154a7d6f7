// The layers of the library as classes of autophi.nn. Each is a model until it becomes a submodule
// of another module.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>

#include "api/nn/layers/batch_norm.h"
#include "api/nn/loss.h"
#include "api/nn/nn.h"
#include "phi/common/errors.h"
#include "python/src/base/convert.h"
#include "python/src/base/errors.h"
#include "python/src/base/shared_reference.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/nn.h"

namespace phi::python {

namespace nb = nanobind;
using nn::Layer;

namespace {

nn::Initialiser or_normal(nb::handle init) {
  return init.is_none() ? nn::normal(0.02) : initialiser_from(init);
}

// Converts the name of an operator, or a Python function.
nn::Activation activation_from(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return nn::activation_named(nb::cast<std::string>(value));
  if (PyCallable_Check(value.ptr()) == 0) {
    refuse({"MLP", "activation"}, "the name of an operator or a function", value.ptr());
  }
  return [kept = shared_reference(value.ptr())](const Tensor& x) {
    const nb::gil_scoped_acquire lock;
    const nb::object result = nb::handle(kept.get())(x);
    if (!is_tensor(result.ptr())) {
      refuse({"MLP", "return value of the activation"}, "Tensor", result.ptr());
    }
    return tensor_of(result.ptr());
  };
}

nn::NormKind norm_kind(const std::string& name) {
  if (name == "layer_norm") return nn::NormKind::kLayerNorm;
  PHI_CHECK(name == "rms_norm",
            errors::InvalidArgument("norm must be 'layer_norm' or 'rms_norm', got '{}'.", name));
  return nn::NormKind::kRmsNorm;
}

nn::MlpKind mlp_kind(const std::string& name) {
  if (name == "mlp") return nn::MlpKind::kMlp;
  PHI_CHECK(name == "swiglu",
            errors::InvalidArgument("mlp must be 'mlp' or 'swiglu', got '{}'.", name));
  return nn::MlpKind::kSwiGlu;
}

auto no_init() { return nb::arg("init").none() = nb::none(); }

void bind_products(nb::module_& module) {
  nb::class_<nn::Linear, Layer>(
      module, "Linear",
      "Linear layer: x @ weight + bias.\n\n"
      "x [.., in] -> [.., out]. Parameters: `weight` [in, out] and `bias` [out].")
      .def(
          "__init__",
          [](nn::Linear* self, int64_t in, int64_t out, bool bias, nb::handle init) {
            make_model(self, in, out, nn::LinearOptions{.bias = bias, .weight = or_normal(init)});
          },
          nb::arg("in_features"), nb::arg("out_features"), nb::arg("bias") = true, no_init());
  nb::class_<nn::Embedding, Layer>(
      module, "Embedding",
      "Embedding lookup in a table [count, d].\n\n"
      "ids int64 [..] -> [.., d]. The parameter has the name of the module.")
      .def(
          "__init__",
          [](nn::Embedding* self, int64_t count, int64_t d, nb::handle init) {
            make_model(self, count, d, or_normal(init));
          },
          nb::arg("count"), nb::arg("d"), no_init());
  nb::class_<nn::PositionEmbedding, Layer>(
      module, "PositionEmbedding",
      "Learned position embedding: adds rows of a table [positions, d] to x.\n\n"
      "x [B,S,d] -> [B,S,d].")
      .def(
          "__init__",
          [](nn::PositionEmbedding* self, int64_t positions, int64_t d, nb::handle init) {
            make_model(self, positions, d, or_normal(init));
          },
          nb::arg("positions"), nb::arg("d"), no_init());
  nb::class_<nn::Head, Layer>(module, "Head",
                              "Language model head.\n\n"
                              "x [.., d] -> logits [.., count] in float32. Head(embedding) is "
                              "tied: it uses the embedding's\n"
                              "table, transposed, and has no parameter.")
      .def(
          "__init__",
          [](nn::Head* self, int64_t d, int64_t count, nb::handle init) {
            make_model(self, d, count, or_normal(init));
          },
          nb::arg("d"), nb::arg("count"), no_init())
      .def(
          "__init__",
          [](nn::Head* self, const nn::Embedding& embedding) { make_model(self, embedding); },
          nb::arg("embedding"), nb::keep_alive<1, 2>());
  nb::class_<nn::Conv2d, Layer>(module, "Conv2d",
                                "2-D convolution with windows of size x size.\n\n"
                                "x [B,in,H,W] -> [B,out,..]. Parameters: `weight` [out, in / "
                                "groups, size, size] and `bias` [out].")
      .def(
          "__init__",
          [](nn::Conv2d* self, int64_t in, int64_t out, int64_t size, int stride, int padding,
             int dilation, int groups, bool bias, nb::handle init) {
            nn::Conv2dOptions options{.stride = stride,
                                      .padding = padding,
                                      .dilation = dilation,
                                      .groups = groups,
                                      .bias = bias};
            if (!init.is_none()) options.weight = initialiser_from(init);
            make_model(self, in, out, size, options);
          },
          nb::arg("in_channels"), nb::arg("out_channels"), nb::arg("size"), nb::arg("stride") = 1,
          nb::arg("padding") = 0, nb::arg("dilation") = 1, nb::arg("groups") = 1,
          nb::arg("bias") = true, no_init());
}

void bind_norms(nb::module_& module) {
  nb::class_<nn::LayerNorm, Layer>(module, "LayerNorm",
                                   "Layer normalisation: (x - mean) / sqrt(variance + epsilon) * "
                                   "scale + shift over the last dim.\n\n"
                                   "Parameters: `scale` and `shift` [d].")
      .def(
          "__init__",
          [](nn::LayerNorm* self, int64_t d, double epsilon) { make_model(self, d, epsilon); },
          nb::arg("d"), nb::arg("epsilon") = 1e-5);
  nb::class_<nn::RMSNorm, Layer>(
      module, "RMSNorm",
      "RMS normalisation: x / sqrt(mean(x^2) + epsilon) * scale over the last dim.\n\n"
      "Parameter: `scale` [d].")
      .def(
          "__init__",
          [](nn::RMSNorm* self, int64_t d, double epsilon) { make_model(self, d, epsilon); },
          nb::arg("d"), nb::arg("epsilon") = 1e-5);
  nb::class_<nn::BatchNorm2d, Layer>(
      module, "BatchNorm2d",
      "Normalisation of each channel of x [B,c,..] over the global batch.\n\n"
      "Statistics do not depend on how the batch is sharded. In eval() running statistics are "
      "used.")
      .def(
          "__init__",
          [](nn::BatchNorm2d* self, int64_t c, double momentum, double epsilon) {
            make_model(self, c, nn::BatchNormOptions{.momentum = momentum, .epsilon = epsilon});
          },
          nb::arg("channels"), nb::arg("momentum") = 0.9, nb::arg("epsilon") = 1e-5);
  nb::class_<nn::Dropout, Layer>(
      module, "Dropout",
      "Dropout: in training mode each number is 0 with probability p, else x / (1 - p).\n\n"
      "Each call draws a new mask, the same on every mesh. In a Trainer, it depends on the model's "
      "seed\n"
      "and the micro-batch number; elsewhere on the rank's generator (autophi.seed).")
      .def(
          "__init__", [](nn::Dropout* self, double p) { make_model(self, p); }, nb::arg("p") = 0.5);
}

struct Heads {
  int64_t d_model, heads, kv_heads;
  bool fused, qkv_bias, projection_bias;
  std::optional<double> rope_base;
  bool causal;

  nn::AttentionOptions options() const {
    return {.d_model = d_model,
            .heads = heads,
            .kv_heads = kv_heads,
            .fused = fused,
            .qkv_bias = qkv_bias,
            .projection_bias = projection_bias,
            .rope_base = rope_base,
            .causal = causal};
  }
};

void bind_transformer(nb::module_& module) {
  nb::class_<nn::Attention, Layer>(module, "Attention",
                                   "Multi-head attention, x [B,S,d_model] -> [B,S,d_model].\n\n"
                                   "`kv_heads`: number of key and value heads (0: same as heads); "
                                   "`rope_base`: rotary positions;\n"
                                   "`fused`: one matmul for q, k and v.")
      .def(
          "__init__",
          [](nn::Attention* self, int64_t d_model, int64_t heads, int64_t kv_heads, bool fused,
             bool qkv_bias, bool projection_bias, std::optional<double> rope_base, bool causal,
             nb::handle init, nb::handle projection_init) {
            auto options =
                Heads{d_model, heads, kv_heads, fused, qkv_bias, projection_bias, rope_base, causal}
                    .options();
            options.weight = or_normal(init);
            options.projection = or_normal(projection_init);
            make_model(self, options);
          },
          nb::arg("d_model"), nb::arg("heads"), nb::kw_only(), nb::arg("kv_heads") = 0,
          nb::arg("fused") = false, nb::arg("qkv_bias") = true, nb::arg("projection_bias") = true,
          nb::arg("rope_base").none() = nb::none(), nb::arg("causal") = true, no_init(),
          nb::arg("projection_init").none() = nb::none());
  nb::class_<nn::MLP, Layer>(
      module, "MLP",
      "MLP: down(activation(up(x))), x [.., d] -> [.., d] with `hidden` units.\n\n"
      "`activation`: the name of an operator, or a function of a tensor.")
      .def(
          "__init__",
          [](nn::MLP* self, int64_t d, int64_t hidden, nb::handle activation, bool bias,
             nb::handle init, nb::handle down_init) {
            make_model(self, d, hidden,
                       nn::MlpOptions{.bias = bias,
                                      .activation = activation_from(activation),
                                      .weight = or_normal(init),
                                      .down = or_normal(down_init)});
          },
          nb::arg("d"), nb::arg("hidden"), nb::arg("activation") = "gelu_tanh",
          nb::arg("bias") = true, no_init(), nb::arg("down_init").none() = nb::none());
  nb::class_<nn::SwiGLU, Layer>(module, "SwiGLU",
                                "SwiGLU MLP: down(silu(gate(x)) * up(x)), x [.., d] -> [.., d].")
      .def(
          "__init__",
          [](nn::SwiGLU* self, int64_t d, int64_t hidden, bool bias, nb::handle init,
             nb::handle down_init) {
            make_model(self, d, hidden,
                       nn::MlpOptions{
                           .bias = bias, .weight = or_normal(init), .down = or_normal(down_init)});
          },
          nb::arg("d"), nb::arg("hidden"), nb::arg("bias") = false, no_init(),
          nb::arg("down_init").none() = nb::none());
  nb::class_<nn::TransformerBlock, Layer>(
      module, "TransformerBlock",
      "Transformer block: h + dropout(mlp(norm(h))) with h = x + dropout(attention(norm(x))).\n\n"
      "x [B,S,d_model] -> [B,S,d_model]. `norm`: 'layer_norm' or 'rms_norm'; `mlp`: 'mlp' or "
      "'swiglu';\n"
      "`hidden`: 0 for 4 d_model; `residual_init`: initialiser of the weights whose matmul output "
      "is\n"
      "added to x. Other options are those of Attention.")
      .def(
          "__init__",
          [](nn::TransformerBlock* self, int64_t d_model, int64_t heads, const std::string& norm,
             double epsilon, const std::string& mlp, int64_t hidden, nb::handle activation,
             bool bias, double dropout, int64_t kv_heads, bool fused, bool qkv_bias,
             bool projection_bias, std::optional<double> rope_base, bool causal, nb::handle init,
             nb::handle residual_init) {
            nn::BlockOptions options{
                .attention = Heads{d_model, heads, kv_heads, fused, qkv_bias, projection_bias,
                                   rope_base, causal}
                                 .options(),
                .norm = norm_kind(norm),
                .norm_epsilon = epsilon,
                .mlp = mlp_kind(mlp),
                .hidden = hidden,
                .mlp_options = {.bias = bias, .activation = activation_from(activation)},
                .dropout = dropout};
            options.attention.weight = options.mlp_options.weight = or_normal(init);
            options.attention.projection = options.mlp_options.down = or_normal(residual_init);
            make_model(self, options);
          },
          nb::arg("d_model"), nb::arg("heads"), nb::kw_only(), nb::arg("norm") = "layer_norm",
          nb::arg("epsilon") = 1e-5, nb::arg("mlp") = "mlp", nb::arg("hidden") = 0,
          nb::arg("activation") = "gelu_tanh", nb::arg("bias") = true, nb::arg("dropout") = 0.0,
          nb::arg("kv_heads") = 0, nb::arg("fused") = false, nb::arg("qkv_bias") = true,
          nb::arg("projection_bias") = true, nb::arg("rope_base").none() = nb::none(),
          nb::arg("causal") = true, no_init(), nb::arg("residual_init").none() = nb::none());
}

size_t link_number(const nn::Sequential& self, int64_t i) {
  const auto count = static_cast<int64_t>(self.num_links());
  PHI_CHECK(i >= -count && i < count,
            errors::OutOfRange("Sequential: link {} is out of range; it has {} links.", i, count));
  return static_cast<size_t>(i < 0 ? i + count : i);
}

std::vector<std::shared_ptr<Layer>> shared_layers(nb::handle links) {
  std::vector<std::shared_ptr<Layer>> layers;
  for (nb::handle link : links) {
    if (!nb::isinstance<Layer>(link)) refuse({"Sequential", "links"}, "modules", link.ptr());
    layers.push_back(shared_layer(link));
  }
  return layers;
}

void bind_sequential(nb::module_& module) {
  nb::class_<nn::Sequential, Layer>(
      module, "Sequential",
      "Layers that run one after the other, called links. A pipeline splits them into stages.\n\n"
      "    net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))        # '0', '1'\n"
      "    net = nn.Sequential()\n"
      "    net.append('tokens', nn.Embedding(256, 64))\n"
      "    net.repeat('block', [Block(64) for _ in range(6)])           # block0 .. block5")
      .def("__init__",
           [](nn::Sequential* self, nb::args links) {
             const auto layers = shared_layers(links);
             new (self) nn::Sequential();
             for (size_t i = 0; i < layers.size(); ++i) self->append(std::to_string(i), layers[i]);
           })
      .def(
          "append",
          [](nb::object self, const std::string& name, nb::handle link, bool flat) {
            auto& links = nb::cast<nn::Sequential&>(self);
            if (!nb::isinstance<Layer>(link)) refuse({"append", "link"}, "Module", link.ptr());
            links.append(flat ? nn::Name::flat(name) : nn::Name(name), shared_layer(link));
            return self;
          },
          nb::arg("name"), nb::arg("link"), nb::kw_only(), nb::arg("flat") = false,
          "Append a link and return the Sequential. `flat`: see add_module.")
      .def(
          "repeat",
          [](nb::object self, const std::string& name, nb::handle links) {
            nb::cast<nn::Sequential&>(self).append_repeated(name, shared_layers(links));
            return self;
          },
          nb::arg("name"), nb::arg("links"),
          "Append links name0, name1, .. of one kind.\n\n"
          "recompute='full' recomputes each in the backward pass. A captured program has one body "
          "for\n"
          "consecutive links that run the same operators on their own parameters and buffers; each "
          "link is\n"
          "called to check that. A link has its own body if an attribute or a frozen parameter "
          "differs, or\n"
          "if it writes to a buffer, as BatchNorm2d does.")
      .def("__len__", &nn::Sequential::num_links)
      .def("__getitem__", [](nb::handle self, int64_t i) {
        const auto& links = nb::cast<const nn::Sequential&>(self);
        return module_object(const_cast<Layer&>(links.link(link_number(links, i))), self);
      });
}

}  // namespace

void bind_layers(nb::module_& module) {
  bind_products(module);
  bind_norms(module);
  bind_transformer(module);
  bind_sequential(module);
  const auto free = [] { return nb::call_guard<nb::gil_scoped_release>(); };
  module.def("cross_entropy", &nn::cross_entropy, nb::arg("logits"), nb::arg("labels"), free(),
             "Mean of -log softmax(logits)[label], 0-D float32.\n\n"
             "logits [..,classes] float32, labels int64 [..,1]. Labels of -100 are ignored and not "
             "counted in\n"
             "the mean, which is 0 if all are ignored. Each micro-batch has its own mean.");
  module.def("mean_squared_error", &nn::mean_squared_error, nb::arg("x"), nb::arg("target"), free(),
             "Mean of (x - target)^2, 0-D float32.");
}

}  // namespace phi::python
