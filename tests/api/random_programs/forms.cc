// The table of forms: a new operator gets a row here, and a draw (draw_calls.cc).
#include "forms.h"

namespace phi::testing::programs {
namespace {

TensorList listed(Tensor x) { return {std::move(x)}; }
TensorList listed(TensorList xs) { return xs; }
TensorList nothing() { return {}; }

// For a call that gives what it makes, or what it writes to.
#define PROGRAM_FORM(name, traits, ...)                                           \
  Form {                                                                          \
    name, #__VA_ARGS__, [](const Call& a) { return listed(__VA_ARGS__); }, traits \
  }
// For a call that gives nothing.
#define PROGRAM_EFFECT(name, traits, ...) \
  Form {                                  \
    name, #__VA_ARGS__,                   \
        [](const Call& a) {               \
          __VA_ARGS__;                    \
          return nothing();               \
        },                                \
        traits                            \
  }

std::vector<Form> elementwise_forms() {
  return {
      PROGRAM_FORM("add", 0, add(a.x(0), a.x(1))),
      PROGRAM_FORM("subtract", 0, subtract(a.x(0), a.x(1))),
      PROGRAM_FORM("multiply", 0, multiply(a.x(0), a.x(1))),
      PROGRAM_FORM("divide", 0, divide(a.x(0), scale(square(a.x(1)), 1.0, 0.5))),
      PROGRAM_FORM("maximum", Form::kRough, maximum(a.x(0), a.x(1))),
      PROGRAM_FORM("where", Form::kRough, where(greater_equal(a.x(0), a.x(1)), a.x(0), a.x(1))),
      PROGRAM_FORM("tanh", 0, tanh(a.x(0))),
      PROGRAM_FORM("sigmoid", 0, sigmoid(a.x(0))),
      PROGRAM_FORM("relu", Form::kRough, relu(a.x(0))),
      PROGRAM_FORM("gelu", 0, gelu(a.x(0), a.flag(0))),
      PROGRAM_FORM("silu", 0, silu(a.x(0))),
      PROGRAM_FORM("square", 0, square(a.x(0))),
      PROGRAM_FORM("exp", 0, exp(scale(a.x(0), a.f(0)))),
      PROGRAM_FORM("log", 0, log(scale(square(a.x(0)), 1.0, 0.5))),
      PROGRAM_FORM("sqrt", 0, sqrt(scale(square(a.x(0)), 1.0, 0.5))),
      PROGRAM_FORM("rsqrt", 0, rsqrt(scale(square(a.x(0)), 1.0, 0.5))),
      PROGRAM_FORM("pow", 0, pow(a.x(0), a.f(0))),
      PROGRAM_FORM("scale", 0, scale(a.x(0), a.f(0), a.f(1))),
      PROGRAM_FORM("assign", 0, assign(a.x(0))),
      PROGRAM_FORM("cast", Form::kRough, cast(cast(a.x(0), DataType::FLOAT32), a.x(0).dtype())),
      PROGRAM_FORM("swiglu", 0, swiglu(a.x(0), a.opt(1))),
      PROGRAM_FORM("dropout", 0,
                   dropout(a.x(0), std::nullopt, 0.25, false, "upscale_in_train", 7, true)),
      PROGRAM_FORM("add_n", 0, add_n(a.from(0))),
  };
}

std::vector<Form> reduction_and_product_forms() {
  return {
      PROGRAM_FORM("sum", 0, sum(a.x(0), a.ns(0), DataType::UNDEFINED, a.flag(1))),
      PROGRAM_FORM("mean", 0, mean(a.x(0), a.ns(0), a.flag(1))),
      PROGRAM_FORM("max", Form::kRough, max(a.x(0), a.ns(0), a.flag(1))),
      PROGRAM_FORM("centred", 0, subtract(a.x(0), mean(a.x(0), a.ns(0), true))),
      PROGRAM_FORM("reduce_as", 0, reduce_as(a.x(0), a.x(1))),
      PROGRAM_FORM("norm", Form::kOnePlace, squared_l2_norm(a.x(0))),
      PROGRAM_FORM("softmax", 0, softmax(a.x(0), a.i(0))),
      PROGRAM_FORM("matmul", 0, scale(matmul(a.x(0), a.x(1), a.flag(0), a.flag(1)), 0.5)),
      PROGRAM_FORM("layer_norm", 0, layer_norm(a.x(0), a.opt(1), a.opt(2), 1e-3f, a.i(0))),
      PROGRAM_FORM("rms_norm", 0, rms_norm(a.x(0), a.x(1), 1e-3f)),
      PROGRAM_FORM("cross_entropy", 0,
                   std::get<1>(cross_entropy_with_softmax(a.x(0), Site::ids(a.ns(0), a.ns(1))))),
      PROGRAM_FORM("attention", 0,
                   squeeze(std::get<0>(flash_attention(
                               unsqueeze(a.x(0), {2}), unsqueeze(a.x(1), {2}),
                               unsqueeze(a.x(2), {2}), std::nullopt, a.opt(3), 0.0f, a.flag(0))),
                           {2})),
      PROGRAM_FORM("rope", 0,
                   squeeze(std::get<0>(fused_rotary_position_embedding(
                               unsqueeze(a.x(0), {2}), std::nullopt, std::nullopt, std::nullopt,
                               std::nullopt, std::nullopt)),
                           {2})),
      PROGRAM_FORM("rope_pair", 0, Site::rope_pair(a.x(0), a.x(1))),
  };
}

std::vector<Form> shape_forms() {
  return {
      PROGRAM_FORM("reshape", 0, reshape(a.x(0), a.ns(0))),
      PROGRAM_FORM("squeeze", 0, squeeze(a.x(0), a.ns(0))),
      PROGRAM_FORM("unsqueeze", 0, unsqueeze(a.x(0), a.ns(0))),
      PROGRAM_FORM("transpose", 0, transpose(a.x(0), a.perm(0))),
      PROGRAM_FORM("slice", 0, slice(a.x(0), a.ns(0), a.ns(1), a.ns(2))),
      PROGRAM_FORM("expand", 0, expand(a.x(0), a.ns(0))),
      PROGRAM_FORM("expand_as", 0, expand_as(a.x(0), a.x(1))),
      PROGRAM_FORM("tril", 0, tril(a.x(0), a.i(0))),
      PROGRAM_FORM("concat", 0, concat(a.from(0), a.n(0))),
      PROGRAM_FORM("split", Form::kGivesList, split(a.x(0), a.ns(0), a.n(1))),
      PROGRAM_FORM("gather", 0, gather(a.x(0), Site::ids(a.ns(0), a.ns(1)), a.n(2))),
      PROGRAM_FORM("embedding", 0, embedding(Site::ids(a.ns(0), a.ns(1)), a.x(0))),
      PROGRAM_FORM("one_hot", Form::kRough | Form::kOnePlace,
                   cast(one_hot(argmax(a.x(0), a.n(0)), a.n(1)), a.x(0).dtype())),
      PROGRAM_FORM("masked_sum", Form::kRough | Form::kUncaptured,
                   sum(masked_select(a.x(0), greater_equal(a.x(0), a.x(1))))),
      PROGRAM_FORM("constant", Form::kOnePlace,
                   deferred_gaussian(a.ns(0), 0.0f, 0.7f, a.seed(1), a.x(0).dtype())),
  };
}

std::vector<Form> inplace_forms() {
  return {
      PROGRAM_FORM("add_", Form::kWrites, add_(a.x(0), a.x(1))),
      PROGRAM_FORM("subtract_", Form::kWrites, subtract_(a.x(0), a.x(1))),
      PROGRAM_FORM("multiply_", Form::kWrites, multiply_(a.x(0), a.x(1))),
      PROGRAM_FORM("divide_", Form::kWrites, divide_(a.x(0), scale(square(a.x(1)), 1.0, 0.5))),
      PROGRAM_FORM("scale_", Form::kWrites, scale_(a.x(0), a.f(0), a.f(1))),
      PROGRAM_FORM("relu_", Form::kWrites | Form::kRough, relu_(a.x(0))),
      PROGRAM_FORM("tanh_", Form::kWrites, tanh_(a.x(0))),
      PROGRAM_FORM("sigmoid_", Form::kWrites, sigmoid_(a.x(0))),
      PROGRAM_FORM("square_", Form::kWrites, square_(a.x(0))),
      PROGRAM_FORM("softmax_", Form::kWrites, softmax_(a.x(0), a.i(0))),
      PROGRAM_FORM("tril_", Form::kWrites, tril_(a.x(0), a.i(0))),
      PROGRAM_FORM("reshape_", Form::kReshapes, reshape_(a.x(0), a.ns(0))),
      PROGRAM_FORM("squeeze_", Form::kReshapes, squeeze_(a.x(0), a.ns(0))),
      PROGRAM_FORM("unsqueeze_", Form::kReshapes, unsqueeze_(a.x(0), a.ns(0))),
      PROGRAM_FORM("sgd", Form::kUpdates, Site::sgd(a.x(0), a.x(1))),
      PROGRAM_FORM("momentum", Form::kUpdates, Site::momentum(a.x(0), a.x(1), a.x(2))),
      PROGRAM_FORM("adamw", Form::kUpdates, Site::adamw(a.x(0), a.x(1), a.x(2), a.x(3))),
  };
}

std::vector<Form> other_forms() {
  return {
      PROGRAM_FORM("reshard", 0, a.site.reshard(a.x(0), a.layout())),
      PROGRAM_EFFECT("start", 0, a.site.start(a.i(0), a.x(0), a.layout())),
      PROGRAM_FORM("wait", 0, a.site.wait(a.i(0))),
      PROGRAM_FORM("detached", Form::kOnePlace, a.site.detached(a.x(0))),
      PROGRAM_FORM("gradients", Form::kGivesList | Form::kOnePlace,
                   a.site.gradients(a.losses(), a.wanted(), a.pass())),
      PROGRAM_EFFECT("expect_stale", 0, a.site.expect_stale(a.x(0), a.from(2))),
      PROGRAM_FORM("recompute", 0, recompute(a.body(), a.from(0))),
      PROGRAM_FORM("scan", 0, scan(a.layer(), a.x(0), a.layers())),
  };
}

}  // namespace

size_t Form::num_written(size_t num_args) const {
  if (is(kUpdates)) return num_args - 1;
  return is(kWrites) || is(kReshapes) ? 1 : 0;
}

const std::vector<Form>& all_forms() {
  static const std::vector<Form> forms = [] {
    std::vector<Form> all;
    for (auto* table : {elementwise_forms, reduction_and_product_forms, shape_forms, inplace_forms,
                        other_forms}) {
      for (const Form& form : table()) all.push_back(form);
    }
    return all;
  }();
  return forms;
}

const Form* form(std::string_view name) {
  for (const Form& form : all_forms()) {
    if (form.name == name) return &form;
  }
  throw errors::NotFound("there is no form '{}'.", name);
}

}  // namespace phi::testing::programs
