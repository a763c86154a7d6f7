// Attention over sequences of unequal length is that of each sequence by itself, gradients
// included.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/attention.h"
#include "phi/generated/kernels/fused_attention.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

constexpr int64_t kHeads = 4, kKeyHeads = 2, kWidth = 8, kValueWidth = 6;
const std::vector<int64_t> kQueryBegins{0, 3, 3, 10, 70};  // the second one has no query
const std::vector<int64_t> kKeyBegins{0, 5, 7, 14, 80};
const Dims kQueries{72, kHeads, kWidth}, kKeys{80, kKeyHeads, kWidth},
    kValues{80, kKeyHeads, kValueWidth}, kOuts{72, kHeads, kValueWidth};  // two belong to none

struct Attended {
  DenseTensor out, lse, q_grad, k_grad, v_grad;
};

Attended unpadded(const Values& q, const Values& k, const Values& v, const Values& g, bool causal) {
  Attended r{blank<double>(kOuts), blank<double>({kHeads, kQueries[0]}), blank<double>(kQueries),
             blank<double>(kKeys), blank<double>(kValues)};
  const DenseTensor qs = tensor<double>(q, kQueries), ks = tensor<double>(k, kKeys),
                    vs = tensor<double>(v, kValues);
  const DenseTensor q_begins = DenseTensor::from<int64_t>(kQueryBegins, {5});
  const DenseTensor k_begins = DenseTensor::from<int64_t>(kKeyBegins, {5});
  registered<kernels::flash_attn_unpadded, double>(KernelContext(), qs, ks, vs, q_begins, k_begins,
                                                   nullptr, Scalar(60), Scalar(66), 0.0f, 0.0f,
                                                   causal, false, &r.out, nullptr, &r.lse, nullptr);
  registered<kernels::flash_attn_unpadded_grad, double>(
      KernelContext(), qs, ks, vs, q_begins, k_begins, r.out, r.lse, nullptr,
      tensor<double>(g, kOuts), 0.0f, 0.0f, causal, false, &r.q_grad, &r.k_grad, &r.v_grad);
  return r;
}

// Of positions [begin, end) of [all, heads, width].
Values rows(const Values& values, const Dims& dims, int64_t begin, int64_t end) {
  return cut(values, dims, 0, begin, end);
}

TEST(FlashAttnUnpadded, EachSequenceIsAttentionByItself) {
  const Values q = random_values(kQueries.numel(), 1), k = random_values(kKeys.numel(), 2),
               v = random_values(kValues.numel(), 3), g = random_values(kOuts.numel(), 4);
  for (const bool causal : {false, true}) {
    const Attended all = unpadded(q, k, v, g, causal);
    for (size_t i = 0; i + 1 < kQueryBegins.size(); ++i) {
      const int64_t qb = kQueryBegins[i], qe = kQueryBegins[i + 1];
      const int64_t kb = kKeyBegins[i], ke = kKeyBegins[i + 1];
      const Dims q_dims{1, qe - qb, kHeads, kWidth}, k_dims{1, ke - kb, kKeyHeads, kWidth},
          v_dims{1, ke - kb, kKeyHeads, kValueWidth}, out_dims{1, qe - qb, kHeads, kValueWidth};
      const DenseTensor qs = tensor<double>(rows(q, kQueries, qb, qe), q_dims),
                        ks = tensor<double>(rows(k, kKeys, kb, ke), k_dims),
                        vs = tensor<double>(rows(v, kValues, kb, ke), v_dims),
                        gs = tensor<double>(rows(g, kOuts, qb, qe), out_dims);
      DenseTensor out = blank<double>(out_dims), lse = blank<double>({1, kHeads, qe - qb}),
                  dq = blank<double>(q_dims), dk = blank<double>(k_dims),
                  dv = blank<double>(v_dims);
      registered<kernels::flash_attention, double>(KernelContext(), qs, ks, vs, nullptr, nullptr,
                                                   0.0f, causal, false, false, &out, nullptr, &lse,
                                                   nullptr);
      registered<kernels::flash_attention_grad, double>(KernelContext(), qs, ks, vs, out, lse,
                                                        nullptr, nullptr, gs, 0.0f, causal, false,
                                                        &dq, &dk, &dv);
      const auto expect = [&](const DenseTensor& whole, int64_t begin, int64_t end,
                              const DenseTensor& expected, const char* what) {
        expect_close(rows(to_doubles(whole), whole.dims(), begin, end), to_doubles(expected), 1e-13,
                     what);
      };
      expect(all.out, qb, qe, out, "out");
      expect(all.q_grad, qb, qe, dq, "q_grad");
      expect(all.k_grad, kb, ke, dk, "k_grad");
      expect(all.v_grad, kb, ke, dv, "v_grad");
    }
    EXPECT_EQ(rows(to_doubles(all.out), kOuts, 70, 72), Values(2 * kHeads * kValueWidth, 0.0));
  }
}

}  // namespace
}  // namespace phi::testing
