// Attention against the full score matrix in double precision; tile edges, masks, grouped heads,
// dropout, and parts of a sharded problem.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/attention.h"
#include "phi/infermeta/attention.h"
#include "tests/phi/kernels/attention/attention_problem.h"
#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

using Problem = AttentionProblem;

struct Oracle {
  Values out, softmax, lse;
  explicit Oracle(const Problem& p)
      : out(p.out_dims().numel(), 0.0), softmax(p.batch * p.heads * p.sq * p.sk, 0.0) {
    const Values q = p.q(), k = p.k(), v = p.v(), mask = p.mask_kind ? p.mask() : Values();
    for (int64_t b = 0; b < p.batch; ++b) {
      for (int64_t h = 0; h < p.heads; ++h) {
        const int64_t g = h / (p.heads / p.kv_heads);
        for (int64_t i = 0; i < p.sq; ++i) {
          double* weights = softmax.data() + ((b * p.heads + h) * p.sq + i) * p.sk;
          double sum = 0;
          for (int64_t j = 0; j < p.sk; ++j) {
            if (p.causal && j > i + p.sk - p.sq) continue;
            double score = 0;
            for (int64_t d = 0; d < p.width; ++d)
              score += q[((b * p.sq + i) * p.heads + h) * p.width + d] *
                       k[((b * p.sk + j) * p.kv_heads + g) * p.width + d];
            score /= std::sqrt(static_cast<double>(p.width));
            const int64_t m = p.mask_kind == 2 ? (b * p.heads + h) * p.sq + i : i;
            if (p.mask_kind) score += mask[m * p.sk + j];
            weights[j] = std::exp(score);
            sum += weights[j];
          }
          lse.push_back(std::log(sum));
          for (int64_t j = 0; j < p.sk; ++j) {
            if (sum > 0) weights[j] /= sum;
            for (int64_t d = 0; d < p.value_width; ++d)
              out[((b * p.sq + i) * p.heads + h) * p.value_width + d] +=
                  weights[j] * v[((b * p.sk + j) * p.kv_heads + g) * p.value_width + d];
          }
        }
      }
    }
  }
};

const Problem kProblems[] = {
    {.batch = 2, .sq = 5, .sk = 5, .heads = 2, .kv_heads = 2, .causal = true},
    {.batch = 2, .sq = 7, .sk = 9, .heads = 4, .kv_heads = 2, .width = 6, .value_width = 3},
    {.sq = 130, .sk = 530, .width = 8, .value_width = 8, .causal = true},
    {.sq = 3, .sk = 260, .heads = 3, .kv_heads = 1, .causal = true},
    {.sq = 140, .sk = 20, .heads = 2, .kv_heads = 2, .causal = true},  // early queries see nothing
    {.sq = 1, .sk = 129, .causal = true},
    {.sq = 129, .sk = 257, .mask_kind = 1},
    {.batch = 2, .sq = 4, .sk = 6, .heads = 2, .kv_heads = 1, .causal = true, .mask_kind = 2},
    {.sq = 3, .sk = 0},
    {.sq = 0, .sk = 3},
    {.batch = 0, .sq = 2, .sk = 2},
};

struct Attended {
  DenseTensor out, softmax, lse, seed_offset;
};

template <typename T>
Attended attend(const Problem& p, double dropout = 0, bool is_test = false,
                const DenseTensor* seed = nullptr) {
  const DenseTensor q = tensor<T>(p.q(), p.q_dims());
  const DenseTensor k = tensor<T>(p.k(), p.k_dims());
  const DenseTensor v = tensor<T>(p.v(), p.v_dims());
  DenseTensor mask;
  if (p.mask_kind) mask = tensor<T>(p.mask(), p.mask_dims());
  const auto [om, sm, lm, dm] = FlashAttentionInferMeta(
      q.meta(), k.meta(), v.meta(), seed ? &seed->meta() : nullptr,
      p.mask_kind ? &mask.meta() : nullptr, static_cast<float>(dropout), p.causal, true, is_test);
  Attended run{blank_like(om), blank_like(*sm), blank_like(lm),
               dm ? blank_like(*dm) : DenseTensor()};
  registered<kernels::flash_attention, T>(
      KernelContext(), q, k, v, seed, p.mask_kind ? &mask : nullptr, static_cast<float>(dropout),
      p.causal, true, is_test, &run.out, &run.softmax, &run.lse, dm ? &run.seed_offset : nullptr);
  return run;
}

template <typename T>
class FlashAttentionKernelTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(FlashAttentionKernelTest, Floats);

TYPED_TEST(FlashAttentionKernelTest, EqualsFullScoreMatrix) {
  using T = TypeParam;
  for (const Problem& p : kProblems) {
    const Oracle oracle(p);
    const Attended run = attend<T>(p);
    expect_close<T>(run.out, oracle.out, p.name());
    expect_close<T>(run.softmax, oracle.softmax, p.name() + " softmax");
    // The mask is rounded to T, hence T's tolerance.
    EXPECT_EQ(run.lse.dtype(), dtype_of<compute_t<T>>());
    expect_close(to_doubles(run.lse), oracle.lse, tolerance<T>(), p.name() + " lse");
  }
}

TYPED_TEST(FlashAttentionKernelTest, RareProblems) {
  using T = TypeParam;
  for (const Problem& p : rare_attention_problems()) {
    const Oracle oracle(p);
    const Attended run = attend<T>(p);
    expect_close<T>(run.out, oracle.out, p.name());
    expect_close<T>(run.softmax, oracle.softmax, p.name() + " softmax");
    expect_close(to_doubles(run.lse), oracle.lse, tolerance<T>(), p.name() + " lse");
  }
}

// A query or key that is NaN spoils the queries that see it and no other; a value at least these (a
// weight of 0 does not hide one that lies in the same tile).
TYPED_TEST(FlashAttentionKernelTest, NanKeepsToTheQueriesThatSeeIt) {
  using T = TypeParam;
  const int64_t n = 70;
  const Dims dims{1, n, 1, 4};
  for (const int64_t at : places_in_row(n)) {
    for (int which = 0; which < 3; ++which) {
      Values in[3] = {random_values(n * 4, 1), random_values(n * 4, 2), random_values(n * 4, 3)};
      in[which][at * 4 + 1] = NAN;
      DenseTensor out = blank<T>(dims), lse = blank<compute_t<T>>({1, 1, n});
      registered<kernels::flash_attention, T>(
          KernelContext(), tensor<T>(in[0], dims), tensor<T>(in[1], dims), tensor<T>(in[2], dims),
          nullptr, nullptr, 0.0f, /*causal=*/true, false, true, &out, nullptr, &lse, nullptr);
      const Values got = to_doubles(out);
      for (int64_t i = 0; i < n; ++i) {
        const bool spoilt = which == 0 ? i == at : i >= at;
        if (which == 2 && !spoilt) continue;
        EXPECT_EQ(std::isnan(got[i * 4 + 1]), spoilt) << which << " at " << at << ", query " << i;
      }
    }
  }
}

// In rows as long as what instructions round at a time, which take such numbers for 0.
TEST(FlashAttentionKernel, SubnormalResultsAreNotZero) {
  constexpr int64_t kWidth = 40;
  const Dims dims{1, 2, 1, kWidth};
  Values v(2 * kWidth, 0.0);
  std::fill_n(v.begin(), kWidth, 0x1.8p-126);  // the other key's are 0
  const DenseTensor zeros = tensor<bfloat16>(Values(2 * kWidth, 0.0), dims);
  DenseTensor out = blank<bfloat16>(dims), lse = blank<float>({1, 1, 2});
  registered<kernels::flash_attention, bfloat16>(
      KernelContext(), zeros, zeros, tensor<bfloat16>(v, dims), nullptr, nullptr, 0.0f,
      /*causal=*/false, false, true, &out, nullptr, &lse, nullptr);
  EXPECT_EQ(to_doubles(out), Values(2 * kWidth, 0x1.8p-127));
}

TEST(FlashAttentionKernel, DropoutKeepsItsShareAndScalesIt) {
  const Problem p{.batch = 2, .sq = 70, .sk = 150, .heads = 2, .kv_heads = 2};
  const DenseTensor seed = tensor<int64_t>({11, 5}, {2});
  const Attended plain = attend<double>(p);
  const Attended run = attend<double>(p, 0.25, false, &seed);
  EXPECT_EQ(to_doubles(run.seed_offset), Values({11, 5}));
  EXPECT_EQ(to_doubles(run.lse), to_doubles(plain.lse));
  const Values weights = to_doubles(plain.softmax);
  const Values dropped = to_doubles(run.softmax);
  int64_t kept = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (dropped[i] == 0) continue;
    ++kept;
    ASSERT_NEAR(dropped[i], weights[i] / 0.75, 1e-12);
  }
  EXPECT_NEAR(static_cast<double>(kept) / static_cast<double>(weights.size()), 0.75, 0.01);
  // What softmax shows is what multiplied v.
  const Values v = p.v();
  Values expected(p.out_dims().numel(), 0.0);
  for (int64_t e = 0; e < static_cast<int64_t>(dropped.size()); ++e) {
    const int64_t j = e % p.sk, i = e / p.sk % p.sq, h = e / p.sk / p.sq % p.heads;
    const int64_t b = e / p.sk / p.sq / p.heads;
    for (int64_t d = 0; d < 4; ++d)
      expected[((b * p.sq + i) * p.heads + h) * 4 + d] +=
          dropped[e] * v[((b * p.sk + j) * p.heads + h) * 4 + d];
  }
  expect_close<double>(run.out, expected);
  EXPECT_EQ(to_doubles(attend<double>(p, 0.25, true, &seed).out), to_doubles(plain.out));
}

/// A part of batch, sequence and heads, computed alone.
TEST(FlashAttentionKernel, PartsEqualTheWhole) {
  const Problem p{
      .batch = 2, .sq = 9, .sk = 9, .heads = 4, .kv_heads = 2, .causal = true, .mask_kind = 2};
  const DenseTensor seed = tensor<int64_t>({3, 0}, {2});
  const Values expected = to_doubles(attend<double>(p, 0.5, false, &seed).out);
  const DenseTensor whole_mask = tensor<double>(p.mask(), p.mask_dims());
  struct Axis {
    int q, k;  // tensor dims of q, and of k and v, that are split; -1: whole
  };
  for (const Axis axis : {Axis{0, 0}, Axis{1, -1}, Axis{2, 2}}) {
    const int64_t extent = p.q_dims()[axis.q];
    for (const auto& [begin, end] :
         {std::pair<int64_t, int64_t>{0, extent / 2}, {extent / 2, extent}}) {
      FakeView view;
      const Dims q_local = with_extent(p.q_dims(), axis.q, end - begin);
      const DenseTensor q = tensor<double>(cut(p.q(), p.q_dims(), axis.q, begin, end), q_local);
      DenseTensor k = tensor<double>(p.k(), p.k_dims());
      DenseTensor v = tensor<double>(p.v(), p.v_dims());
      view.inputs = {part(p.q_dims(), axis.q, begin, end), whole(p.k_dims()), whole(p.v_dims()),
                     whole({2}), whole(p.mask_dims())};  // the mask stays whole
      if (axis.k >= 0) {
        const int64_t group = axis.k == 2 ? p.heads / p.kv_heads : 1;
        const int64_t from = begin / group, to = end / group;
        view.inputs[1] = part(p.k_dims(), axis.k, from, to);
        view.inputs[2] = part(p.v_dims(), axis.k, from, to);
        k = tensor<double>(cut(p.k(), p.k_dims(), axis.k, from, to),
                           with_extent(p.k_dims(), axis.k, to - from));
        v = tensor<double>(cut(p.v(), p.v_dims(), axis.k, from, to),
                           with_extent(p.v_dims(), axis.k, to - from));
      }
      DenseTensor out = blank<double>(with_extent(p.out_dims(), axis.q, end - begin));
      DenseTensor lse = blank<double>({q_local[0], q_local[2], q_local[1]});
      registered<kernels::flash_attention, double>(KernelContext(CPUPlace(), &view), q, k, v, &seed,
                                                   &whole_mask, 0.5f, true, false, false, &out,
                                                   nullptr, &lse, nullptr);
      expect_close<double>(out, cut(expected, p.out_dims(), axis.q, begin, end),
                           "axis " + std::to_string(axis.q));
    }
  }
}

TEST(FlashAttentionKernel, MissingKeysAreNamed) {
  const Problem p{.sq = 4, .sk = 4, .heads = 4, .kv_heads = 4};
  DenseTensor q = blank<float>({1, 4, 2, 4}), lse = blank<float>({1, 2, 4}), out = q.clone();
  FakeView view;
  view.inputs = {part(p.q_dims(), 2, 0, 2), part(p.k_dims(), 2, 2, 4), part(p.k_dims(), 2, 2, 4),
                 whole({}), whole({})};
  const auto run = [&] {
    registered<kernels::flash_attention, float>(KernelContext(CPUPlace(), &view), q, q, q, nullptr,
                                                nullptr, 0.0f, false, false, true, &out, nullptr,
                                                &lse, nullptr);
  };
  expect_error(ErrorCode::kPreconditionNotMet, "lacks index 0 of tensor dim 2", run);
  view.inputs[1] = view.inputs[2] = part(p.k_dims(), 1, 0, 2);
  expect_error(ErrorCode::kPreconditionNotMet, "every query needs the full sequence of k and v",
               run);
  view.inputs[1] = part(p.k_dims(), 2, 0, 2);
  view.inputs[2] = part(p.k_dims(), 2, 2, 4);
  expect_error(ErrorCode::kPreconditionNotMet, "reshard v as k is", run);
}

// Reads sk positions in pieces; each piece's output has to be what attention over all gives its
// rows.
TYPED_TEST(FlashAttentionKernelTest, WithKvcacheReadsOnWhereTheCacheEnds) {
  using T = TypeParam;
  const Problem p{.batch = 2, .sq = 70, .sk = 70, .heads = 4, .kv_heads = 2, .causal = true};
  const Values expected = Oracle(p).out;
  DenseTensor keys = tensor<T>(Values(int64_t{2} * 80 * 2 * 4, 99.0), {2, 80, 2, 4});
  DenseTensor values = keys.clone();
  for (int64_t begin = 0, end = 0; begin < p.sq; begin = end) {
    end = begin == 0 ? 67 : begin + (begin == 68 ? 2 : 1);  // pieces of 67, 1 and 2
    const auto piece = [&](const Values& all, const Dims& dims) {
      return tensor<T>(cut(all, dims, 1, begin, end), with_extent(dims, 1, end - begin));
    };
    const DenseTensor q = piece(p.q(), p.q_dims());
    const DenseTensor lengths =
        tensor<int64_t>({static_cast<double>(begin), static_cast<double>(begin)}, {2});
    DenseTensor out = blank_like(q.meta());
    registered<kernels::flash_attention_with_kvcache, T>(
        KernelContext(), q, piece(p.k(), p.k_dims()), piece(p.v(), p.v_dims()), keys, values,
        lengths, &out, &keys, &values);
    expect_close<T>(out, cut(expected, p.out_dims(), 1, begin, end),
                    "from " + std::to_string(begin));
  }
  const Dims room{2, 80, 2, 4};
  expect_close<T>(tensor<T>(cut(to_doubles(keys), room, 1, 0, 70), p.k_dims()), p.k(), "keys");
  EXPECT_EQ(cut(to_doubles(values), room, 1, 70, 80), Values(int64_t{2} * 10 * 2 * 4, 99.0));
}

// Nothing held, the cache filled to its end, and no new positions at all.
TYPED_TEST(FlashAttentionKernelTest, WithKvcacheAtTheEnds) {
  using T = TypeParam;
  for (const auto& [heads, kv_heads] : kRareHeads) {
    const Problem p{
        .batch = 2, .sq = 5, .sk = 5, .heads = heads, .kv_heads = kv_heads, .causal = true};
    DenseTensor keys = tensor<T>(Values(p.k_dims().numel(), NAN), p.k_dims());  // room for 5
    DenseTensor values = keys.clone();
    DenseTensor out = blank<T>(p.out_dims());
    const DenseTensor empty = tensor<int64_t>({0, 0}, {2});
    registered<kernels::flash_attention_with_kvcache, T>(
        KernelContext(), tensor<T>(p.q(), p.q_dims()), tensor<T>(p.k(), p.k_dims()),
        tensor<T>(p.v(), p.v_dims()), keys, values, empty, &out, &keys, &values);
    expect_close<T>(out, Oracle(p).out, p.name());
    const Values before = to_doubles(keys);
    const Dims none_q = with_extent(p.q_dims(), 1, 0), none_k = with_extent(p.k_dims(), 1, 0);
    DenseTensor nothing = blank<T>(none_q);
    registered<kernels::flash_attention_with_kvcache, T>(
        KernelContext(), blank<T>(none_q), blank<T>(none_k), blank<T>(none_k), keys, values,
        tensor<int64_t>({5, 0}, {2}), &nothing, &keys, &values);
    EXPECT_EQ(to_doubles(keys), before);
  }
}

TEST(FlashAttentionKernel, WithKvcacheLeavesACacheAloneThatIsNotItsOutput) {
  const DenseTensor x = tensor<float>(random_values(8, 1), {1, 1, 2, 4});
  const DenseTensor cache = tensor<float>(random_values(24, 2), {1, 3, 2, 4});
  const Values before = to_doubles(cache);
  DenseTensor out = blank_like(x.meta());
  DenseTensor keys = blank_like(cache.meta());
  DenseTensor values = blank_like(cache.meta());
  registered<kernels::flash_attention_with_kvcache, float>(
      KernelContext(), x, x, x, cache, cache, tensor<int64_t>({1}, {1}), &out, &keys, &values);
  EXPECT_EQ(to_doubles(cache), before);
  Values after = before;
  std::copy_n(to_doubles(x).begin(), 8, after.begin() + 8);
  EXPECT_EQ(to_doubles(keys), after);
  EXPECT_EQ(to_doubles(values), after);
}

TEST(FlashAttentionKernel, WithKvcacheSaysThatThereIsNoRoom) {
  DenseTensor x = blank<float>({1, 2, 1, 4}), cache = blank<float>({1, 3, 1, 4});
  const auto read_behind = [&](double held) -> std::string {
    try {
      DenseTensor out = x.clone();
      registered<kernels::flash_attention_with_kvcache, float>(KernelContext(), x, x, x, cache,
                                                               cache, tensor<int64_t>({held}, {1}),
                                                               &out, &cache, &cache);
    } catch (const Error& error) {
      return words_of(error, ErrorCode::kOutOfRange);
    }
    return "no error";
  };
  EXPECT_NE(read_behind(2).find("cache_seqlens has a 2: caches with room for 3"),
            std::string::npos);
  EXPECT_NE(read_behind(-1).find("cache_seqlens has a -1"), std::string::npos);
  EXPECT_EQ(read_behind(1), "no error");
}

}  // namespace
}  // namespace phi::testing
