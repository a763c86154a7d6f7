// Calls of every op at rare extents (0, 1, and what 2, 3 and 4 ranks do not divide), groupings of
// heads and numbers. A case's name is the op and, after a blank, what is rare about it.
#include "phi/api.h"
#include "tests/api/op_calls.h"
#include "tests/api/op_cases.h"
#include "tests/support/rare_values.h"

namespace phi::testing {

namespace {

using List = std::vector<Tensor>;

Tensor ids(const std::vector<int64_t>& values, const Dims& shape) {
  return Tensor::from<int64_t>(values, shape);
}
Tensor floats(const std::vector<float>& values, const Dims& shape) {
  return Tensor::from<float>(values, shape);
}

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

ParityCase unary(const std::string& op, Unary f, const Tensor& x, const std::string& what = "") {
  return {
      op + " " + what + x.shape().to_string(), {x}, [f](const List& in) { return List{f(in[0])}; }};
}
ParityCase binary(const std::string& op, Binary f, const Tensor& x, const Tensor& y,
                  const std::string& what = "") {
  return {op + " " + what + x.shape().to_string() + " " + y.shape().to_string(),
          {x, y},
          [f](const List& in) { return List{f(in[0], in[1])}; }};
}

Tensor times(const Tensor& x, const Tensor& y) { return matmul(x, y); }
Tensor normed(const Tensor& x, const Tensor& scale) { return rms_norm(x, scale); }
Tensor centred(const Tensor& x) {
  return layer_norm(x, std::nullopt, std::nullopt, 1e-5f, x.ndim() - 1);
}
Tensor looked_up(const Tensor& x, const Tensor& w) { return embedding(x, w); }
Tensor picked(const Tensor& x, const Tensor& index) { return gather(x, index); }
Tensor selected(const Tensor& x, const Tensor& mask) { return masked_select(x, mask); }
Tensor sum_all(const Tensor& x) { return sum(x); }
Tensor sum_last(const Tensor& x) { return sum(x, {-1}); }
Tensor sum_first(const Tensor& x) { return sum(x, {0}, DataType::UNDEFINED, true); }
Tensor mean_all(const Tensor& x) { return mean(x); }
Tensor mean_last(const Tensor& x) { return mean(x, {-1}); }
Tensor max_all(const Tensor& x) { return max(x); }
Tensor max_last(const Tensor& x) { return max(x, {-1}); }
Tensor max_first(const Tensor& x) { return max(x, {0}); }
Tensor argmax_last(const Tensor& x) { return argmax(x, -1); }
// Row 1 as far as there is one, or what of the only one is asked: nothing.
Tensor scattered_at_1(const Tensor& x, const Tensor& value) {
  return slice_scatter(x, value, {0}, {1}, {1 + value.shape()[0]});
}
Tensor softmax_last(const Tensor& x) { return softmax(x); }
Tensor softmax_first(const Tensor& x) { return softmax(x, 0); }

const std::vector<Dims>& empty_and_uneven() {
  static const std::vector<Dims> shapes = {{0, 3}, {3, 0}, {1, 7}, {7, 1}, {1}, {0}};
  return shapes;
}

// `finite` besides NaN and infinities; no -0, which a partial tensor does not keep.
std::vector<float> numbers(bool finite) {
  std::vector<float> out;
  for (double v : rare_floats<float>()) {
    if (v == 0 && std::signbit(v)) continue;
    if (finite || !std::isfinite(v)) out.push_back(static_cast<float>(v));
  }
  return out;
}

// Ordinary numbers with one of `odd` in every other row, at another column each time.
Tensor with_odd_rows(int64_t rows, int64_t columns, const std::vector<float>& odd) {
  const Tensor ordinary = normal({rows, columns});
  std::vector<float> values(ordinary.values<float>().begin(), ordinary.values<float>().end());
  for (int64_t r = 0; r < rows; r += 2)
    values[r * columns + r * 5 % columns] = odd[static_cast<size_t>(r / 2) % odd.size()];
  return floats(values, {rows, columns});
}

// -1, 0 and 1, so that elements tie, along every tensor dim and over all.
Tensor whole_numbers(const Dims& shape, int seed = 1) {
  return cast(cast(scale(normal(shape, seed), 0.7), DataType::INT64), DataType::FLOAT32);
}

Tensor mask_of(const RareMask& mask, const Dims& shape) {
  std::vector<float> values;
  for (const bool hides : mask.hidden) values.push_back(hides ? -INFINITY : 0.0f);
  return floats(values, shape);
}

}  // namespace

std::vector<ParityCase> rare_elementwise_cases() {
  std::vector<ParityCase> cases;
  for (const Dims& dims : empty_and_uneven()) {
    cases.push_back(unary("exp", exp, normal(dims)));
    cases.push_back(binary("add", add, normal(dims), normal({dims.back()}, 7)));
    cases.push_back(binary("divide", divide, normal(dims), normal({1}, 7)));
    cases.push_back({"where " + dims.to_string(),
                     {cast(relu(normal(dims)), DataType::BOOL), normal({1}), normal(dims, 7)},
                     [](const List& in) { return List{where(in[0], in[1], in[2])}; }});
    cases.push_back({"add_n " + dims.to_string(),
                     {normal(dims), normal(dims, 7)},
                     [](const List& in) { return List{add_n(in)}; }});
    cases.push_back({"dropout " + dims.to_string(), {normal(dims)}, [](const List& in) {
                       return List{dropout(in[0], std::nullopt, 0.3, false, "upscale_in_train", 5)};
                     }});
  }
  cases.push_back(binary("multiply", multiply, normal({1, 3}), normal({0, 3}, 7)));
  cases.push_back(binary("maximum", maximum, normal({}), normal({13}, 7)));
  cases.push_back(unary(
      "swiglu", [](const Tensor& x) { return swiglu(x, std::nullopt); }, normal({5, 2})));
  cases.push_back(unary(
      "swiglu", [](const Tensor& x) { return swiglu(x, std::nullopt); }, normal({3, 0})));
  return cases;
}

std::vector<ParityCase> rare_reduction_cases() {
  std::vector<ParityCase> cases;
  for (const Dims& dims : empty_and_uneven()) {
    cases.push_back(unary("sum", sum_all, normal(dims)));
    cases.push_back(unary("sum", sum_last, normal(dims), "last "));
    cases.push_back(unary("sum", sum_first, normal(dims), "first "));
    cases.push_back(unary("squared_l2_norm", squared_l2_norm, normal(dims)));
    cases.push_back(unary("softmax", softmax_last, normal(dims)));
    cases.push_back(unary("softmax", softmax_first, normal(dims), "first "));
    cases.push_back(unary("mean", mean_last, normal(dims), "last "));
    if (dims.back() != 0) cases.push_back(unary("max", max_last, normal(dims), "last "));
  }
  cases.push_back(unary("mean", mean_all, normal({1})));
  cases.push_back(unary("max", max_all, normal({1})));
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{0, 3}, Dims{7, 1}, Dims{1, 7}})
    cases.push_back(unary("argmax", argmax_last, normal(dims)));
  for (const Dims& dims : {Dims{}}) {
    cases.push_back(unary("sum", sum_last, normal(dims), "last "));
    cases.push_back(unary("max", max_last, normal(dims), "last "));
    cases.push_back(unary("softmax", softmax_last, normal(dims)));
  }
  cases.push_back(binary("reduce_as", reduce_as, normal({0, 3}), normal({3}, 7)));
  cases.push_back(binary("reduce_as", reduce_as, normal({3, 0}), normal({3, 1}, 7)));
  cases.push_back(binary("reduce_as", reduce_as, normal({13, 1}), normal({1}, 7)));
  return cases;
}

std::vector<ParityCase> rare_product_cases() {
  const std::pair<Dims, Dims> shapes[] = {
      {{0, 3}, {3, 4}}, {{3, 0}, {0, 4}},    {{3, 4}, {4, 0}},          {{1, 1}, {1, 1}},
      {{5, 7}, {7, 3}}, {{13}, {13}},        {{2, 0, 3}, {3, 4}},       {{0, 2, 3}, {0, 3, 4}},
      {{1, 7}, {7, 1}}, {{1, 3, 5}, {5, 1}}, {{3, 1, 2, 1}, {1, 1, 3}},
  };
  std::vector<ParityCase> cases;
  for (const auto& [x, y] : shapes)
    cases.push_back(binary("matmul", times, normal(x), normal(y, 7)));
  return cases;
}

std::vector<ParityCase> rare_norm_and_loss_cases() {
  std::vector<ParityCase> cases;
  for (const Dims& dims : {Dims{0, 3}, Dims{7, 1}, Dims{1, 7}, Dims{3, 1, 5}}) {
    cases.push_back(unary("layer_norm", centred, normal(dims)));
    cases.push_back(binary("rms_norm", normed, normal(dims), normal({dims.back()}, 7)));
  }
  cases.push_back({"cross_entropy [0,7]", {normal({0, 7}), ids({}, {0, 1})}, class_loss});
  cases.push_back({"cross_entropy [1,1]", {normal({1, 1}), ids({0}, {1, 1})}, class_loss});
  cases.push_back(
      {"cross_entropy [5,2]", {normal({5, 2}), ids({0, 1, -100, 1, -100}, {5, 1})}, class_loss});
  cases.push_back(
      {"cross_entropy_soft [3,1]", {normal({3, 1}), full({3, 1}, 1.0f)}, soft_class_loss});
  for (const auto& [heads, kv_heads] : kRareHeads) {
    const std::string name = std::to_string(heads) + ":" + std::to_string(kv_heads);
    for (const auto& [sq, sk] : {std::pair<int64_t, int64_t>{3, 3}, {1, 1}, {5, 3}}) {
      cases.push_back({"flash_attention heads " + name + " of " + std::to_string(sq),
                       {normal({1, sq, heads, 2}), normal({1, sk, kv_heads, 2}, 7),
                        normal({1, sk, kv_heads, 2}, 8)},
                       causal_attention});
    }
    cases.push_back(
        {"flash_attention_with_kvcache heads " + name,
         {normal({1, 2, heads, 2}), normal({1, 2, kv_heads, 2}, 7), normal({1, 2, kv_heads, 2}, 8),
          normal({1, 3, kv_heads, 2}, 9), normal({1, 3, kv_heads, 2}, 10)},
         // Into caches that hold nothing.
         [](const List& in) { return cached_attention(in, {0}); }});
    cases.push_back({"rope heads " + name,
                     {normal({1, 3, heads, 2}), normal({1, 3, kv_heads, 2}, 7)},
                     rotated});
  }
  for (const auto& [sq, sk] : {std::pair<int64_t, int64_t>{0, 3}, {3, 0}}) {
    cases.push_back({"flash_attention of " + std::to_string(sq) + " to " + std::to_string(sk),
                     {normal({1, sq, 2, 2}), normal({1, sk, 2, 2}, 7), normal({1, sk, 2, 2}, 8)},
                     causal_attention});
  }
  return cases;
}

std::vector<ParityCase> rare_lookup_cases() {
  return {
      binary("embedding", looked_up, ids({6, 0, 6, 3, 6}, {5}), normal({7, 3}), "last id "),
      binary("embedding", looked_up, ids({}, {0}), normal({7, 3})),
      binary("embedding", looked_up, ids({0, 0, 0}, {3}), normal({1, 1})),
      binary("gather", picked, normal({7, 3}), ids({6, 6, 0}, {3}), "last id "),
      binary("gather", picked, normal({7, 3}), ids({}, {0})),
      binary("gather", picked, normal({1, 0}), ids({0, 0}, {2})),
      unary(
          "one_hot", [](const Tensor& x) { return one_hot(x, 5); }, ids({4, 0, 4}, {3})),
      unary(
          "one_hot", [](const Tensor& x) { return one_hot(x, 1); }, ids({0, 0, 0}, {3})),
      unary(
          "one_hot", [](const Tensor& x) { return one_hot(x, 5); }, ids({}, {0})),
      unary("nonzero", nonzero, full({5, 3}, 0.0f), "nothing in "),
      unary("nonzero", nonzero, full({0, 3}, 0.0f)),
      unary("nonzero", nonzero, full({7}, 1.0f), "all of "),
      binary("masked_select", selected, normal({5, 3}), full({5, 3}, false, DataType::BOOL),
             "nothing of "),
      binary("masked_select", selected, normal({5, 3}), full({5, 1}, true, DataType::BOOL),
             "all of "),
      binary("masked_select", selected, normal({0, 3}), full({0, 3}, true, DataType::BOOL)),
      unary(
          "unique", [](const Tensor& x) { return std::get<0>(unique(x)); }, ids({3}, {1})),
      unary(
          "unique", [](const Tensor& x) { return std::get<0>(unique(x)); }, ids({}, {0})),
  };
}

std::vector<ParityCase> rare_shape_cases() {
  std::vector<ParityCase> cases = {
      unary(
          "reshape", [](const Tensor& x) { return reshape(x, {-1}); }, normal({0, 3})),
      unary(
          "reshape",
          [](const Tensor& x) {
            return reshape(x, {3, -1});
          },
          normal({0, 3})),
      unary(
          "reshape",
          [](const Tensor& x) {
            return reshape(x, {-1, 2, 1});
          },
          normal({2, 0, 3})),
      unary(
          "reshape",
          [](const Tensor& x) {
            return reshape(x, {7, 1});
          },
          normal({1, 7})),
      unary(
          "reshape", [](const Tensor& x) { return reshape(x, {}); }, normal({1, 1})),
      unary(
          "squeeze", [](const Tensor& x) { return squeeze(x, {0}); }, normal({1, 0, 2})),
      unary(
          "squeeze", [](const Tensor& x) { return squeeze(x); }, normal({1, 0, 1})),
      unary(
          "squeeze", [](const Tensor& x) { return squeeze(x); }, normal({1, 1})),
      unary(
          "unsqueeze",
          [](const Tensor& x) {
            return unsqueeze(x, {0, 2});
          },
          normal({0})),
      unary(
          "unsqueeze", [](const Tensor& x) { return unsqueeze(x, {1}); }, normal({2, 0})),
      unary(
          "unsqueeze", [](const Tensor& x) { return unsqueeze(x, {0}); }, normal({})),
      unary(
          "transpose",
          [](const Tensor& x) {
            return transpose(x, {1, 0});
          },
          normal({0, 3})),
      unary(
          "transpose",
          [](const Tensor& x) {
            return transpose(x, {1, 0});
          },
          normal({1, 5})),
      unary(
          "slice", [](const Tensor& x) { return slice(x, {0}, {3}, {3}); }, normal({7})),
      unary(
          "slice", [](const Tensor& x) { return slice(x, {1}, {1}, {2}); }, normal({0, 3})),
      unary(
          "slice", [](const Tensor& x) { return slice(x, {0}, {6}, {7}); }, normal({7, 1})),
      binary("slice_scatter", scattered_at_1, normal({7}), normal({0}, 7)),
      binary("slice_scatter", scattered_at_1, normal({1, 3}), normal({0, 3}, 7)),
      binary("slice_scatter", scattered_at_1, normal({3, 0}), normal({1, 0}, 7)),
      unary(
          "expand",
          [](const Tensor& x) {
            return expand(x, {0, 3});
          },
          normal({1, 3})),
      unary(
          "expand",
          [](const Tensor& x) {
            return expand(x, {0, 3});
          },
          normal({0, 1})),
      unary(
          "expand",
          [](const Tensor& x) {
            return expand(x, {5, 1});
          },
          normal({1, 1})),
      binary(
          "expand_as", [](const Tensor& x, const Tensor& y) { return expand_as(x, y); },
          normal({1, 3}), normal({0, 3}, 7)),
      unary(
          "tril", [](const Tensor& x) { return tril(x); }, normal({0, 3})),
      unary(
          "tril", [](const Tensor& x) { return tril(x, -1); }, normal({1, 1})),
      unary(
          "tril", [](const Tensor& x) { return tril(x, 1); }, normal({7, 3})),
      {"concat with nothing",
       {normal({0, 3}), normal({5, 3}, 7), normal({0, 3}, 8)},
       [](const List& in) { return List{concat(in, 0)}; }},
      {"concat of nothing",
       {normal({0, 3}), normal({0, 1}, 7)},
       [](const List& in) { return List{concat(in, 1)}; }},
      {"split with an empty part",
       {normal({3, 5})},
       [](const List& in) {
         return split(in[0], {0, 4, 1}, 1);
       }},
      {"split of nothing",
       {normal({0, 5})},
       [](const List& in) {
         return split(in[0], {2, 3}, 1);
       }},
      {"split_with_num along nothing",
       {normal({2, 0})},
       [](const List& in) { return split_with_num(in[0], 3, 1); }},
      {"split_with_num to ones",
       {normal({3, 1})},
       [](const List& in) { return split_with_num(in[0], 3, 0); }},
  };
  return cases;
}

std::vector<ParityCase> rare_number_cases() {
  const std::vector<float> all = numbers(true), odd = numbers(false);
  const auto n = static_cast<int64_t>(all.size());
  const Tensor column = floats(all, {n, 1}), row = floats(all, {n});
  const Tensor rows = with_odd_rows(5, 7, odd), table = with_odd_rows(7, 7, odd);
  const Tensor ties = whole_numbers({5, 7}), row_of_ties = whole_numbers({7}, 7);
  std::vector<ParityCase> cases = {
      unary("exp", exp, row),
      unary("log", log, row),
      unary("sqrt", sqrt, row),
      unary("rsqrt", rsqrt, row),
      unary(
          "square", [](const Tensor& x) { return phi::square(x); }, row),
      unary("tanh", tanh, row),
      unary("sigmoid", sigmoid, row),
      unary("relu", relu, row),
      unary("silu", silu, row),
      unary(
          "gelu", [](const Tensor& x) { return gelu(x); }, row),
      unary(
          "gelu", [](const Tensor& x) { return gelu(x, true); }, row, "tanh "),
      unary(
          "cast_to_int64", [](const Tensor& x) { return cast(x, DataType::INT64); }, row),
      unary(
          "cast", [](const Tensor& x) { return cast(x, DataType::FLOAT16); }, row, "to float16 "),
      binary("add", add, column, row),
      binary("subtract", subtract, column, row),
      binary("multiply", multiply, column, row),
      binary("divide", divide, column, row),
      binary("maximum", maximum, column, row),
      binary("equal", equal, column, row),
      binary("greater_equal", greater_equal, column, row),
      binary("not_equal", not_equal, column, row),
      binary("greater_than", greater_than, column, row),
      unary("sum", sum_all, rows),
      unary("sum", sum_last, rows, "last "),
      unary("mean", mean_last, rows, "last "),
      unary("max", max_all, rows),
      unary("max", max_last, rows, "last "),
      unary("max", max_first, rows, "first "),
      unary("max", max_all, ties, "ties in "),
      unary("max", max_last, ties, "ties in rows of "),
      unary("max", max_first, ties, "ties down "),
      binary("maximum", maximum, ties, row_of_ties, "ties of "),
      unary("argmax", argmax_last, rows),
      unary("squared_l2_norm", squared_l2_norm, rows),
      unary("softmax", softmax_last, rows),
      unary("softmax", softmax_first, rows, "first "),
      unary("layer_norm", centred, rows),
      binary("rms_norm", normed, rows, normal({7}, 7)),
      binary("matmul", times, rows, full({7, 3}, 0.0f)),
      binary("matmul", times, full({3, 7}, 0.0f), table),
      binary("embedding", looked_up, ids({6, 1, 0, 6}, {4}), table),
      binary("gather", picked, table, ids({6, 1, 0, 6}, {4})),
      unary(
          "tril", [](const Tensor& x) { return tril(x); }, table),
      unary("nonzero", nonzero, rows),
      unary(
          "transpose",
          [](const Tensor& x) {
            return transpose(x, {1, 0});
          },
          rows),
      {"where",
       {cast(relu(normal({5, 7})), DataType::BOOL), rows, normal({5, 7}, 7)},
       [](const List& in) { return List{where(in[0], in[1], in[2])}; }},
      {"cross_entropy rows that are not finite",
       {rows, ids({6, 0, -100, 3, 6}, {5, 1})},
       class_loss},
  };
  // A product with a partial sum is one: the ranks that hold 0 of it make NaN of an infinity.
  for (ParityCase& test : cases) {
    if (test.name.starts_with("multiply") || test.name.starts_with("divide")) test.partial = false;
  }
  for (const RareMask& mask : rare_masks(3, 5)) {
    const Tensor hidden = mask_of(mask, {3, 5});
    cases.push_back({"cross_entropy hiding " + mask.name,
                     {add(normal({3, 5}), hidden), ids({0, 4, -100}, {3, 1})},
                     class_loss});
    cases.push_back({"flash_attention hiding " + mask.name,
                     {normal({1, 3, 2, 2}), normal({1, 5, 1, 2}, 7), normal({1, 5, 1, 2}, 8),
                      mask_of(mask, {1, 1, 3, 5})},
                     masked_attention});
  }
  return cases;
}

}  // namespace phi::testing
