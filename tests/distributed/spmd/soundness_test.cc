// Soundness of the rules of forward ops, a few gradients and optimizer steps.
#include "tests/distributed/spmd/soundness.h"

#include <gtest/gtest.h>

namespace phi::distributed::soundness {
namespace {

// ---- naive ops ----

Array map_index(const Dims& shape, const std::function<double(const Dims&)>& f) {
  return make(shape, f);
}

Arrays matmul_op(const Arrays& in, const std::vector<Dims>& out) {
  return {map_index(out[0], [&](const Dims& i) {
    const int n = i.ndim();
    double sum = 0;
    for (int64_t k = 0; k < in[0].shape.back(); ++k) {
      Dims x = i, y = i;
      x[n - 1] = k;
      y[n - 2] = k;
      sum += broadcast_at(in[0], x) * broadcast_at(in[1], y);
    }
    return sum;
  })};
}

Op elementwise(const std::function<double(const std::vector<double>&)>& f) {
  return [f](const Arrays& in, const std::vector<Dims>& out) -> Arrays {
    return {map_index(out[0], [&](const Dims& i) {
      std::vector<double> values;
      for (const Array& a : in) values.push_back(broadcast_at(a, i));
      return f(values);
    })};
  };
}

// Reduces dim 1 of three, keeping it.
Op reduction(double start, const std::function<double(double, double)>& f) {
  return [=](const Arrays& in, const std::vector<Dims>& out) -> Arrays {
    return {map_index(out[0], [&](const Dims& i) {
      double value = start;
      for (int64_t k = 0; k < in[0].shape[1]; ++k) value = f(value, at(in[0], {i[0], k, i[2]}));
      return value;
    })};
  };
}

Arrays softmax_op(const Arrays& in, const std::vector<Dims>& out) {
  return {map_index(out[0], [&](const Dims& i) {
    double sum = 0;
    for (int64_t k = 0; k < in[0].shape[1]; ++k) sum += std::exp(at(in[0], {i[0], k}));
    return std::exp(at(in[0], i)) / sum;
  })};
}

Arrays reshape_op(const Arrays& in, const std::vector<Dims>& out) {
  return {Array{out[0], in[0].values}};
}

Arrays concat_op(const Arrays& in, const std::vector<Dims>& out) {
  return {map_index(out[0], [&](const Dims& i) {
    Dims own = i;
    size_t part = 0;
    while (own[1] >= in[part].shape[1]) own[1] -= in[part++].shape[1];
    return at(in[part], own);
  })};
}

Arrays swiglu_packed_op(const Arrays& in, const std::vector<Dims>& out) {
  return {map_index(out[0], [&](const Dims& i) {
    const double x = at(in[0], i);
    return x / (1 + std::exp(-x)) * at(in[0], {i[0], i[1] + out[0][1]});
  })};
}

// x [a, n], scale [n], bias [n], mean [a], variance [a], out_grad [a, n] with epsilon 10, so that
// any number can be a variance.
Arrays layer_norm_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  const int64_t n = in[1].shape[0];
  const auto factor = [&](int64_t r) { return 1 / std::sqrt(at(in[4], {r}) + 10); };
  const auto y = [&](int64_t r, int64_t i) {
    return (at(in[0], {r, i}) - at(in[3], {r})) * factor(r);
  };
  const auto over_rows = [&](const std::function<double(int64_t, int64_t)>& term) {
    return [&, term](const Dims& i) {
      double sum = 0;
      for (int64_t r = 0; r < in[0].shape[0]; ++r) sum += term(r, i[0]);
      return sum;
    };
  };
  const Array x_grad = map_index(out[0], [&](const Dims& i) {
    double g_sum = 0, gy_sum = 0;
    for (int64_t k = 0; k < n; ++k) {
      const double g = at(in[5], {i[0], k}) * at(in[1], {k});
      g_sum += g / double(n);
      gy_sum += g * y(i[0], k) / double(n);
    }
    return factor(i[0]) * (at(in[5], i) * at(in[1], {i[1]}) - g_sum - y(i[0], i[1]) * gy_sum);
  });
  return {x_grad, map_index(out[1], over_rows([&](int64_t r, int64_t i) {
                              return at(in[5], {r, i}) * y(r, i);
                            })),
          map_index(out[2], over_rows([&](int64_t r, int64_t i) {
                      return at(in[5], {r, i});
                    }))};
}

// q, k, v [b, s, h, d], out, log-sum-exp [b, h, s], seed, mask [1, h, s, s], out_grad; any numbers
// will do for out and the log-sum-exp.
Arrays attention_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  const Array &q = in[0], &k = in[1], &v = in[2], &dout = in[7];
  const int64_t keys = k.shape[1], width = q.shape[3];
  const int64_t group = q.shape[2] / std::max<int64_t>(k.shape[2], 1);
  const auto rows_dot = [&](const Array& x, int64_t i, int64_t h, const Array& y, int64_t j,
                            int64_t g, int64_t b) {
    double sum = 0;
    for (int64_t d = 0; d < width; ++d) sum += at(x, {b, i, h, d}) * at(y, {b, j, g, d});
    return sum;
  };
  Arrays grads;
  for (const Dims& shape : out) grads.push_back(make(shape, [](const Dims&) { return 0.0; }));
  const auto add = [](Array& to, const Dims& index, double value) {
    const Dims strides = to.shape.strides();
    int64_t position = 0;
    for (int d = 0; d < 4; ++d) position += index[d] * strides[d];
    to.values[static_cast<size_t>(position)] += value;
  };
  for_each(Dims{q.shape[0], q.shape[2], q.shape[1], keys}, [&](const Dims& index, int64_t) {
    const int64_t b = index[0], h = index[1], i = index[2], j = index[3], g = h / group;
    const double score = rows_dot(q, i, h, k, j, g, b) + at(in[6], {0, h, i, j});
    const double weight = std::exp(score - at(in[4], {b, h, i}));
    const double slope =
        weight * (rows_dot(dout, i, h, v, j, g, b) - rows_dot(dout, i, h, in[3], i, h, b));
    for (int64_t d = 0; d < width; ++d) {
      add(grads[0], {b, i, h, d}, slope * at(k, {b, j, g, d}));
      add(grads[1], {b, j, g, d}, slope * at(q, {b, i, h, d}));
      add(grads[2], {b, j, g, d}, weight * at(dout, {b, i, h, d}));
    }
  });
  return grads;
}

double total(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += x;
  return sum;
}

std::vector<Trial> trials() {
  const auto add = elementwise(total);
  const auto product = elementwise([](const auto& v) { return v[0] * v[1]; });
  const auto same = elementwise([](const auto& v) { return std::exp(v[0]); });
  return {
      {"matmul",
       {{2, 5, 4}, {4, 6}},
       {{2, 5, 6}},
       matmul_op,
       [](const Specs& s) { return MatmulInferSpmd(s[0], s[1], false, false); }},
      {"batched matmul",
       {{1, 3, 8}, {4, 8, 2}},
       {{4, 3, 2}},
       matmul_op,
       [](const Specs& s) { return MatmulInferSpmd(s[0], s[1], false, false); }},
      {"exp",
       {{5, 1, 4}},
       {{5, 1, 4}},
       same,
       [](const Specs& s) { return ElementwiseUnaryInferSpmd(s[0]); }},
      {"add",
       {{3, 1, 4}, {5, 4}},
       {{3, 5, 4}},
       add,
       [](const Specs& s) { return ElementwiseBinaryInferSpmd(s[0], s[1]); }},
      {"multiply",
       {{3, 5}, {5}},
       {{3, 5}},
       product,
       [](const Specs& s) { return MultiplyInferSpmd(s[0], s[1]); }},
      {"add_n",
       {{4, 3}, {4, 3}, {4, 3}},
       {{4, 3}},
       add,
       [](const Specs& s) { return AddNInferSpmd(s); }},
      {"where",
       {{3, 4}, {1, 4}, {3, 1}},
       {{3, 4}},
       elementwise([](const auto& v) { return v[0] > 0 ? v[1] : v[2]; }),
       [](const Specs& s) { return WhereInferSpmd(s[0], s[1], s[2]); }},
      {"swiglu",
       {{3, 6}},
       {{3, 3}},
       swiglu_packed_op,
       [](const Specs& s) { return SwiGLUInferSpmd(s[0], nullptr); }},
      {"sum",
       {{3, 5, 4}},
       {{3, 1, 4}},
       reduction(0, std::plus<>()),
       [](const Specs& s) { return ReductionSumInferSpmd(s[0], {1}, true); }},
      {"max",
       {{3, 7, 4}},
       {{3, 1, 4}},
       reduction(-1e9, [](double a, double b) { return std::max(a, b); }),
       [](const Specs& s) { return ReductionMaxInferSpmd(s[0], {-2}, true); }},
      {"softmax",
       {{4, 5}},
       {{4, 5}},
       softmax_op,
       [](const Specs& s) { return SoftmaxInferSpmd(s[0], -1); }},
      {"layer_norm_grad",
       {{5, 4}, {4}, {4}, {5}, {5}, {5, 4}},
       {{5, 4}, {4}, {4}},
       layer_norm_grad_op,
       [](const Specs& s) {
         return LayerNormGradInferSpmd(s[0], &s[1], &s[2], s[3], s[4], s[5], 1);
       }},
      {"flash_attention_grad",
       {{3, 2, 4, 2},
        {3, 2, 2, 2},
        {3, 2, 2, 2},
        {3, 2, 4, 2},
        {3, 4, 2},
        {2},
        {1, 4, 2, 2},
        {3, 2, 4, 2}},
       {{3, 2, 4, 2}, {3, 2, 2, 2}, {3, 2, 2, 2}},
       attention_grad_op,
       [](const Specs& s) {
         return FlashAttentionGradInferSpmd(s[0], s[1], s[2], s[3], s[4], &s[5], &s[6], s[7]);
       }},
      {"momentum_",
       {{3, 4}, {3, 4}, {3, 4}},
       {{3, 4}, {3, 4}},
       [](const Arrays& in, const std::vector<Dims>& out) -> Arrays {
         const Array velocity =
             elementwise([](const auto& v) { return v[1] * v[1] + v[2]; })(in, out)[0];
         return {elementwise([](const auto& v) { return v[0] - v[1]; })({in[0], velocity}, out)[0],
                 velocity};
       },
       [](const Specs& s) { return MomentumInferSpmd(s[0], s[1], s[2], nullptr); }},
      {"transpose",
       {{3, 4, 5}},
       {{5, 3, 4}},
       [](const Arrays& in, const std::vector<Dims>& out) -> Arrays {
         return {map_index(out[0], [&](const Dims& i) { return at(in[0], {i[1], i[2], i[0]}); })};
       },
       [](const Specs& s) {
         return TransposeInferSpmd(s[0], {2, 0, 1});
       }},
      {"reshape",
       {{4, 6, 5}},
       {{8, 3, 5}},
       reshape_op,
       [](const Specs& s) {
         return ReshapeInferSpmd(s[0], {8, -1, 5});
       }},
      {"reshape next to dims of size 1",
       {{1, 4, 1, 6}},
       {{1, 2, 2, 1, 6, 1}},
       reshape_op,
       [](const Specs& s) {
         return ReshapeInferSpmd(s[0], {1, 2, 2, 1, 6, 1});
       }},
      {"flatten",
       {{4, 6, 5}},
       {{24, 5}},
       reshape_op,
       [](const Specs& s) { return FlattenInferSpmd(s[0], 0, 1); }},
      {"squeeze",
       {{4, 1, 5}},
       {{4, 5}},
       reshape_op,
       [](const Specs& s) { return SqueezeInferSpmd(s[0], {}); }},
      {"unsqueeze",
       {{4, 5}},
       {{4, 1, 5, 1}},
       reshape_op,
       [](const Specs& s) {
         return UnsqueezeInferSpmd(s[0], {1, -1});
       }},
      {"concat",
       {{4, 3, 2}, {4, 1, 2}, {4, 5, 2}},
       {{4, 9, 2}},
       concat_op,
       [](const Specs& s) { return ConcatInferSpmd(s, 1); }},
      {"slice",
       {{5, 6}},
       {{5, 2}},
       [](const Arrays& in, const std::vector<Dims>& out) -> Arrays {
         return {map_index(out[0], [&](const Dims& i) { return at(in[0], {i[0], i[1] + 3}); })};
       },
       [](const Specs& s) { return SliceInferSpmd(s[0], {1}, {3}, {5}, {}, {}); }},
      {"expand",
       {{1, 4}},
       {{3, 5, 4}},
       elementwise(total),
       [](const Specs& s) {
         return ExpandInferSpmd(s[0], {3, 5, 4});
       }},
  };
}

class Soundness : public ::testing::TestWithParam<size_t> {};

TEST_P(Soundness, AnyPlacementGivesTheOpsResult) {
  EXPECT_EQ(first_mismatch(trials()[GetParam()]), "");
}

TEST(SoundnessHarness, SeesAnUnsoundRule) {
  const Trial wrong{"softmax", {{4, 5}}, {{4, 5}}, softmax_op, [](const Specs& s) {
                      return ElementwiseUnaryInferSpmd(s[0]);
                    }};
  EXPECT_NE(first_mismatch(wrong), "");
}

INSTANTIATE_TEST_SUITE_P(Rules, Soundness, ::testing::Range<size_t>(0, trials().size()),
                         [](const auto& info) {
                           std::string name = trials()[info.param].name;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace phi::distributed::soundness
