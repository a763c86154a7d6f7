// Normalisation, loss, attention, rotary embedding and lookups, with their gradients.
#include "tests/api/stablehlo/case_inputs.h"

namespace phi::testing {
namespace {

void add_layer_norm(const char* name, bool affine, DataType dtype, double tolerance,
                    std::vector<CallCase>& cases) {
  const Tensor x = normal({4, 8, 6}, 1, dtype);
  const OptionalTensor scale = affine ? OptionalTensor(normal({48}, 7, dtype)) : std::nullopt;
  const OptionalTensor bias = affine ? OptionalTensor(normal({48}, 8, dtype)) : std::nullopt;
  const Tensor g = normal({4, 8, 6}, 9, dtype);
  const auto [out, mean, variance] = intermediate::layer_norm(x, scale, bias, 1e-5f, 1);
  const Attributes attributes = {{"epsilon", double{1e-5f}}, {"begin_norm_axis", int64_t{1}}};
  cases.push_back({name,
                   "layer_norm",
                   {one(x), one(scale), one(bias)},
                   attributes,
                   [=, out = out, mean = mean, variance = variance] {
                     return TensorList{out, mean, variance};
                   },
                   tolerance});
  const auto add_grad = [&](const char* suffix, GradMask wanted) {
    cases.push_back({std::string(name) + suffix,
                     "layer_norm_grad",
                     {one(x), one(scale), one(bias), one(mean), one(variance), one(g)},
                     attributes,
                     [=, mean = mean, variance = variance] {
                       return list_of(
                           layer_norm_grad(x, scale, bias, mean, variance, g, 1e-5f, 1, wanted));
                     },
                     tolerance});
  };
  add_grad("_grad", affine ? GradMask() : GradMask({0}));
  if (affine) add_grad("_grad_of_parameters", GradMask({1, 2}));
}

void add_rms_norm(std::vector<CallCase>& cases) {
  const Tensor x = normal({4, 8, 6});
  const Tensor scale = normal({6}, 7);
  const Tensor g = normal({4, 8, 6}, 9);
  const auto [out, invvar] = intermediate::rms_norm(x, scale);
  cases.push_back({"rms_norm",
                   "rms_norm",
                   {one(x), one(scale)},
                   {{"epsilon", double{1e-6f}}},
                   [=, out = out, invvar = invvar] {
                     return TensorList{out, invvar};
                   }});
  cases.push_back({"rms_norm_grad",
                   "rms_norm_grad",
                   {one(x), one(scale), one(invvar), one(g)},
                   {},
                   [=, invvar = invvar] { return list_of(rms_norm_grad(x, scale, invvar, g)); }});
}

struct Loss {
  const char* name;
  bool soft, use_softmax;
  int axis;
};

void add_loss(const Loss& loss, std::vector<CallCase>& cases) {
  const Dims shape = loss.axis == 1 ? Dims{4, 10, 8} : Dims{4, 8, 10};
  const Tensor logits = normal(shape);
  const Tensor x = loss.use_softmax ? logits : softmax(logits, loss.axis);
  Tensor label = loss.soft ? softmax(normal(shape, 7), loss.axis) : ids({4, 8}, 10);
  const auto ignored = static_cast<int>(loss.soft ? -100 : label.values<int64_t>()[3]);
  const auto [share, term] =
      cross_entropy_with_softmax(x, label, loss.soft, loss.use_softmax, true, ignored, loss.axis);
  const Tensor g = normal(term.shape(), 9);
  const Attributes of_gradient = {{"soft_label", loss.soft},
                                  {"use_softmax", loss.use_softmax},
                                  {"ignore_index", int64_t{ignored}},
                                  {"axis", int64_t{loss.axis}}};
  Attributes attributes = of_gradient;
  attributes.insert(attributes.begin() + 2, ir::Attribute{"numeric_stable_mode", true});
  cases.push_back({loss.name,
                   "cross_entropy_with_softmax",
                   {one(x), one(label)},
                   attributes,
                   [=, share = share, term = term] {
                     return TensorList{share, term};
                   }});
  cases.push_back({std::string(loss.name) + "_grad",
                   "cross_entropy_with_softmax_grad",
                   {one(label), one(share), one(g)},
                   of_gradient,
                   [=, share = share] {
                     return TensorList{cross_entropy_with_softmax_grad(
                         label, share, g, loss.soft, loss.use_softmax, ignored, loss.axis)};
                   }});
}

struct Attended {
  const char* name;
  int64_t sq, sk, heads, kv_heads;
  float dropout;
  bool causal, masked, want_softmax;
  DataType dtype = DataType::FLOAT32;
};

void add_attention(const Attended& a, std::vector<CallCase>& cases) {
  const Tensor q = normal({2, a.sq, a.heads, 4}, 1, a.dtype);
  const Tensor k = normal({2, a.sk, a.kv_heads, 4}, 7, a.dtype);
  const Tensor v = normal({2, a.sk, a.kv_heads, 6}, 8, a.dtype);
  const OptionalTensor mask =
      a.masked ? OptionalTensor(normal({2, 1, a.sq, a.sk}, 9, a.dtype)) : std::nullopt;
  const std::vector<int64_t> seeds = {41, 3};
  const OptionalTensor seed =
      a.dropout > 0 ? OptionalTensor(Tensor::from<int64_t>(seeds, {2})) : std::nullopt;
  const auto [out, softmax, lse, seed_out] = intermediate::flash_attention(
      q, k, v, seed, mask, a.dropout, a.causal, a.want_softmax, false);
  const Tensor g = normal(out.shape(), 10, a.dtype);
  const double tolerance = a.dtype == DataType::BFLOAT16 ? kBfloat16 : 1e-5;
  cases.push_back({a.name,
                   "flash_attention",
                   {one(q), one(k), one(v), one(seed), one(mask)},
                   {{"dropout", double{a.dropout}},
                    {"causal", a.causal},
                    {"return_softmax", a.want_softmax},
                    {"is_test", false}},
                   [=, out = out, softmax = softmax, lse = lse, seed_out = seed_out] {
                     return TensorList{out, softmax, lse, seed_out};
                   },
                   tolerance});
  cases.push_back({std::string(a.name) + "_grad",
                   "flash_attention_grad",
                   {one(q), one(k), one(v), one(out), one(lse), one(seed), one(mask), one(g)},
                   {{"dropout", double{a.dropout}}, {"causal", a.causal}, {"is_test", false}},
                   [=, out = out, lse = lse] {
                     return list_of(flash_attention_grad(q, k, v, out, lse, seed, mask, g,
                                                         a.dropout, a.causal, false));
                   },
                   tolerance});
}

struct Rotated {
  const char* name;
  bool adjacent, time_major, with_tables, with_ids;
};

void add_rotation(const Rotated& r, std::vector<CallCase>& cases) {
  constexpr int64_t kBatch = 2, kSeq = 8, kWidth = 6;
  const auto shape = [&](int64_t heads) {
    return r.time_major ? Dims{kSeq, kBatch, heads, kWidth} : Dims{kBatch, kSeq, heads, kWidth};
  };
  const Tensor q = normal(shape(4));
  const Tensor k = normal(shape(2), 7);
  const auto table = [&](int seed) {
    return r.with_tables ? OptionalTensor(normal({1, kSeq, 1, kWidth}, seed)) : std::nullopt;
  };
  const OptionalTensor sine = table(8);
  const OptionalTensor cosine = table(9);
  const OptionalTensor positions =
      r.with_ids ? OptionalTensor(ids({kBatch, kSeq}, kSeq)) : std::nullopt;
  const Attributes attributes = {{"use_neox_rotary_style", r.adjacent},
                                 {"time_major", r.time_major},
                                 {"rotary_emb_base", 10000.0}};
  const std::vector<std::vector<OptionalTensor>> inputs = {one(q),    one(k),      none(),
                                                           one(sine), one(cosine), one(positions)};
  const size_t first = cases.size();
  cases.push_back({r.name, "fused_rotary_position_embedding", inputs, attributes, [=] {
                     return list_of(fused_rotary_position_embedding(
                         q, k, std::nullopt, sine, cosine, positions, r.adjacent, r.time_major));
                   }});
  cases.push_back({std::string(r.name) + "_grad", "fused_rotary_position_embedding_grad", inputs,
                   attributes, [=] {
                     return list_of(fused_rotary_position_embedding_grad(
                         q, k, std::nullopt, sine, cosine, positions, r.adjacent, r.time_major,
                         10000.0f, GradMask({0, 1})));
                   }});
  // XLA 0.10 fails on a gather whose table and index are split by one mesh dim.
  for (size_t i = first; i < cases.size(); ++i) cases[i].takes_whole = r.with_tables && r.with_ids;
}

void add_lookups(std::vector<CallCase>& cases) {
  const Tensor weight = normal({16, 6});
  const Tensor x = ids({4, 8}, 16);
  const Tensor g = normal({4, 8, 6}, 9);
  for (const int64_t padding : {int64_t{-1}, int64_t{5}}) {
    const std::string suffix = padding < 0 ? "" : "_padding";
    cases.push_back({"embedding" + suffix,
                     "embedding",
                     {one(x), one(weight)},
                     {{"padding_idx", padding}, {"sparse", false}},
                     [=] { return TensorList{embedding(x, weight, padding)}; }});
    cases.push_back({"embedding_grad" + suffix,
                     "embedding_grad",
                     {one(x), one(weight), one(g)},
                     {{"padding_idx", padding}},
                     [=] { return TensorList{embedding_grad(x, weight, g, padding)}; }});
  }
  const Tensor table = normal({4, 10, 6}, 11);
  const Tensor index = ids({8}, 10);
  const Tensor picked = normal({4, 8, 6}, 12);
  cases.push_back({"gather", "gather", {one(table), one(index)}, {{"axis", int64_t{1}}}, [=] {
                     return TensorList{gather(table, index, 1)};
                   }});
  cases.push_back({"gather_grad",
                   "gather_grad",
                   {one(table), one(index), one(picked)},
                   {{"axis", int64_t{1}}},
                   [=] { return TensorList{gather_grad(table, index, picked, 1)}; }});
  cases.push_back({"one_hot", "one_hot", {one(x)}, {{"num_classes", int64_t{16}}}, [=] {
                     return TensorList{one_hot(x, 16)};
                   }});
}

}  // namespace

std::vector<CallCase> layer_cases() {
  std::vector<CallCase> all;
  add_layer_norm("layer_norm", true, DataType::FLOAT32, 1e-5, all);
  add_layer_norm("layer_norm_plain", false, DataType::FLOAT32, 1e-5, all);
  add_layer_norm("layer_norm_bf16", true, DataType::BFLOAT16, kBfloat16, all);
  add_rms_norm(all);
  for (const Loss& loss :
       {Loss{"loss", false, true, -1}, Loss{"loss_of_probabilities", false, false, -1},
        Loss{"loss_soft", true, true, 1}, Loss{"loss_soft_of_probabilities", true, false, -1}})
    add_loss(loss, all);
  for (const Attended& a :
       {Attended{"attention", 8, 8, 4, 4, 0.0f, true, false, false},
        Attended{"attention_grouped", 8, 8, 4, 2, 0.0f, true, false, false},
        Attended{"attention_unequal", 6, 10, 4, 2, 0.0f, true, true, true},
        Attended{"attention_unseeing", 10, 6, 4, 4, 0.0f, true, false, true},
        Attended{"attention_dropout", 6, 40, 4, 2, 0.3f, false, false, true},
        Attended{"attention_bf16", 8, 8, 4, 4, 0.0f, true, false, false, DataType::BFLOAT16}})
    add_attention(a, all);
  for (const Rotated& r : {Rotated{"rope", true, false, false, false},
                           Rotated{"rope_halves", false, false, false, true},
                           Rotated{"rope_tables", true, true, true, false},
                           Rotated{"rope_table_ids", false, true, true, true}})
    add_rotation(r, all);
  add_lookups(all);
  return all;
}

}  // namespace phi::testing
