// Attention on GPUs, beside the CPU's: edges of tiles, heads wider than a block sums, masks,
// grouped heads, dropout, caches, parts of a sharded problem.
#include "phi/generated/kernels/attention.h"
#include "tests/phi/gpu/both_devices.h"
#include "tests/phi/kernels/attention/attention_problem.h"

namespace phi::testing {
namespace {

using Problem = AttentionProblem;

// Tiles have 64 queries and keys, or 32; parts of heads 64 columns, or 32; blocks sum twice as
// many.
const Problem kProblems[] = {
    {.batch = 2, .sq = 5, .sk = 5, .heads = 2, .kv_heads = 2, .causal = true},
    {.batch = 2, .sq = 7, .sk = 9, .heads = 4, .kv_heads = 2, .width = 6, .value_width = 3},
    {.sq = 66, .sk = 130, .heads = 2, .kv_heads = 1, .width = 8, .value_width = 16, .causal = true},
    {.sq = 3, .sk = 70, .width = 136, .value_width = 130, .causal = true},
    {.sq = 5, .sk = 3, .width = 65, .value_width = 64},
    {.sq = 2, .sk = 3, .width = 8, .value_width = 1030},
    {.sq = 70, .sk = 20, .causal = true},  // early queries see nothing
    {.sq = 1, .sk = 129, .causal = true},
    {.sq = 65, .sk = 67, .mask_kind = 1},
    {.batch = 2, .sq = 4, .sk = 6, .heads = 2, .kv_heads = 1, .causal = true, .mask_kind = 2},
    {.sq = 40, .sk = 70, .heads = 2, .kv_heads = 2, .dropout = 0.25f},
    {.batch = 2, .sq = 8, .sk = 8, .heads = 2, .kv_heads = 1, .causal = true, .dropout = 0.5f},
    {.sq = 3, .sk = 0},
    {.sq = 0, .sk = 3},
    {.batch = 0, .sq = 2, .sk = 2},
};

// Whose scores stay in registers, where elements have 16 bits and no weights are asked for: heads
// of 64 and 128 columns, edges of 64 queries and keys, more heads than are in the grid together.
const Problem kInRegisters[] = {
    {.batch = 2,
     .sq = 70,
     .sk = 130,
     .heads = 4,
     .kv_heads = 2,
     .width = 64,
     .value_width = 64,
     .causal = true},
    {.sq = 64, .sk = 64, .width = 128, .value_width = 128},
    {.sq = 129,
     .sk = 193,
     .heads = 2,
     .kv_heads = 1,
     .width = 128,
     .value_width = 128,
     .causal = true},
    {.batch = 2, .sq = 65, .sk = 67, .heads = 5, .kv_heads = 5, .width = 64, .value_width = 64},
    {.sq = 70,
     .sk = 20,
     .width = 64,
     .value_width = 64,
     .causal = true},  // early queries see nothing
    {.sq = 1, .sk = 66, .width = 128, .value_width = 128, .causal = true},
    {.sq = 3, .sk = 0, .width = 64, .value_width = 64},
};

/// Times the rounding of a dtype: the CPU rounds weights in other places.
constexpr double kRoundings = 4;

/// The operator and its gradient on arrays of T.
template <typename T>
struct Calls {
  static Arrays inputs(const Problem& p) {
    return {tensor<T>(p.q(), p.q_dims()), tensor<T>(p.k(), p.k_dims()),
            tensor<T>(p.v(), p.v_dims()), tensor<int64_t>({11, 5}, {2}),
            p.mask_kind ? tensor<T>(p.mask(), p.mask_dims()) : DenseTensor()};
  }
  static const DenseTensor* if_defined(const DenseTensor& x) { return x.defined() ? &x : nullptr; }
  static std::vector<TensorMeta> outputs(const Problem& p, bool weights = true) {
    return {{p.out_dims(), dtype_of<T>()},
            {weights ? Dims{p.batch, p.heads, p.sq, p.sk} : Dims{0}, dtype_of<T>()},
            {p.lse_dims(), dtype_of<compute_t<T>>()},
            {{p.dropout > 0 ? 2 : 0}, DataType::INT64}};
  }
  /// out, softmax, lse, and seed and offset where something drops.
  static KernelCall attend(const Problem& p, bool weights = true) {
    return [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::flash_attention, T>(
          ctx, in[0], in[1], in[2], &in[3], if_defined(in[4]), p.dropout, p.causal,
          /*return_softmax=*/weights, /*is_test=*/false, &out[0], &out[1], &out[2], &out[3]);
    };
  }
  /// Inputs of the gradient: those of the operator, its outputs, and the outputs' gradient.
  static Arrays grad_inputs(const Problem& p) {
    Arrays in = inputs(p);
    Arrays out = left_on_cpu(in, outputs(p), attend(p));
    in.push_back(out[in.size()]);
    in.push_back(out[in.size() + 1]);  // lse
    in.push_back(tensor<T>(p.out_grad(), p.out_dims()));
    return in;
  }
  static std::vector<TensorMeta> grad_outputs(const Problem& p) {
    return {{p.q_dims(), dtype_of<T>()}, {p.k_dims(), dtype_of<T>()}, {p.v_dims(), dtype_of<T>()}};
  }
  static KernelCall find_gradients(const Problem& p) {
    return [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::flash_attention_grad, T>(ctx, in[0], in[1], in[2], in[5], in[6], &in[3],
                                                   if_defined(in[4]), in[7], p.dropout, p.causal,
                                                   /*is_test=*/false, &out[0], &out[1], &out[2]);
    };
  }
};

template <typename T>
class GpuAttentionTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(GpuAttentionTest, Floats);

TYPED_TEST(GpuAttentionTest, IsTheCpus) {
  for (const Problem& p : kProblems) {
    SCOPED_TRACE(p.name());
    expect_same_on_gpu(Calls<TypeParam>::inputs(p), Calls<TypeParam>::outputs(p),
                       Calls<TypeParam>::attend(p), kRoundings);
  }
}

TYPED_TEST(GpuAttentionTest, WithoutWrittenWeightsItIsTheCpus) {
  for (const Problem& p : kInRegisters) {
    SCOPED_TRACE(p.name());
    expect_same_on_gpu(Calls<TypeParam>::inputs(p), Calls<TypeParam>::outputs(p, false),
                       Calls<TypeParam>::attend(p, false), kRoundings);
  }
}

TYPED_TEST(GpuAttentionTest, GradientsAreTheCpus) {
  std::vector<Problem> problems(std::begin(kProblems), std::end(kProblems));
  problems.insert(problems.end(), std::begin(kInRegisters), std::end(kInRegisters));
  for (const Problem& p : problems) {
    SCOPED_TRACE(p.name());
    expect_same_on_gpu(Calls<TypeParam>::grad_inputs(p), Calls<TypeParam>::grad_outputs(p),
                       Calls<TypeParam>::find_gradients(p), kRoundings);
  }
}

// Masks that hide whole rows, single keys, everything; around the edges of tiles.
TYPED_TEST(GpuAttentionTest, RareProblemsAreTheCpus) {
  for (const Problem& p : rare_attention_problems()) {
    SCOPED_TRACE(p.name());
    if (p.sk > 200) continue;  // the CPU's tiles, not these
    const Arrays in = Calls<TypeParam>::inputs(p);
    const auto close = [&](const Arrays& got, const Arrays& expected) {
      for (size_t i = 0; i < got.size(); ++i) {
        if (!got[i].defined()) continue;
        expect_close(to_doubles(got[i]), to_doubles(expected[i]),
                     kRoundings * tolerance<TypeParam>(), std::to_string(i));
      }
    };
    close(left_on_gpu(in, Calls<TypeParam>::outputs(p), Calls<TypeParam>::attend(p)),
          left_on_cpu(in, Calls<TypeParam>::outputs(p), Calls<TypeParam>::attend(p)));
    const Arrays grad_in = Calls<TypeParam>::grad_inputs(p);
    close(left_on_gpu(grad_in, Calls<TypeParam>::grad_outputs(p),
                      Calls<TypeParam>::find_gradients(p)),
          left_on_cpu(grad_in, Calls<TypeParam>::grad_outputs(p),
                      Calls<TypeParam>::find_gradients(p)));
    if (::testing::Test::HasFailure()) return;
  }
}

// A query or key that is NaN spoils the queries that see it and no other.
TYPED_TEST(GpuAttentionTest, NanKeepsToTheQueriesThatSeeIt) {
  using T = TypeParam;
  for (const int64_t width : {4, 64}) {
    const Problem p{.sq = 70, .sk = 70, .width = width, .value_width = width, .causal = true};
    for (const int64_t at : {int64_t{0}, int64_t{31}, int64_t{64}, int64_t{69}}) {
      for (size_t which = 0; which < 2; ++which) {
        Arrays in = Calls<T>::inputs(p);
        in[which].mutable_data<T>()[at * width + 1] = from_double<T>(NAN);
        const Values got = to_doubles(
            left_on_gpu(in, Calls<T>::outputs(p, false), Calls<T>::attend(p, false))[in.size()]);
        for (int64_t i = 0; i < p.sq; ++i) {
          EXPECT_EQ(std::isnan(got[i * width + 1]), which == 0 ? i == at : i >= at)
              << width << " " << which << " " << i;
        }
      }
    }
  }
}

// What caches hold behind their lengths, NaN here, does not count.
TYPED_TEST(GpuAttentionTest, CachesAreTheCpus) {
  using T = TypeParam;
  constexpr int64_t kRoom = 70;
  struct Held {
    double first, second;
    int64_t added;
    int64_t width = 6;
  };
  for (const Held& held : {Held{0, 0, 5}, {3, 66, 1}, {65, 0, 5}, {70, 2, 0}, {3, 66, 2, 64}}) {
    const int64_t row = 2 * held.width;
    const Dims q_dims{2, held.added, 4, held.width};
    const Dims dims{2, held.added, 2, held.width};
    DenseTensor keys = tensor<T>(Values(2 * kRoom * row, NAN), {2, kRoom, 2, held.width});
    for (int64_t b = 0; b < 2; ++b) {
      const auto n = static_cast<int64_t>(b == 0 ? held.first : held.second) * row;
      const Values before = random_values(n, 7);
      std::transform(before.begin(), before.end(), keys.mutable_data<T>() + b * kRoom * row,
                     from_double<T>);
    }
    const auto call = [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::flash_attention_with_kvcache, T>(ctx, in[0], in[1], in[2], in[3], in[4],
                                                           in[5], &out[0], &in[3], &in[4]);
    };
    expect_same_on_gpu({drawn(dtype_of<T>(), q_dims, 1), drawn(dtype_of<T>(), dims, 2),
                        drawn(dtype_of<T>(), dims, 3), keys, keys.clone(),
                        tensor<int64_t>({held.first, held.second}, {2})},
                       {{q_dims, dtype_of<T>()}}, call, kRoundings);
  }
}

TEST(GpuAttention, ACacheThatIsNoOutputStaysAndOneWithoutRoomIsRefused) {
  const DenseTensor x = drawn(DataType::FLOAT32, {1, 2, 1, 4}, 1);
  const DenseTensor cache = drawn(DataType::FLOAT32, {1, 3, 1, 4}, 2);
  const auto call = [](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<kernels::flash_attention_with_kvcache, float>(ctx, in[0], in[0], in[0], in[1], in[1],
                                                             in[2], &out[0], &out[1], &out[2]);
  };
  const std::vector<TensorMeta> outputs{x.meta(), cache.meta(), cache.meta()};
  expect_same_on_gpu({x, cache, tensor<int64_t>({1}, {1})}, outputs, call);
  for (const double held : {2.0, -1.0}) {
    const Arrays in{x, cache, tensor<int64_t>({held}, {1})};
    const std::string text = "cache_seqlens has a " + std::to_string(static_cast<int>(held)) +
                             ": caches with room for 3 positions cannot store 2 more";
    expect_error(ErrorCode::kOutOfRange, text, [&] { left_on_cpu(in, outputs, call); });
    expect_error(ErrorCode::kOutOfRange, text, [&] { left_on_gpu(in, outputs, call); });
  }
}

/// Parts [begin, end) of q's tensor dim, and of k's and v's.
struct Split {
  int axis;
  int k_axis;  // -1: whole
};

/// The view and the local arrays of one part; lse and out are those of the whole.
struct Part {
  FakeView view;
  Arrays in;
  std::vector<TensorMeta> grads;
};

template <typename T>
Part part_of(const Problem& p, const Split& split, int64_t begin, int64_t end, const Arrays& all) {
  const auto cut_of = [&](const DenseTensor& x, int axis, int64_t from, int64_t to) {
    return visit_dtype(x.dtype(), [&]<typename E>() {
      return tensor<E>(cut(to_doubles(x), x.dims(), axis, from, to),
                       with_extent(x.dims(), axis, to - from));
    });
  };
  const int64_t group = split.k_axis == 2 ? p.heads / p.kv_heads : 1;
  const int k_axis = std::max(split.k_axis, 0);
  const int64_t from = split.k_axis < 0 ? 0 : begin / group;
  const int64_t to = split.k_axis < 0 ? p.k_dims()[0] : end / group;
  const int lse_axis = split.axis == 0 ? 0 : 3 - split.axis;
  Part own;
  own.in = {cut_of(all[0], split.axis, begin, end),
            cut_of(all[1], k_axis, from, to),
            cut_of(all[2], k_axis, from, to),
            all[3],
            all[4],
            cut_of(all[5], split.axis, begin, end),
            cut_of(all[6], lse_axis, begin, end),
            cut_of(all[7], split.axis, begin, end)};
  own.view.inputs = {part(p.q_dims(), split.axis, begin, end), part(p.k_dims(), k_axis, from, to),
                     part(p.v_dims(), k_axis, from, to)};
  for (size_t i = 0; i < 3; ++i) own.grads.push_back(own.in[i].meta());
  return own;
}

TEST(GpuAttention, PartsAreTheCpus) {
  const Problem p{.batch = 2,
                  .sq = 9,
                  .sk = 9,
                  .heads = 4,
                  .kv_heads = 2,
                  .causal = true,
                  .mask_kind = 2,
                  .dropout = 0.5f};
  using Double = Calls<double>;
  const Arrays all = Double::grad_inputs(p);
  for (const Split& split : {Split{0, 0}, {1, -1}, {2, 2}, {0, -1}, {2, -1}}) {
    const int64_t extent = p.q_dims()[split.axis];
    for (const auto& [begin, end] :
         {std::pair<int64_t, int64_t>{0, extent / 2}, {extent / 2, extent}, {extent, extent}}) {
      SCOPED_TRACE(std::to_string(split.axis) + " from " + std::to_string(begin));
      Part own = part_of<double>(p, split, begin, end, all);
      const ShardBox mask = whole(p.mask_dims());
      const std::vector<ShardBox> of_q = own.view.inputs;
      own.view.inputs.insert(own.view.inputs.end(), {whole({2}), mask});
      const Dims& q = own.in[0].dims();
      const Arrays forward(own.in.begin(), own.in.begin() + 5);
      expect_same_on_gpu(forward,
                         {own.in[5].meta(),
                          {{q[0], q[2], q[1], own.in[1].dims()[1]}, DataType::FLOAT64},
                          own.in[6].meta(),
                          {{2}, DataType::INT64}},
                         Double::attend(p), 1, &own.view);
      own.view.inputs = of_q;
      own.view.inputs.insert(own.view.inputs.end(), {of_q[0], of_q[0], whole({2}), mask});
      expect_same_on_gpu(own.in, own.grads, Double::find_gradients(p), 1, &own.view);
    }
  }
}

TEST(GpuAttention, EachGradientAloneIsWhatItIsAmongTheOthers) {
  using Float = Calls<float>;
  const Problem p{.sq = 9, .sk = 11, .heads = 2, .kv_heads = 1};
  const Arrays in = Float::grad_inputs(p);
  const Arrays all = left_on_gpu(in, Float::grad_outputs(p), Float::find_gradients(p));
  for (size_t wanted = 0; wanted < 3; ++wanted) {
    const auto one = [&](const KernelContext& ctx, Arrays& x, Arrays& out) {
      registered<kernels::flash_attention_grad, float>(
          ctx, x[0], x[1], x[2], x[5], x[6], &x[3], nullptr, x[7], 0.0f, false, false,
          wanted == 0 ? &out[0] : nullptr, wanted == 1 ? &out[0] : nullptr,
          wanted == 2 ? &out[0] : nullptr);
    };
    const Arrays got = left_on_gpu(in, {Float::grad_outputs(p)[wanted]}, one);
    EXPECT_EQ(bits_of(got[in.size()]), bits_of(all[in.size() + wanted])) << wanted;
  }
}

TEST(GpuAttention, MissingKeysAndMasksAreNamed) {
  const Problem p{.sq = 4, .sk = 4, .heads = 4, .kv_heads = 4};
  const DenseTensor x = blank<float>({1, 4, 2, 4});
  const DenseTensor mask = blank<float>({1, 2, 4, 4});
  const std::vector<TensorMeta> outputs{x.meta(), {{1, 2, 4}, DataType::FLOAT32}};
  const auto call = [](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<kernels::flash_attention, float>(ctx, in[0], in[0], in[0], nullptr, &in[1], 0.0f,
                                                false, false, true, &out[0], nullptr, &out[1],
                                                nullptr);
  };
  const ShardBox low = part(p.q_dims(), 2, 0, 2);
  const ShardBox high = part(p.q_dims(), 2, 2, 4);
  FakeView view;
  view.inputs = {low, high, high, whole({}), whole({1, 4, 4, 4})};
  expect_error(ErrorCode::kPreconditionNotMet, "k has", [&] {
    left_on_gpu({x, mask}, outputs, call, &view);
  });
  view.inputs = {high, high, high, whole({}), part({1, 4, 4, 4}, 1, 0, 2)};
  expect_error(ErrorCode::kPreconditionNotMet, "attn_mask has", [&] {
    left_on_gpu({x, mask}, outputs, call, &view);
  });
}

}  // namespace
}  // namespace phi::testing
