// Attention over sequences of unequal length, of one new position, and softmaxes of its scores on
// GPUs, beside the CPU's.
#include "phi/generated/kernels/decode_attention.h"
#include "phi/generated/kernels/fused_attention.h"
#include "phi/generated/kernels/masked_softmax.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

/// Sequences of a call: heads as in q and in k, widths as in k and in v.
struct Lengths {
  std::vector<int64_t> q_begins, k_begins;
  int64_t queries = 0, keys = 0;  // that there are
  int64_t heads = 2, kv_heads = 1, width = 4, value_width = 6;
  bool causal = false;
  float scale = 0, dropout = 0;
  DataType dtype = DataType::INT64;  // of begins
};

// Tiles have 64 queries and keys, or 32: lengths on both sides of that, of whole tiles, of none.
const Lengths kLengths[] = {
    {.q_begins = {0, 3, 3, 10, 75}, .k_begins = {0, 5, 7, 14, 80}, .queries = 77, .keys = 80},
    {.q_begins = {0, 3, 3, 10, 75},
     .k_begins = {0, 5, 7, 14, 80},
     .queries = 77,
     .keys = 80,
     .causal = true,
     .scale = 0.25f},
    {.q_begins = {0, 64, 128, 129},
     .k_begins = {0, 32, 96, 97},
     .queries = 129,
     .keys = 97,
     .heads = 4,
     .kv_heads = 2,
     .width = 6,
     .value_width = 3,
     .causal = true,
     .dtype = DataType::INT32},
    {.q_begins = {0, 31, 96},
     .k_begins = {0, 0, 130},  // the first sees no key
     .queries = 96,
     .keys = 130,
     .causal = true},
    {.q_begins = {0, 2, 70},
     .k_begins = {0, 70, 72},
     .queries = 70,
     .keys = 75,
     .heads = 1,
     .width = 136,
     .value_width = 130,
     .causal = true},
    {.q_begins = {0, 9, 40}, .k_begins = {0, 40, 50}, .queries = 40, .keys = 50, .dropout = 0.25f},
    {.q_begins = {0, 7, 41},
     .k_begins = {0, 9, 50},
     .queries = 43,
     .keys = 50,
     .kv_heads = 2,
     .causal = true,
     .dropout = 0.5f},
    {.q_begins = {0}, .k_begins = {0}, .queries = 5, .keys = 5},
    {.q_begins = {0, 0}, .k_begins = {0, 3}, .queries = 0, .keys = 3},
};

constexpr double kRoundings = 4;  // the CPU rounds weights in other places

DenseTensor begins_of(const std::vector<int64_t>& begins, DataType dtype) {
  const Dims dims{static_cast<int64_t>(begins.size())};
  const Values values(begins.begin(), begins.end());
  return dtype == DataType::INT32 ? tensor<int32_t>(values, dims) : tensor<int64_t>(values, dims);
}

template <typename T>
struct Calls {
  static constexpr DataType kType = dtype_of<T>();

  static Arrays inputs(const Lengths& s) {
    return {drawn(kType, {s.queries, s.heads, s.width}, 1, -1, 1),
            drawn(kType, {s.keys, s.kv_heads, s.width}, 2, -1, 1),
            drawn(kType, {s.keys, s.kv_heads, s.value_width}, 3, -1, 1),
            begins_of(s.q_begins, s.dtype),
            begins_of(s.k_begins, s.dtype),
            tensor<int64_t>({11, 5}, {2})};
  }
  static std::vector<TensorMeta> outputs(const Lengths& s) {
    return {{{s.queries, s.heads, s.value_width}, kType},
            {{s.heads, s.queries}, dtype_of<compute_t<T>>()},
            {{s.dropout > 0 ? 2 : 0}, DataType::INT64}};
  }
  static KernelCall attend(const Lengths& s) {
    return [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::flash_attn_unpadded, T>(ctx, in[0], in[1], in[2], in[3], in[4], &in[5],
                                                  Scalar(1), Scalar(1), s.scale, s.dropout,
                                                  s.causal, /*is_test=*/false, &out[0], nullptr,
                                                  &out[1], s.dropout > 0 ? &out[2] : nullptr);
    };
  }
  /// Inputs of the gradient: those of the operator, its outputs, and the outputs' gradient.
  static Arrays grad_inputs(const Lengths& s) {
    Arrays in = inputs(s);
    const Arrays all = left_on_cpu(in, outputs(s), attend(s));
    in.insert(in.end(), {all[6], all[7], drawn(kType, all[6].dims(), 4, -1, 1)});
    return in;
  }
  static std::vector<TensorMeta> grad_outputs(const Lengths& s) {
    const Arrays in = inputs(s);
    return {in[0].meta(), in[1].meta(), in[2].meta()};
  }
  static KernelCall find_gradients(const Lengths& s) {
    return [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::flash_attn_unpadded_grad, T>(
          ctx, in[0], in[1], in[2], in[3], in[4], in[6], in[7], &in[5], in[8], s.scale, s.dropout,
          s.causal, /*is_test=*/false, &out[0], &out[1], &out[2]);
    };
  }
};

template <typename T>
class GpuSequencesTest : public ::testing::Test {};
using EachFloat = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(GpuSequencesTest, EachFloat);

TYPED_TEST(GpuSequencesTest, AttentionIsTheCpus) {
  using Own = Calls<TypeParam>;
  for (const Lengths& s : kLengths) {
    SCOPED_TRACE(std::to_string(&s - kLengths));
    expect_same_on_gpu(Own::inputs(s), Own::outputs(s), Own::attend(s), kRoundings);
  }
}

TYPED_TEST(GpuSequencesTest, GradientsAreTheCpus) {
  using Own = Calls<TypeParam>;
  for (const Lengths& s : kLengths) {
    SCOPED_TRACE(std::to_string(&s - kLengths));
    expect_same_on_gpu(Own::grad_inputs(s), Own::grad_outputs(s), Own::find_gradients(s),
                       kRoundings);
  }
}

// A sequence sees nothing of its neighbours, NaN here.
TEST(GpuSequences, NanStaysInItsSequence) {
  const Lengths s{{0, 20, 45, 70}, {0, 20, 45, 70}, 70, 70, 1, 1};
  using Own = Calls<float>;
  Arrays in = Own::inputs(s);
  for (size_t which = 0; which < 3; ++which) {
    const int64_t width = in[which].dims()[2];
    for (int64_t i = 20; i < 45; ++i) in[which].mutable_data<float>()[i * width] = NAN;
  }
  const Values got = to_doubles(left_on_gpu(in, Own::outputs(s), Own::attend(s))[in.size()]);
  for (int64_t i = 0; i < 70; ++i)
    EXPECT_EQ(std::isnan(got[static_cast<size_t>(i * s.value_width)]), i >= 20 && i < 45) << i;
}

TEST(GpuSequences, EachGradientAloneIsWhatItIsAmongTheOthers) {
  const Lengths& s = kLengths[0];
  using Own = Calls<float>;
  const Arrays in = Own::grad_inputs(s);
  const Arrays all = left_on_gpu(in, Own::grad_outputs(s), Own::find_gradients(s));
  for (size_t wanted = 0; wanted < 3; ++wanted) {
    const auto one = [&](const KernelContext& ctx, Arrays& x, Arrays& out) {
      registered<kernels::flash_attn_unpadded_grad, float>(
          ctx, x[0], x[1], x[2], x[3], x[4], x[6], x[7], nullptr, x[8], s.scale, 0.0f, s.causal,
          false, wanted == 0 ? &out[0] : nullptr, wanted == 1 ? &out[0] : nullptr,
          wanted == 2 ? &out[0] : nullptr);
    };
    const Arrays got = left_on_gpu(in, {Own::grad_outputs(s)[wanted]}, one);
    EXPECT_EQ(bits_of(got[in.size()]), bits_of(all[in.size() + wanted])) << wanted;
  }
}

TEST(GpuSequences, BeginsThatDoNotAscendAreRefused) {
  for (const auto& begins : {std::vector<int64_t>{1, 3, 6}, {0, 5, 4}, {0, 3, 9}, {0, -2, 6}}) {
    for (const bool of_keys : {false, true}) {
      Lengths s{{0, 3, 6}, {0, 3, 6}, 7, 7};
      (of_keys ? s.k_begins : s.q_begins) = begins;
      using Own = Calls<float>;
      const std::string text =
          std::string(of_keys ? "cu_seqlens_k" : "cu_seqlens_q") +
          " must ascend from 0 and end within the 7 positions available; it ends at " +
          std::to_string(begins.back()) + ".";
      const Arrays in = Own::inputs(s);
      expect_error(ErrorCode::kOutOfRange, text,
                   [&] { left_on_cpu(in, Own::outputs(s), Own::attend(s)); });
      expect_error(ErrorCode::kOutOfRange, text,
                   [&] { left_on_gpu(in, Own::outputs(s), Own::attend(s)); });
    }
  }
}

/// Rows of heads [begin, end) of an array.
DenseTensor heads_of(const DenseTensor& x, int64_t begin, int64_t end) {
  return tensor<double>(cut(to_doubles(x), x.dims(), 1, begin, end),
                        with_extent(x.dims(), 1, end - begin));
}

TEST(GpuSequences, HeadsOfARankAreTheCpus) {
  const Lengths s{.q_begins = {0, 9, 40},
                  .k_begins = {0, 20, 50},
                  .queries = 40,
                  .keys = 50,
                  .heads = 4,
                  .kv_heads = 2,
                  .causal = true,
                  .dropout = 0.5f};
  using Own = Calls<double>;
  const Arrays all = Own::grad_inputs(s);
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 1}, {1, 2}, {2, 2}}) {
    FakeView view;
    view.inputs = {part(all[0].dims(), 1, 2 * begin, 2 * end), part(all[1].dims(), 1, begin, end)};
    const Arrays in{heads_of(all[0], 2 * begin, 2 * end),
                    heads_of(all[1], begin, end),
                    heads_of(all[2], begin, end),
                    all[3],
                    all[4],
                    all[5]};
    const std::vector<TensorMeta> outputs{
        {{40, 2 * (end - begin), s.value_width}, DataType::FLOAT64},
        {{2 * (end - begin), 40}, DataType::FLOAT64},
        {{2}, DataType::INT64}};
    expect_same_on_gpu(in, outputs, Own::attend(s), 1, &view);
  }
}

/// A step of batch 3 with 2 heads, a cache of `room` positions; what is behind the lengths is NaN.
template <typename T>
Arrays decoding_inputs(const std::vector<double>& held, bool with_mask, int64_t room = 70,
                       int64_t width = 5) {
  DenseTensor cache = drawn(dtype_of<T>(), {2, 3, 2, room, width}, 2, -1, 1);
  for (int64_t line = 0; line < 12; ++line) {
    const auto n = static_cast<int64_t>(held[static_cast<size_t>(line / 2 % 3)]);
    for (int64_t i = n * width; i < room * width; ++i)
      cache.mutable_data<T>()[line * room * width + i] = from_double<T>(NAN);
  }
  return {drawn(dtype_of<T>(), {3, 6 * width}, 1, -1, 1), cache,
          drawn(dtype_of<T>(), {3, 2, width}, 3, -1, 1),
          with_mask ? drawn(dtype_of<T>(), {3, 1, 1, 40}, 4, -1, 1) : DenseTensor(),
          tensor<int32_t>(held, {3, 1})};
}

TYPED_TEST(GpuSequencesTest, DecodingIsTheCpus) {
  using T = TypeParam;
  const auto call = [](bool with_bias, bool with_lengths) {
    return [=](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::masked_multihead_attention, T>(
          ctx, in[0], in[1], with_bias ? &in[2] : nullptr, in[3].defined() ? &in[3] : nullptr,
          with_lengths ? &in[4] : nullptr, &out[0], &in[1], nullptr);
    };
  };
  const std::vector<TensorMeta> outputs{{{3, 10}, dtype_of<T>()}};
  expect_same_on_gpu(decoding_inputs<T>({0, 33, 69}, false), outputs, call(true, true), kRoundings);
  expect_same_on_gpu(decoding_inputs<T>({0, 33, 69}, true), outputs, call(false, true), kRoundings);
  expect_same_on_gpu(decoding_inputs<T>({39, 39, 39}, true), outputs, call(true, false),
                     kRoundings);
  // Positions and widths that a thread has, or a block.
  expect_same_on_gpu(decoding_inputs<T>({0, 1, 2}, false, 3), outputs, call(true, true),
                     kRoundings);
  expect_same_on_gpu(decoding_inputs<T>({0, 700, 1099}, false, 1100), outputs, call(true, true),
                     kRoundings);
  expect_same_on_gpu(decoding_inputs<T>({0, 3, 4}, false, 5, 1030), {{{3, 2060}, dtype_of<T>()}},
                     call(true, true), kRoundings);
}

TEST(GpuDecoding, ACacheWithoutRoomIsRefused) {
  const auto call = [](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<kernels::masked_multihead_attention, float>(ctx, in[0], in[1], nullptr, nullptr,
                                                           &in[4], &out[0], &in[1], nullptr);
  };
  Arrays in = decoding_inputs<float>({0, 70, 3}, false);
  const std::vector<TensorMeta> outputs{{{3, 10}, DataType::FLOAT32}};
  const std::string text = "a sequence has 70 positions already: a cache with room for 70 cannot";
  expect_error(ErrorCode::kOutOfRange, text, [&] { left_on_cpu(in, outputs, call); });
  expect_error(ErrorCode::kOutOfRange, text, [&] { left_on_gpu(in, outputs, call); });
}

TYPED_TEST(GpuSequencesTest, MaskedSoftmaxesAreTheCpus) {
  using T = TypeParam;
  const DataType t = dtype_of<T>();
  for (const Dims& dims : {Dims{2, 3, 5, 7}, Dims{2, 3, 2, 4}, Dims{1, 2, 3, 40},
                           Dims{1, 1, 2, 1100}, Dims{0, 1, 2, 3}}) {
    DenseTensor mask = drawn(t, {dims[0], 1, dims[2], dims[3]}, 2);
    if (mask.numel() > 8) mask.mutable_data<T>()[5] = from_double<T>(-INFINITY);
    if (mask.numel() > 8) mask.mutable_data<T>()[8] = from_double<T>(NAN);
    expect_same_on_gpu({drawn(t, dims, 1), mask}, {{dims, t}},
                       [](const KernelContext& ctx, Arrays& in, Arrays& out) {
                         registered<kernels::fused_softmax_mask, T>(ctx, in[0], in[1], &out[0]);
                       });
  }
}

TYPED_TEST(GpuSequencesTest, SoftmaxesOfTrianglesAreTheCpus) {
  using T = TypeParam;
  const auto call = [](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<kernels::fused_softmax_mask_upper_triangle, T>(ctx, in[0], &out[0]);
    registered<kernels::fused_softmax_mask_upper_triangle_grad, T>(ctx, in[0], in[1], &out[1]);
  };
  for (const int64_t n : {1, 5, 40, 0, 1030}) {
    const int64_t heads = n > 1000 ? 1 : 2;
    const TensorMeta meta{{heads, heads, n, n}, dtype_of<T>()};
    expect_same_on_gpu({drawn(meta.dtype, meta.dims, 1), drawn(meta.dtype, meta.dims, 2)},
                       {meta, meta}, call);
  }
  // The queries [2, 5) of 7.
  const TensorMeta meta{{1, 2, 3, 7}, dtype_of<T>()};
  FakeView view;
  view.inputs = {part({1, 2, 7, 7}, 2, 2, 5), part({1, 2, 7, 7}, 2, 2, 5)};
  expect_same_on_gpu({drawn(meta.dtype, meta.dims, 1), drawn(meta.dtype, meta.dims, 2)},
                     {meta, meta}, call, 1, &view);
}

}  // namespace
}  // namespace phi::testing
