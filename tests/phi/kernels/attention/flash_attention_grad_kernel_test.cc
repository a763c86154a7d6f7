// Gradient of attention against differences of the forward kernel: tile edges, masks, grouped
// heads, dropout, parts of a sharded problem, unwanted outputs.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/attention.h"
#include "tests/phi/kernels/attention/attention_problem.h"
#include "tests/phi/kernels/finite_differences.h"

namespace phi::testing {
namespace {

using Problem = AttentionProblem;

const DenseTensor& seed() {
  static const DenseTensor seed = tensor<int64_t>({11, 5}, {2});
  return seed;
}

struct Forward {
  DenseTensor out, lse;
};

template <typename T>
Forward forward(const Problem& p, const Values& q, const Values& k, const Values& v) {
  Forward f{blank<T>(p.out_dims()), blank<compute_t<T>>(p.lse_dims())};
  DenseTensor mask, seed_offset = blank<int64_t>({2});
  if (p.mask_kind) mask = tensor<T>(p.mask(), p.mask_dims());
  registered<kernels::flash_attention, T>(
      KernelContext(), tensor<T>(q, p.q_dims()), tensor<T>(k, p.k_dims()), tensor<T>(v, p.v_dims()),
      &seed(), p.mask_kind ? &mask : nullptr, p.dropout, p.causal, false, false, &f.out, nullptr,
      &f.lse, &seed_offset);
  return f;
}

struct Wanted {
  bool q = true, k = true, v = true;
};

struct Gradients {
  Values q, k, v;
};

template <typename T>
Gradients gradients(const Problem& p, const Wanted& wanted = {}) {
  const Forward f = forward<T>(p, p.q(), p.k(), p.v());
  DenseTensor mask, q = blank<T>(p.q_dims()), k = blank<T>(p.k_dims()), v = blank<T>(p.v_dims());
  if (p.mask_kind) mask = tensor<T>(p.mask(), p.mask_dims());
  registered<kernels::flash_attention_grad, T>(
      KernelContext(), tensor<T>(p.q(), p.q_dims()), tensor<T>(p.k(), p.k_dims()),
      tensor<T>(p.v(), p.v_dims()), f.out, f.lse, &seed(), p.mask_kind ? &mask : nullptr,
      tensor<T>(p.out_grad(), p.out_dims()), p.dropout, p.causal, false, wanted.q ? &q : nullptr,
      wanted.k ? &k : nullptr, wanted.v ? &v : nullptr);
  return {to_doubles(q), to_doubles(k), to_doubles(v)};
}

void expect_finite_differences(const Problem& p) {
  const Gradients g = gradients<double>(p);
  const auto out = [&](const Values& q, const Values& k, const Values& v) {
    return to_doubles(forward<double>(p, q, k, v).out);
  };
  expect_close(g.q,
               finite_differences(p.q(), p.out_grad(),
                                  [&](const Values& q) { return out(q, p.k(), p.v()); }),
               kDifferenceError, p.name() + " q_grad");
  expect_close(g.k,
               finite_differences(p.k(), p.out_grad(),
                                  [&](const Values& k) { return out(p.q(), k, p.v()); }),
               kDifferenceError, p.name() + " k_grad");
  expect_close(g.v,
               finite_differences(p.v(), p.out_grad(),
                                  [&](const Values& v) { return out(p.q(), p.k(), v); }),
               kDifferenceError, p.name() + " v_grad");
}

TEST(FlashAttentionGradKernel, EqualsFiniteDifferences) {
  const Problem problems[] = {
      {.batch = 2, .sq = 5, .sk = 5, .heads = 2, .kv_heads = 2, .causal = true},
      {.batch = 2, .sq = 7, .sk = 9, .heads = 4, .kv_heads = 2, .width = 6, .value_width = 3},
      {.sq = 3, .sk = 260, .heads = 3, .kv_heads = 1, .width = 2, .value_width = 2, .causal = true},
      {.sq = 70, .sk = 20, .width = 2, .value_width = 2, .causal = true},  // early queries see none
      {.sq = 1, .sk = 9, .causal = true},
      {.sq = 66, .sk = 7, .width = 2, .mask_kind = 1},
      {.batch = 2, .sq = 4, .sk = 6, .heads = 2, .kv_heads = 1, .causal = true, .mask_kind = 2},
      {.sq = 6, .sk = 37, .heads = 2, .kv_heads = 2, .dropout = 0.25f},
      {.sq = 8, .sk = 8, .heads = 2, .kv_heads = 1, .causal = true, .dropout = 0.5f},
  };
  for (const Problem& p : problems) expect_finite_differences(p);
}

/// Full score matrices in double; masks of kind 1.
Gradients naive(const Problem& p) {
  Gradients g{Values(p.q_dims().numel(), 0.0), Values(p.k_dims().numel(), 0.0),
              Values(p.v_dims().numel(), 0.0)};
  const Values q = p.q(), k = p.k(), v = p.v(), dout = p.out_grad();
  const Values mask = p.mask_kind == 1 ? p.mask() : Values(p.sq * p.sk, 0.0);
  const double scale = 1 / std::sqrt(static_cast<double>(p.width));
  const auto rows_dot = [](const Values& a, int64_t i, const Values& b, int64_t j, int64_t n) {
    double sum = 0;
    for (int64_t d = 0; d < n; ++d) sum += a[i * n + d] * b[j * n + d];
    return sum;
  };
  for (int64_t bh = 0; bh < p.batch * p.heads; ++bh) {
    const int64_t b = bh / p.heads, h = bh % p.heads, kv = h / (p.heads / p.kv_heads);
    for (int64_t i = 0; i < p.sq; ++i) {
      const int64_t qi = (b * p.sq + i) * p.heads + h;
      const int64_t seen = p.causal ? std::clamp<int64_t>(i + p.sk - p.sq + 1, 0, p.sk) : p.sk;
      Values weights(seen), slopes(seen);
      double sum = 0, share = 0;
      const auto key = [&](int64_t j) { return (b * p.sk + j) * p.kv_heads + kv; };
      for (int64_t j = 0; j < seen; ++j)
        sum += weights[j] =
            std::exp(scale * rows_dot(q, qi, k, key(j), p.width) + mask[i * p.sk + j]);
      if (sum == 0) continue;  // a query that sees nothing has no gradient and gives none
      for (int64_t j = 0; j < seen; ++j) {
        weights[j] /= sum;
        slopes[j] = rows_dot(dout, qi, v, key(j), p.value_width);
        share += weights[j] * slopes[j];
      }
      for (int64_t j = 0; j < seen; ++j) {
        const double slope = weights[j] * (slopes[j] - share) * scale;
        for (int64_t d = 0; d < p.width; ++d) {
          g.q[qi * p.width + d] += slope * k[key(j) * p.width + d];
          g.k[key(j) * p.width + d] += slope * q[qi * p.width + d];
        }
        for (int64_t d = 0; d < p.value_width; ++d)
          g.v[key(j) * p.value_width + d] += weights[j] * dout[qi * p.value_width + d];
      }
    }
  }
  return g;
}

TEST(FlashAttentionGradKernel, SeveralTilesEqualFullScoreMatrices) {
  const Problem problems[] = {
      {.sq = 130, .sk = 530, .width = 8, .value_width = 8, .causal = true},
      {.batch = 2, .sq = 129, .sk = 257, .heads = 4, .kv_heads = 2, .width = 16},
      {.sq = 140, .sk = 20, .heads = 2, .kv_heads = 2, .causal = true},
      {.sq = 300, .sk = 300, .causal = true},
  };
  for (const Problem& p : problems) {
    const Gradients expected = naive(p);
    const Gradients g = gradients<double>(p);
    expect_close(g.q, expected.q, tolerance<double>(), p.name() + " q_grad");
    expect_close(g.k, expected.k, tolerance<double>(), p.name() + " k_grad");
    expect_close(g.v, expected.v, tolerance<double>(), p.name() + " v_grad");
  }
}

template <typename T>
void check_rare_problems(double limit) {
  for (const Problem& p : rare_attention_problems()) {
    const Gradients expected = naive(p);
    const Gradients g = gradients<T>(p);
    expect_close(g.q, expected.q, limit, p.name() + " q_grad");
    expect_close(g.k, expected.k, limit, p.name() + " k_grad");
    expect_close(g.v, expected.v, limit, p.name() + " v_grad");
  }
}

TEST(FlashAttentionGradKernel, RareProblems) {
  check_rare_problems<double>(tolerance<double>());
  check_rare_problems<float>(1e-5);
  check_rare_problems<bfloat16>(4 * tolerance<bfloat16>());
  check_rare_problems<float16>(4 * tolerance<float16>());
}

// With dropout the weights go another way.
TEST(FlashAttentionGradKernel, QueriesThatSeeNothingHaveNoGradientWithDropout) {
  for (int mask = 0; mask < static_cast<int>(rare_masks(1, 1).size()); ++mask) {
    const Problem p{.sq = 5, .sk = 37, .mask_kind = 1, .dropout = 0.5f, .rare_mask = mask};
    const Gradients g = gradients<float>(p);
    const std::vector<bool> hidden = rare_masks(p.sq, p.sk)[mask].hidden;
    for (int64_t i = 0; i < p.sq; ++i) {
      const bool sees_none = std::all_of(hidden.begin() + i * p.sk, hidden.begin() + (i + 1) * p.sk,
                                         [](bool h) { return h; });
      for (int64_t d = 0; d < p.width; ++d) {
        const double value = g.q[i * p.width + d];
        EXPECT_TRUE(std::isfinite(value) && (!sees_none || value == 0)) << p.name() << " " << value;
      }
    }
    for (double v : g.k) EXPECT_TRUE(std::isfinite(v)) << p.name();
    for (double v : g.v) EXPECT_TRUE(std::isfinite(v)) << p.name();
  }
}

template <typename T>
class FlashAttentionGradTest : public ::testing::Test {};
using Floats = ::testing::Types<float, bfloat16, float16>;
TYPED_TEST_SUITE(FlashAttentionGradTest, Floats);

TYPED_TEST(FlashAttentionGradTest, OtherDtypes) {
  using T = TypeParam;
  const Problem p{
      .batch = 2, .sq = 70, .sk = 300, .heads = 4, .kv_heads = 2, .width = 8, .causal = true};
  const Gradients exact = gradients<double>(p);
  const Gradients g = gradients<T>(p);
  expect_close(g.q, exact.q, tolerance<T>(), "q_grad");
  expect_close(g.k, exact.k, tolerance<T>(), "k_grad");
  expect_close(g.v, exact.v, tolerance<T>(), "v_grad");
}

TEST(FlashAttentionGradKernel, EmptyParts) {
  EXPECT_EQ(gradients<float>({.sq = 3, .sk = 0}).q, Values(12, 0.0));
  const Gradients g = gradients<float>({.sq = 0, .sk = 3});
  EXPECT_EQ(g.k, Values(12, 0.0));
  EXPECT_EQ(g.v, Values(12, 0.0));
  EXPECT_EQ(gradients<float>({.batch = 0, .sq = 2, .sk = 2}).k, Values());
}

TEST(FlashAttentionGradKernel, EachOutputAloneIsWhatItIsAmongTheOthers) {
  const Problem p{.sq = 9, .sk = 11, .heads = 2, .kv_heads = 1, .dropout = 0.25f};
  const Gradients all = gradients<float>(p);
  for (const Wanted& wanted :
       {Wanted{true, false, false}, {false, true, false}, {false, false, true}, {}}) {
    const Gradients g = gradients<float>(p, wanted);
    EXPECT_EQ(g.q, wanted.q ? all.q : Values(all.q.size(), 77));
    EXPECT_EQ(g.k, wanted.k ? all.k : Values(all.k.size(), 77));
    EXPECT_EQ(g.v, wanted.v ? all.v : Values(all.v.size(), 77));
  }
}

/// A part of q (and of k, where `k_axis` >= 0), computed alone. The gradients of k and v are added
/// up over the parts where k is whole.
struct Split {
  int axis, k_axis;
};

void expect_parts_make_the_whole(const Problem& p, const Split& split) {
  const Gradients expected = gradients<double>(p);
  const Forward f = forward<double>(p, p.q(), p.k(), p.v());
  const DenseTensor mask = tensor<double>(p.mask(), p.mask_dims());
  const int lse_axis = split.axis == 0 ? 0 : 3 - split.axis;
  const int64_t extent = p.q_dims()[split.axis];
  Values k_total(expected.k.size(), 0.0), v_total(expected.v.size(), 0.0);
  for (const auto& [begin, end] :
       {std::pair<int64_t, int64_t>{0, extent / 2}, {extent / 2, extent}, {extent, extent}}) {
    const auto local = [&](const Values& x, const Dims& dims, int axis) {
      return tensor<double>(cut(x, dims, axis, begin, end), with_extent(dims, axis, end - begin));
    };
    const int64_t group = split.k_axis == 2 ? p.heads / p.kv_heads : 1;
    const bool whole_k = split.k_axis < 0;
    const int64_t from = whole_k ? 0 : begin / group;
    const int64_t to = whole_k ? p.k_dims()[0] : end / group;
    const int k_axis = std::max(split.k_axis, 0);
    const auto keys = [&](const Values& x, const Dims& dims) {
      return tensor<double>(cut(x, dims, k_axis, from, to), with_extent(dims, k_axis, to - from));
    };
    const Dims lse_dims = with_extent(p.lse_dims(), lse_axis, end - begin);
    const DenseTensor lse =
        tensor<double>(cut(to_doubles(f.lse), p.lse_dims(), lse_axis, begin, end), lse_dims);
    FakeView view;
    view.inputs = {part(p.q_dims(), split.axis, begin, end),
                   part(p.k_dims(), k_axis, from, to),
                   part(p.v_dims(), k_axis, from, to),
                   part(p.out_dims(), split.axis, begin, end),
                   part(p.lse_dims(), lse_axis, begin, end),
                   whole({2}),
                   whole(p.mask_dims())};
    const DenseTensor q = local(p.q(), p.q_dims(), split.axis);
    const DenseTensor k = keys(p.k(), p.k_dims()), v = keys(p.v(), p.v_dims());
    DenseTensor dq = blank<double>(q.dims()), dk = blank<double>(k.dims()),
                dv = blank<double>(v.dims());
    registered<kernels::flash_attention_grad, double>(
        KernelContext(CPUPlace(), &view), q, k, v,
        local(to_doubles(f.out), p.out_dims(), split.axis), lse, &seed(), &mask,
        local(p.out_grad(), p.out_dims(), split.axis), p.dropout, p.causal, false, &dq, &dk, &dv);
    expect_close<double>(dq, cut(expected.q, p.q_dims(), split.axis, begin, end), "q_grad");
    if (!whole_k) {
      expect_close<double>(dk, cut(expected.k, p.k_dims(), k_axis, from, to), "k_grad");
      expect_close<double>(dv, cut(expected.v, p.v_dims(), k_axis, from, to), "v_grad");
      continue;
    }
    const Values dk_part = to_doubles(dk), dv_part = to_doubles(dv);
    for (size_t i = 0; i < k_total.size(); ++i) k_total[i] += dk_part[i];
    for (size_t i = 0; i < v_total.size(); ++i) v_total[i] += dv_part[i];
  }
  if (split.k_axis >= 0) return;
  expect_close(k_total, expected.k, 1e-12, "sum of k_grad");
  expect_close(v_total, expected.v, 1e-12, "sum of v_grad");
}

TEST(FlashAttentionGradKernel, PartsMakeTheWhole) {
  const Problem p{.batch = 2,
                  .sq = 9,
                  .sk = 9,
                  .heads = 4,
                  .kv_heads = 2,
                  .causal = true,
                  .mask_kind = 2,
                  .dropout = 0.5f};
  for (const Split& split : {Split{0, 0}, {1, -1}, {2, 2}, {0, -1}, {2, -1}})
    expect_parts_make_the_whole(p, split);
}

TEST(FlashAttentionGradKernel, MissingKeysAreNamed) {
  const Problem p{.sq = 4, .sk = 4, .heads = 4, .kv_heads = 4};
  DenseTensor x = blank<float>({1, 4, 2, 4}), lse = blank<float>({1, 2, 4}), grad = x.clone();
  FakeView view;
  view.inputs = {part(p.q_dims(), 2, 0, 2), part(p.k_dims(), 2, 2, 4), part(p.k_dims(), 2, 2, 4)};
  expect_error(ErrorCode::kPreconditionNotMet, "lacks index 0 of tensor dim 2", [&] {
    registered<kernels::flash_attention_grad, float>(KernelContext(CPUPlace(), &view), x, x, x, x,
                                                     lse, nullptr, nullptr, x, 0.0f, false, true,
                                                     &grad, &grad, &grad);
  });
}

}  // namespace
}  // namespace phi::testing
