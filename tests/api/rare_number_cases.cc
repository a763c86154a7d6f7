// Calls at rare numbers: NaN, infinities, the ends of float32, ties, and rows that are masked
// whole. A case's name is the op and, after a blank, what is rare about it.
#include "phi/api.h"
#include "tests/api/op_cases.h"
#include "tests/support/rare_values.h"

namespace phi::testing {

namespace {

using List = std::vector<Tensor>;

Tensor normal(const Dims& shape, int seed = 1) { return gaussian(shape, 0.0f, 1.0f, seed); }

// Logits and labels to the softmax and the loss.
List class_loss(const List& in) {
  const auto [softmax, loss] = cross_entropy_with_softmax(in[0], in[1]);
  return {softmax, loss};
}
// The fourth tensor is the mask.
List masked_attention(const List& in) {
  return {std::get<0>(flash_attention(in[0], in[1], in[2], std::nullopt, in[3]))};
}

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
Tensor sum_all(const Tensor& x) { return sum(x); }
Tensor sum_last(const Tensor& x) { return sum(x, {-1}); }
Tensor mean_last(const Tensor& x) { return mean(x, {-1}); }
Tensor max_all(const Tensor& x) { return max(x); }
Tensor max_last(const Tensor& x) { return max(x, {-1}); }
Tensor max_first(const Tensor& x) { return max(x, {0}); }
Tensor argmax_last(const Tensor& x) { return argmax(x, -1); }
Tensor softmax_last(const Tensor& x) { return softmax(x); }
Tensor softmax_first(const Tensor& x) { return softmax(x, 0); }

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
