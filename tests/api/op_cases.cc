// Calls of every op, as tables that several tests go through.
#include "tests/api/op_cases.h"

#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>

#include "phi/api.h"
#include "phi/core/observer_scope.h"
#include "phi/core/trace/trace.h"
#include "tests/api/op_calls.h"
#include "tests/api/op_records.h"

DEFINE_uint32(most, 100000, "maximum number of placements to try for a call on each mesh");
DEFINE_string(op, "", "only calls that run this operator, by its name in the YAML");

namespace phi::testing {

using distributed::ProcessMesh;

namespace {

constexpr DataType kI64 = DataType::INT64;

Tensor positive(const Dims& shape, int seed = 2) {
  return add(square(normal(shape, seed)), full({1}, 0.5f));
}
Tensor ids(const Dims& shape, int64_t below, int seed = 3) {
  std::vector<int64_t> values(shape.numel());
  std::mt19937 rng(seed);
  for (auto& v : values) v = static_cast<int64_t>(rng() % below);
  return Tensor::from<int64_t>(values, shape);
}
using List = std::vector<Tensor>;

template <typename F>
ParityCase unary(const char* name, F f, Tensor x = normal({5, 4})) {
  return {name, {std::move(x)}, [f](const List& in) { return List{f(in[0])}; }};
}
template <typename F>
ParityCase binary(const char* name, F f, Tensor x, Tensor y) {
  return {
      name, {std::move(x), std::move(y)}, [f](const List& in) { return List{f(in[0], in[1])}; }};
}

struct Loss {
  bool soft = false;
  bool use_softmax = true;
  int axis = -1;
};
TensorFunction loss_along(Loss loss) {
  return [loss](const List& in) {
    const auto [softmax, value] = cross_entropy_with_softmax(
        in[0], in[1], loss.soft, loss.use_softmax, /*numeric_stable_mode=*/true,
        /*ignore_index=*/-100, loss.axis);
    return List{softmax, value};
  };
}

// The tables of sin and cos have more rows than there are positions.
List rotated_by_table(const List& in) {
  const auto [q, k, v] =
      fused_rotary_position_embedding(in[0], in[1], std::nullopt, in[2], in[3], in[4]);
  return {q, k};
}

List rotated_at(const List& in) {
  const auto [q, k, v] = fused_rotary_position_embedding(in[0], in[1], std::nullopt, std::nullopt,
                                                         std::nullopt, in[2]);
  return {q, k};
}

}  // namespace

std::vector<ParityCase> elementwise_cases() {
  const auto p = positive({5, 4});
  std::vector<ParityCase> cases = {
      binary("add", add, normal({5, 4}), normal({5, 4}, 7)),
      binary("add_broadcast", add, normal({3, 5, 4}), normal({5, 1}, 7)),
      binary("subtract", subtract, normal({5, 4}), normal({4}, 7)),
      binary("multiply", multiply, normal({5, 4}), normal({5, 4}, 7)),
      binary("divide", divide, normal({5, 4}), positive({5, 4}, 7)),
      binary("divide_integers", divide, ids({5, 4}, 40), add(ids({4}, 5, 7), full({}, 1, kI64))),
      binary("maximum", maximum, normal({5, 4}), normal({1, 4}, 7)),
      binary("equal", equal, ids({5, 4}, 3), ids({1, 4}, 3, 7)),
      binary("greater_equal", greater_equal, normal({5, 4}), normal({5, 4}, 7)),
      binary("not_equal", not_equal, ids({5, 4}, 3), ids({1, 4}, 3, 7)),
      binary("greater_than", greater_than, normal({5, 4}), normal({5, 4}, 7)),
      unary("exp", exp),
      unary("log", log, p),
      unary("sqrt", sqrt, p),
      unary("rsqrt", rsqrt, p),
      unary("square", square),
      unary("tanh", tanh),
      unary("sigmoid", sigmoid),
      unary("relu", relu),
      unary("silu", silu),
      unary("assign", assign),
      unary("gelu", [](const Tensor& x) { return gelu(x); }),
      unary("gelu_tanh", [](const Tensor& x) { return gelu(x, true); }),
      unary("pow", [](const Tensor& x) { return pow(x, 3.0f); }),
      unary("scale", [](const Tensor& x) { return scale(x, 2.0f, 1.5f); }),
      unary("cast", [](const Tensor& x) { return cast(x, DataType::FLOAT64); }),
      unary("full_like", [](const Tensor& x) { return full_like(x, 3.0f); }),
      unary("swiglu_halves", [](const Tensor& x) { return swiglu(x, std::nullopt); }),
      binary(
          "swiglu", [](const Tensor& x, const Tensor& y) { return swiglu(x, y); }, normal({5, 4}),
          normal({5, 4}, 7)),
      {"where",
       {cast(relu(normal({5, 4})), DataType::BOOL), normal({5, 4}), normal({5, 4}, 7)},
       [](const List& in) { return List{where(in[0], in[1], in[2])}; }},
      {"where rows",
       {cast(relu(normal({4})), DataType::BOOL), normal({5, 4}), normal({5, 1}, 7)},
       [](const List& in) { return List{where(in[0], in[1], in[2])}; }},
      {"add_n",
       {normal({5, 4}), normal({5, 4}, 7), normal({5, 4}, 8)},
       [](const List& in) { return List{add_n(in)}; }},
      {"dropout",
       {normal({5, 4})},
       [](const List& in) {
         return List{dropout(in[0], std::nullopt, 0.3, false, "upscale_in_train", 5)};
       }},
  };
  return cases;
}

std::vector<ParityCase> reduction_cases() {
  return {
      unary("sum_all", [](const Tensor& x) { return sum(x); }),
      unary("sum_0", [](const Tensor& x) { return sum(x, {0}); }),
      unary("sum_keep", [](const Tensor& x) { return sum(x, {1}, DataType::UNDEFINED, true); }),
      unary("sum_to_double", [](const Tensor& x) { return sum(x, {1}, DataType::FLOAT64); }),
      unary(
          "sum_of_truncated", [](const Tensor& x) { return sum(x, {0}, DataType::INT32); },
          normal({5, 4}, 9)),
      unary("mean_all", [](const Tensor& x) { return mean(x); }),
      unary(
          "mean_of_integers", [](const Tensor& x) { return mean(x); }, ids({5, 4}, 40)),
      unary(
          "mean_of_integers_0", [](const Tensor& x) { return mean(x, {0}); }, ids({5, 4, 3}, 40)),
      unary(
          "mean_of_integers_1_2",
          [](const Tensor& x) {
            return mean(x, {1, 2}, true);
          },
          cast(subtract(ids({3, 4, 5}, 40), full({}, 20, kI64)), DataType::INT32)),
      unary("mean_1", [](const Tensor& x) { return mean(x, {-1}); }),
      unary("max_all", [](const Tensor& x) { return max(x); }),
      unary("max_0", [](const Tensor& x) { return max(x, {0}, true); }),
      unary("argmax", [](const Tensor& x) { return argmax(x, 1); }),
      unary("argmax_flat", [](const Tensor& x) { return argmax(x, 0, false, true); }),
      binary("reduce_as", reduce_as, normal({3, 5, 4}), normal({5, 1}, 7)),
      unary("squared_l2_norm", squared_l2_norm),
      unary("softmax", [](const Tensor& x) { return softmax(x); }),
      unary("softmax_0", [](const Tensor& x) { return softmax(x, 0); }),
  };
}

std::vector<ParityCase> product_cases() {
  return {
      binary(
          "matmul", [](const Tensor& x, const Tensor& y) { return matmul(x, y); }, normal({5, 6}),
          normal({6, 3}, 7)),
      binary(
          "matmul_tt", [](const Tensor& x, const Tensor& y) { return matmul(x, y, true, true); },
          normal({6, 5}), normal({3, 6}, 7)),
      binary(
          "matmul_batched", [](const Tensor& x, const Tensor& y) { return matmul(x, y); },
          normal({3, 5, 6}), normal({6, 4}, 7)),
      binary(
          "matmul_broadcast", [](const Tensor& x, const Tensor& y) { return matmul(x, y); },
          normal({2, 1, 5, 6}), normal({3, 6, 2}, 7)),
      binary(
          "matmul_vector", [](const Tensor& x, const Tensor& y) { return matmul(x, y); },
          normal({6}), normal({6, 2}, 7)),
      binary(
          "matmul_dot", [](const Tensor& x, const Tensor& y) { return matmul(x, y); }, normal({6}),
          normal({6}, 7)),
  };
}

std::vector<ParityCase> norm_and_loss_cases() {
  return {
      {"layer_norm",
       {normal({3, 5, 4}), normal({4}, 7), normal({4}, 8)},
       [](const List& in) { return List{layer_norm(in[0], in[1], in[2], 1e-5f, 2)}; }},
      {"layer_norm_bare",
       {normal({3, 5, 4})},
       [](const List& in) {
         return List{layer_norm(in[0], std::nullopt, std::nullopt, 1e-5f, 1)};
       }},
      binary(
          "rms_norm", [](const Tensor& x, const Tensor& y) { return rms_norm(x, y); },
          normal({3, 5, 4}), normal({4}, 7)),
      {"cross_entropy", {normal({5, 7}), ids({5, 1}, 7)}, class_loss},
      {"cross_entropy_soft", {normal({5, 7}), softmax(normal({5, 7}, 9))}, soft_class_loss},
      // Classes that the rule makes whole, wherever they are split.
      {"cross_entropy along 0", {normal({7, 5}), ids({1, 5}, 7)}, loss_along({.axis = 0})},
      {"cross_entropy_soft along 0",
       {normal({7, 5}), softmax(normal({7, 5}, 9), 0)},
       loss_along({.soft = true, .axis = 0})},
      {"cross_entropy of shares",
       {softmax(normal({5, 7})), ids({5, 1}, 7)},
       loss_along({.use_softmax = false})},
      {"cross_entropy_soft of shares",
       {softmax(normal({5, 7})), softmax(normal({5, 7}, 9))},
       loss_along({.soft = true, .use_softmax = false})},
      {"flash_attention",
       {normal({2, 5, 4, 6}), normal({2, 5, 2, 6}, 7), normal({2, 5, 2, 6}, 8)},
       causal_attention},
      {"flash_attention_masked",
       {normal({2, 5, 4, 6}), normal({2, 7, 4, 6}, 7), normal({2, 7, 4, 6}, 8),
        normal({2, 1, 5, 7}, 9)},
       masked_attention},
      {"flash_attention_with_kvcache",
       {normal({2, 3, 4, 6}), normal({2, 3, 2, 6}, 7), normal({2, 3, 2, 5}, 8),
        normal({2, 7, 2, 6}, 9), normal({2, 7, 2, 5}, 10)},
       // Room for 7 positions, of which the caches hold 4 and 1.
       [](const List& in) {
         return cached_attention(in, {4, 1});
       }},
      {"rope", {normal({2, 5, 4, 6}), normal({2, 5, 4, 6}, 7)}, rotated},
      {"rope_grouped", {normal({2, 5, 4, 6}), normal({2, 5, 2, 6}, 7)}, rotated},
      {"rope_grouped_positions",
       {normal({2, 5, 4, 6}), normal({2, 5, 2, 6}, 7), ids({2, 5}, 50)},
       rotated_at},
      {"rope_grouped_table",
       {normal({2, 5, 4, 6}), normal({2, 5, 2, 6}, 7), normal({9, 6}, 8), normal({9, 6}, 9),
        ids({2, 5}, 9)},
       rotated_by_table},
      {"rope_one_head", {normal({2, 5, 4, 6}), normal({2, 5, 1, 6}, 7)}, rotated},
  };
}

std::vector<ParityCase> lookup_cases() {
  return {
      binary(
          "embedding", [](const Tensor& x, const Tensor& w) { return embedding(x, w); },
          ids({3, 5}, 7), normal({7, 4})),
      binary(
          "embedding padded",
          [](const Tensor& x, const Tensor& w) { return embedding(x, w, /*padding_idx=*/2); },
          ids({3, 5}, 7), normal({7, 4})),
      binary(
          "gather_0", [](const Tensor& x, const Tensor& i) { return gather(x, i); }, normal({7, 4}),
          ids({5}, 7)),
      binary(
          "gather_1", [](const Tensor& x, const Tensor& i) { return gather(x, i, 1); },
          normal({5, 7}), ids({3}, 7)),
      binary(
          "gather one", [](const Tensor& x, const Tensor& i) { return gather(x, i); },
          normal({7, 4}), ids({}, 7)),
      unary(
          "one_hot", [](const Tensor& x) { return one_hot(x, 7); }, ids({3, 5}, 7)),
      unary("nonzero", [](const Tensor& x) { return nonzero(relu(x)); }),
      binary(
          "masked_select", [](const Tensor& x, const Tensor& m) { return masked_select(x, m); },
          normal({5, 4}), cast(relu(normal({5, 4}, 7)), DataType::BOOL)),
      {"unique",
       {ids({4, 5}, 6)},
       [](const List& in) {
         const auto [out, index, inverse, counts] = unique(in[0], true, true, true);
         return List{out, index, inverse, counts};
       }},
  };
}

std::vector<ParityCase> creation_cases() {
  const auto beside = [](const char* name, Tensor (*made)(const Dims&, DataType)) {
    return unary(name, [made](const Tensor& x) { return add(x, made(x.shape(), x.dtype())); });
  };
  return {
      beside("full", [](const Dims& shape, DataType dtype) { return full(shape, 0.5, dtype); }),
      beside("arange",
             [](const Dims& shape, DataType dtype) {
               return reshape(arange(0.5, 0.5 + static_cast<double>(shape.numel()), 1, dtype),
                              shape);
             }),
      beside("zeros", [](const Dims& shape, DataType dtype) { return zeros(shape, dtype); }),
      beside("ones", [](const Dims& shape, DataType dtype) { return ones(shape, dtype); }),
      beside("eye",
             [](const Dims& shape, DataType dtype) { return eye(shape[0], shape[1], dtype); }),
      beside("linspace",
             [](const Dims& shape, DataType dtype) {
               return reshape(linspace(-1, 2.5, shape.numel(), dtype), shape);
             }),
      beside("logspace",
             [](const Dims& shape, DataType dtype) {
               return reshape(logspace(-1, 2, shape.numel(), 2, dtype), shape);
             }),
      beside("tril_indices",
             [](const Dims& shape, DataType dtype) {
               return cast(reshape(tril_indices(4, 4, 0), shape), dtype);
             }),
      beside("triu_indices",
             [](const Dims& shape, DataType dtype) {
               return cast(reshape(triu_indices(4, 4, 0, DataType::INT32), shape), dtype);
             }),
      beside("full_int_array",
             [](const Dims& shape, DataType dtype) {
               return full_int_array({1, -2, 3, shape[0]}, dtype);
             }),
      beside("assign_value",
             [](const Dims&, DataType dtype) {
               return assign_value({1, 4}, dtype, {1, -2, 3.5, 4});
             }),
      beside("gaussian", [](const Dims& shape,
                            DataType dtype) { return gaussian(shape, 1.0f, 2.0f, 5, dtype); }),
      beside("uniform",
             [](const Dims& shape, DataType dtype) { return uniform(shape, dtype, -2.0, 3.0, 5); }),
      beside("randint",
             [](const Dims& shape, DataType dtype) {
               return cast(randint(-2, 30, shape, DataType::INT64, {}, 5), dtype);
             }),
      beside("randperm",
             [](const Dims& shape, DataType dtype) {
               return reshape(randperm(static_cast<int>(shape.numel()), dtype, {}, 5), shape);
             }),
      beside("truncated_gaussian_random",
             [](const Dims& shape, DataType dtype) {
               return truncated_gaussian_random(std::vector<int>(shape.begin(), shape.end()), 0.5f,
                                                2.0f, 5, -1.0f, 2.0f, dtype);
             }),
  };
}

// Inputs: parameter, gradient, learning rate, states; the last of scaled_adamw_ is the step. Each
// rank writes to copies.
std::vector<ParityCase> optimizer_cases() {
  const Tensor weights = normal({5, 4}), grad = normal({5, 4}, 7), rate = full({}, 0.1f);
  const Tensor first = normal({5, 4}, 8), second = positive({5, 4}, 9);
  return {
      {"scaled_sgd_",
       {weights, grad, rate},
       [](const List& in) {
         Tensor param = assign(in[0]);
         std::optional<Tensor> master;
         scaled_sgd_(param, in[1], master, in[2], std::nullopt, 0.01f);
         return List{param};
       }},
      {"scaled_momentum_",
       {weights, grad, rate, first},
       [](const List& in) {
         Tensor param = assign(in[0]), velocity = assign(in[3]);
         std::optional<Tensor> master;
         scaled_momentum_(param, in[1], velocity, master, in[2], std::nullopt, 0.9f, true, 0.01f);
         return List{param, velocity};
       }},
      {"scaled_adamw_",
       {weights, grad, rate, first, second, full({}, 3, kI64)},
       [](const List& in) {
         Tensor param = assign(in[0]), moment1 = assign(in[3]), moment2 = assign(in[4]);
         std::optional<Tensor> master;
         scaled_adamw_(param, in[1], moment1, moment2, master, in[2], in[5], std::nullopt);
         return List{param, moment1, moment2};
       }},
      {"adamw_with_master",
       {cast(weights, DataType::BFLOAT16), cast(grad, DataType::BFLOAT16), rate, first, second,
        full({}, 3, kI64), weights},
       [](const List& in) {
         Tensor param = assign(in[0]), moment1 = assign(in[3]), moment2 = assign(in[4]);
         std::optional<Tensor> master = assign(in[6]);
         scaled_adamw_(param, in[1], moment1, moment2, master, in[2], in[5], std::nullopt);
         return List{param, moment1, moment2, *master};
       }},
  };
}

std::vector<ParityCase> shape_cases() {
  return {
      unary(
          "reshape_split",
          [](const Tensor& x) {
            return reshape(x, {2, 3, 4});
          },
          normal({6, 4})),
      unary(
          "reshape_merge",
          [](const Tensor& x) {
            return reshape(x, {12, 5});
          },
          normal({4, 3, 5})),
      unary(
          "reshape_mixed",
          [](const Tensor& x) {
            return reshape(x, {8, 3});
          },
          normal({6, 4})),
      unary(
          "squeeze", [](const Tensor& x) { return squeeze(x, {1}); }, normal({5, 1, 4})),
      unary(
          "squeeze_all", [](const Tensor& x) { return squeeze(x); }, normal({1, 5, 1, 4})),
      unary("unsqueeze",
            [](const Tensor& x) {
              return unsqueeze(x, {0, 2});
            }),
      unary(
          "transpose",
          [](const Tensor& x) {
            return transpose(x, {2, 0, 1});
          },
          normal({3, 5, 4})),
      unary("slice", [](const Tensor& x) { return slice(x, {0}, {1}, {4}); }),
      unary("slice_decrease", [](const Tensor& x) { return slice(x, {1}, {2}, {3}, {}, {1}); }),
      binary(
          "slice_scatter",
          [](const Tensor& x, const Tensor& value) {
            return slice_scatter(x, value, {0}, {1}, {-1});
          },
          normal({5, 4}), normal({3, 4}, 7)),
      binary(
          "slice_scatter_decrease",
          [](const Tensor& x, const Tensor& value) {
            return slice_scatter(x, value, {2, 0}, {1, 2}, {9, 3}, {0});
          },
          normal({5, 3, 4}), normal({3, 3}, 7)),
      binary(
          "slice_scatter_",
          [](const Tensor& x, const Tensor& value) {
            Tensor written = scale(x, 1.0);
            slice_scatter_(written, value, {1}, {2}, {3});
            return written;
          },
          normal({5, 4}), normal({5, 1}, 7)),
      unary(
          "expand",
          [](const Tensor& x) {
            return expand(x, {3, 5, 4});
          },
          normal({5, 1})),
      binary(
          "expand_as", [](const Tensor& x, const Tensor& y) { return expand_as(x, y); },
          normal({5, 1}), normal({3, 5, 4}, 7)),
      unary(
          "tril", [](const Tensor& x) { return tril(x, 1); }, normal({3, 5, 4})),
      {"concat_0",
       {normal({5, 4}), normal({3, 4}, 7)},
       [](const List& in) { return List{concat(in, 0)}; }},
      {"concat_1",
       {normal({5, 4}), normal({5, 2}, 7)},
       [](const List& in) { return List{concat(in, 1)}; }},
      {"split",
       {normal({5, 6})},
       [](const List& in) {
         return split(in[0], {2, 4}, 1);
       }},
      {"split_with_num",
       {normal({6, 5})},
       [](const List& in) { return split_with_num(in[0], 3, 0); }},
  };
}

namespace {

std::vector<OpTable> written_tables() {
  return {
      {"Elementwise", elementwise_cases},
      {"Reductions", reduction_cases},
      {"Products", product_cases},
      {"NormAndLoss", norm_and_loss_cases},
      {"Lookup", lookup_cases},
      {"Shape", shape_cases},
      {"Creation", creation_cases},
      {"Optimizers", optimizer_cases, kFewPlacements},
      {"RareElementwise", rare_elementwise_cases, kFewPlacements},
      {"RareReductions", rare_reduction_cases, kFewPlacements},
      {"RareProducts", rare_product_cases, kFewPlacements},
      {"RareNormAndLoss", rare_norm_and_loss_cases, kFewPlacements},
      {"RareLookup", rare_lookup_cases, kFewPlacements},
      {"RareShape", rare_shape_cases, kFewPlacements},
      // NaN, infinities, rows masked whole and ties have no differences.
      {"RareNumbers", rare_number_cases, kFewPlacements, /*is_smooth=*/false},
  };
}

}  // namespace

const std::vector<OpTable>& op_tables() {
  static const std::vector<OpTable> tables = [] {
    std::vector<OpTable> all = written_tables();
    for (OpTable& table : tables_of_records()) all.push_back(std::move(table));
    return all;
  }();
  return tables;
}

std::set<std::string> ops_run(const std::function<void()>& call) {
  Trace trace;
  {
    const ObserverScope scope(trace);
    call();
  }
  EXPECT_EQ(trace.dropped(), 0u);
  std::set<std::string> names;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].kind == TraceKind::kOp) names.insert(trace[i].name);
  }
  return names;
}

const std::vector<ParityCase>& chosen_cases(const OpTable& table) {
  static std::map<std::string, std::vector<ParityCase>> chosen;
  const auto [at, is_new] = chosen.try_emplace(table.name);
  std::vector<ParityCase>& cases = at->second;
  if (!is_new) return cases;
  cases = table.cases();
  std::erase_if(cases, [](const ParityCase& test) { return !has_kernels_here(test); });
  if (!FLAGS_op.empty()) {
    std::erase_if(cases, [](const ParityCase& test) {
      return !ops_run([&] { test.call(test.inputs); }).contains(FLAGS_op);
    });
  }
  return cases;
}

std::vector<OpTable> smooth_tables() {
  std::vector<OpTable> smooth;
  std::ranges::copy_if(op_tables(), std::back_inserter(smooth), &OpTable::is_smooth);
  return smooth;
}

void expect_parity_everywhere(const std::vector<ParityCase>& cases, uint32_t seed,
                              const Sampling& sampling) {
  std::mt19937 rng(seed);
  SCOPED_TRACE("--seed=" + std::to_string(seed));
  // Two of four ranks; three of three, uneven; four of five as 2x2 with a rank outside.
  const ProcessMesh pair({2}, {"x"}, {1, 3}), three({3}, {"x"}),
      grid({2, 2}, {"x", "y"}, {0, 1, 3, 4});
  const auto choices = [&](const ParityCase& test, int mesh_ndim, size_t most) {
    return placement_choices(test.inputs, mesh_ndim, test.partial,
                             std::min<size_t>(most, FLAGS_most), rng);
  };
  for (const ParityCase& test : cases) {
    expect_parity(test, pair, 4, choices(test, 1, sampling.pair));
    expect_parity(test, three, 3, choices(test, 1, sampling.three));
    expect_parity(test, grid, 5, choices(test, 2, sampling.grid));
  }
}

}  // namespace phi::testing
