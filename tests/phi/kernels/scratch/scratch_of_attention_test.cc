// The scratch memory that attention states is what it obtains.
#include "phi/generated/kernels/attention.h"
#include "phi/generated/kernels/decode_attention.h"
#include "phi/generated/kernels/fused_attention.h"
#include "tests/phi/kernels/scratch/check_scratch.h"

namespace phi::testing {
namespace {

template <typename T>
void check_attention(std::mt19937& random) {
  const int64_t batch = draw(random, 1, 2), heads = 2 * draw(random, 1, 2);
  const int64_t sq = draw(random, 1, 150), sk = draw(random, 1, 600);
  const int64_t width = draw(random, 1, 80), value_width = draw(random, 1, 300);
  const bool causal = flip(random);
  const DenseTensor q = zeros<T>({batch, sq, heads, width});
  const DenseTensor k = zeros<T>({batch, sk, 2, width});
  const DenseTensor v = zeros<T>({batch, sk, 2, value_width});
  DenseTensor out = zeros<T>({batch, sq, heads, value_width});
  DenseTensor lse = zeros<accumulator_t<T>>({batch, heads, sq});
  check_kernel<kernels::flash_attention, T>(q, k, v, nullptr, nullptr, 0.0f, causal, false, true,
                                            &out, nullptr, &lse, nullptr);
  DenseTensor q_grad = zeros<T>(q.dims()), k_grad = zeros<T>(k.dims());
  DenseTensor v_grad = zeros<T>(v.dims());
  const int64_t unwanted = draw(random, 0, 3);
  check_kernel<kernels::flash_attention_grad, T>(q, k, v, out, lse, nullptr, nullptr, out, 0.0f,
                                                 causal, true, unwanted == 0 ? nullptr : &q_grad,
                                                 unwanted == 1 ? nullptr : &k_grad,
                                                 unwanted == 2 ? nullptr : &v_grad);
}

TEST(ScratchOfAttention, IsWhatIsStated) {
  std::mt19937 random(3);
  for (int i = 0; i < 8; ++i) {
    SCOPED_TRACE(i);
    check_attention<bfloat16>(random);
    check_attention<float16>(random);
    check_attention<double>(random);
  }
}

DenseTensor array_of(const std::vector<int64_t>& values) {
  return DenseTensor::from(std::span(values), {std::ssize(values)});
}

/// Offsets of consecutive sequences of random lengths, from 0 to `all`.
DenseTensor random_begins(int64_t count, int64_t all, std::mt19937& random) {
  std::vector<int64_t> begins{0, all};
  while (std::ssize(begins) <= count) begins.push_back(draw(random, 0, all));
  std::ranges::sort(begins);
  return array_of(begins);
}

template <typename T>
void check_unpadded(std::mt19937& random) {
  const int64_t count = draw(random, 1, 4), sq = draw(random, 1, 200), sk = draw(random, 1, 700);
  const int64_t heads = draw(random, 1, 2), width = draw(random, 1, 80);
  const DenseTensor q = zeros<T>({sq, heads, width}), k = zeros<T>({sk, heads, width});
  const DenseTensor v = zeros<T>({sk, heads, width});
  const DenseTensor qs = random_begins(count, sq, random), ks = random_begins(count, sk, random);
  DenseTensor out = zeros<T>(q.dims()), lse = zeros<accumulator_t<T>>({heads, sq});
  const Scalar longest(sk);
  check_kernel<kernels::flash_attn_unpadded, T>(q, k, v, qs, ks, nullptr, longest, longest, 0.0f,
                                                0.0f, true, true, &out, nullptr, &lse, nullptr);
  DenseTensor q_grad = zeros<T>(q.dims()), k_grad = zeros<T>(k.dims()), v_grad = zeros<T>(v.dims());
  const bool wants_k = flip(random);
  check_kernel<kernels::flash_attn_unpadded_grad, T>(q, k, v, qs, ks, out, lse, nullptr, out, 0.0f,
                                                     0.0f, true, true, &q_grad,
                                                     wants_k ? &k_grad : nullptr, &v_grad);
}

TEST(ScratchOfUnpaddedAttention, IsWhatIsStatedForAnyLengths) {
  std::mt19937 random(11);
  for (int i = 0; i < 8; ++i) {
    SCOPED_TRACE(i);
    check_unpadded<bfloat16>(random);
    check_unpadded<float16>(random);
    check_unpadded<double>(random);
  }
}

template <typename T>
void check_cached(std::mt19937& random) {
  const int64_t batch = draw(random, 1, 3), added = draw(random, 1, 3), heads = draw(random, 1, 2);
  const int64_t room = draw(random, added, 600), width = draw(random, 1, 80);
  const Dims dims{batch, added, heads, width}, cache_dims{batch, room, heads, width};
  const DenseTensor q = zeros<T>(dims), k = zeros<T>(dims), v = zeros<T>(dims);
  DenseTensor keys = zeros<T>(cache_dims), values = zeros<T>(cache_dims), out = zeros<T>(dims);
  std::vector<int64_t> held;
  for (int64_t b = 0; b < batch; ++b) held.push_back(draw(random, 0, room - added));
  check_kernel<kernels::flash_attention_with_kvcache, T>(q, k, v, keys, values, array_of(held),
                                                         &out, &keys, &values);
}

TEST(ScratchOfAttentionWithCaches, IsWhatIsStatedForAnyLengths) {
  std::mt19937 random(12);
  for (int i = 0; i < 8; ++i) {
    SCOPED_TRACE(i);
    check_cached<bfloat16>(random);
    check_cached<float16>(random);
    check_cached<double>(random);
  }
}

template <typename T>
void check_decoding(std::mt19937& random) {
  const int64_t batch = draw(random, 1, 3), heads = draw(random, 1, 3);
  const int64_t room = draw(random, 1, 60), width = draw(random, 1, 80);
  const DenseTensor x = zeros<T>({batch, 3 * heads * width});
  const DenseTensor cache = zeros<T>({2, batch, heads, room, width});
  const DenseTensor lengths = zeros<int64_t>({batch, 1});
  DenseTensor out = zeros<T>({batch, heads * width}), cache_out = cache;
  check_kernel<kernels::masked_multihead_attention, T>(x, cache, nullptr, nullptr, &lengths, &out,
                                                       &cache_out, nullptr);
}

TEST(ScratchOfDecoding, IsNone) {
  std::mt19937 random(4);
  check_decoding<bfloat16>(random);
  check_decoding<float16>(random);
}

}  // namespace
}  // namespace phi::testing
