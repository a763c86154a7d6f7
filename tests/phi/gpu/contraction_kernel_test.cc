// Contractions, chains of products, bilinear forms and weights of 8 bits on GPUs, beside the CPU's.
#include "phi/generated/kernels/bilinear.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/generated/kernels/quantized.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

using MatmulTypes = join_t<phi::Floats, Complexes>;
using Pointers = std::vector<const DenseTensor*>;

constexpr double kRoundings = 4;  // the CPU's sums go another way

Pointers first_of(const Arrays& arrays, size_t n) {
  Pointers list;
  for (size_t i = 0; i < n; ++i) list.push_back(&arrays[i]);
  return list;
}

std::vector<TensorMeta> metas_of(const Arrays& arrays, size_t n) {
  std::vector<TensorMeta> metas;
  for (size_t i = 0; i < n; ++i) metas.push_back(arrays[i].meta());
  return metas;
}

/// Operands and output; the last of the inputs is the output's gradient.
struct Contraction {
  std::string equation;
  std::vector<Dims> operands;
  Dims out;
};

const Contraction kContractions[] = {
    {"ij,jk->ik", {{5, 7}, {7, 4}}, {5, 4}},
    {"ij,jk->ki", {{5, 7}, {7, 4}}, {4, 5}},              // the result is transposed
    {"bij,bkj->bik", {{3, 5, 7}, {3, 4, 7}}, {3, 5, 4}},  // read in place
    {"ibj,kjb->bik", {{5, 3, 7}, {4, 7, 3}}, {3, 5, 4}},  // arranged first
    {"ij->", {{40, 70}}, {}},                             // sums alone
    {"ij->j", {{5, 7}}, {7}},
    {"ii->i", {{5, 5}}, {5}},  // a diagonal
    {"iij,jk->ik", {{4, 4, 3}, {3, 5}}, {4, 5}},
    {"i,j->ij", {{5}, {7}}, {5, 7}},
    {"ij,jk,kl->il", {{3, 4}, {4, 5}, {5, 2}}, {3, 2}},
    {"ij,k->i", {{3, 4}, {5}}, {3}},  // each is summed by itself
    {",->", {{}, {}}, {}},
    {"ij,jk->ik", {{5, 0}, {0, 4}}, {5, 4}},
    {"ij,jk->ik", {{0, 3}, {3, 4}}, {0, 4}},
};

TEST(GpuContraction, EinsumIsTheCpus) {
  for_each_type(MatmulTypes(), []<typename T>() {
    for (const Contraction& c : kContractions) {
      SCOPED_TRACE(c.equation + " " + std::string(name_of(dtype_of<T>())));
      Arrays in;
      for (const Dims& dims : c.operands)
        in.push_back(drawn(dtype_of<T>(), dims, static_cast<uint32_t>(in.size()), -1, 1));
      const size_t n = in.size();
      in.push_back(drawn(dtype_of<T>(), c.out, 9, -1, 1));
      std::vector<TensorMeta> outputs = metas_of(in, n);
      outputs.push_back(in[n].meta());
      expect_same_on_gpu(
          in, outputs,
          [&](const KernelContext& ctx, Arrays& x, Arrays& out) {
            registered<kernels::einsum, T>(ctx, first_of(x, n), c.equation, &out[n]);
            std::vector<DenseTensor*> grads;
            for (size_t i = 0; i < n; ++i) grads.push_back(&out[i]);
            registered<kernels::einsum_grad, T>(ctx, first_of(x, n), x[n], c.equation, grads);
          },
          kRoundings);
    }
  });
}

TEST(GpuContraction, ChainsAreTheCpus) {
  struct Chain {
    std::vector<Dims> factors;
    Dims out;
  };
  const Chain chains[] = {{{{4, 9}, {9, 2}, {2, 7}}, {4, 7}},
                          {{{4, 2}, {2, 9}, {9, 3}, {3, 5}}, {4, 5}},
                          {{{9}, {9, 2}, {2}}, {}},
                          {{{3, 4}, {4, 5}}, {3, 5}},
                          {{{3, 0}, {0, 5}, {5, 2}}, {3, 2}}};
  for_each_type(MatmulTypes(), [&]<typename T>() {
    for (const Chain& c : chains) {
      Arrays in;
      for (const Dims& dims : c.factors)
        in.push_back(drawn(dtype_of<T>(), dims, static_cast<uint32_t>(in.size()), -1, 1));
      const size_t n = in.size();
      in.push_back(drawn(dtype_of<T>(), c.out, 9, -1, 1));
      std::vector<TensorMeta> outputs = metas_of(in, n);
      outputs.push_back(in[n].meta());
      for (const size_t left_out : {n, size_t{0}, n - 1}) {
        expect_same_on_gpu(
            in, outputs,
            [&](const KernelContext& ctx, Arrays& x, Arrays& out) {
              registered<kernels::multi_dot, T>(ctx, first_of(x, n), &out[n]);
              std::vector<DenseTensor*> grads;
              for (size_t i = 0; i < n; ++i) grads.push_back(i == left_out ? nullptr : &out[i]);
              registered<kernels::multi_dot_grad, T>(ctx, first_of(x, n), x[n], grads);
              if (left_out < n) out[left_out] = DenseTensor();
            },
            kRoundings);
      }
    }
  });
}

TEST(GpuContraction, BilinearFormsAreTheCpus) {
  for_each_type(phi::Floats(), []<typename T>() {
    const DataType t = dtype_of<T>();
    for (const int64_t n : {5, 1, 0}) {
      for (const bool has_bias : {true, false}) {
        const Arrays in{drawn(t, {n, 3}, 1, -1, 1), drawn(t, {n, 4}, 2, -1, 1),
                        drawn(t, {6, 3, 4}, 3, -1, 1), drawn(t, {1, 6}, 4, -1, 1),
                        drawn(t, {n, 6}, 5, -1, 1)};
        std::vector<TensorMeta> outputs = metas_of(in, 4);
        outputs.push_back({{n, 6}, t});
        expect_same_on_gpu(
            in, outputs,
            [&](const KernelContext& ctx, Arrays& x, Arrays& out) {
              registered<kernels::bilinear, T>(ctx, x[0], x[1], x[2], has_bias ? &x[3] : nullptr,
                                               &out[4]);
              registered<kernels::bilinear_grad, T>(ctx, x[0], x[1], x[2], x[4], &out[0], &out[1],
                                                    &out[2], &out[3]);
            },
            kRoundings);
      }
    }
  });
}

/// A matrix [k, n] with a column of zeros, as groups of `group` rows, beside `m` rows.
template <typename T>
void expect_same_quantized(int64_t k, int64_t n, int group, int64_t m = 6) {
  SCOPED_TRACE(std::to_string(k) + " " + std::to_string(n) + " " + std::to_string(group) + " " +
               std::to_string(m));
  const DataType t = dtype_of<T>();
  DenseTensor matrix = drawn(t, {k, n}, 1);
  for (int64_t r = 0; r < k && n > 1; ++r) matrix.mutable_data<T>()[r * n + 1] = T(0.0f);
  const int64_t groups = group > 0 ? (k + group - 1) / group : 1;
  const TensorMeta scale{group > 0 ? Dims{groups, n} : Dims{n}, dtype_of<compute_t<T>>()};
  const TensorMeta whole{{n, k}, DataType::INT8};
  const auto quantize = [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
    registered<kernels::weight_quantize, T>(ctx, in[0], group, &out[0], &out[1]);
  };
  expect_same_on_gpu({matrix}, {whole, scale}, quantize, 0);
  const Arrays made = left_on_cpu({matrix}, {whole, scale}, quantize);
  const Arrays in{made[1], made[2], drawn(t, {m, 1, k}, 2, -1, 1), drawn(t, {n}, 3),
                  drawn(t, {m, 1, n}, 4, -1, 1)};
  const std::vector<TensorMeta> outputs{
      matrix.meta(), {{m, 1, n}, t}, {{m, 1, n}, t}, {{m, 1, k}, t}};
  expect_same_on_gpu(
      in, outputs,
      [&](const KernelContext& ctx, Arrays& x, Arrays& out) {
        registered<kernels::weight_dequantize, T>(ctx, x[0], x[1], group, &out[0]);
        registered<kernels::weight_only_linear, T>(ctx, x[2], x[0], &x[3], x[1], group, &out[1]);
        registered<kernels::weight_only_linear, T>(ctx, x[2], x[0], nullptr, x[1], group, &out[2]);
        registered<kernels::weight_only_linear_grad, T>(ctx, x[0], x[1], x[4], group, &out[3]);
      },
      kRoundings);
}

TEST(GpuContraction, WeightsOfEightBitsAreTheCpus) {
  for_each_type(phi::Floats(), []<typename T>() {
    expect_same_quantized<T>(70, 5, -1);
    expect_same_quantized<T>(1100, 3, -1);
    expect_same_quantized<T>(128, 6, 64);
    expect_same_quantized<T>(100, 3, 64);  // the last group is shorter
    expect_same_quantized<T>(0, 3, -1);
    expect_same_quantized<T>(4, 0, -1);
    // A few rows, whose weights are taken as they are, and more.
    for (const int64_t m : {1, 2, 4, 5, 8, 9}) {
      expect_same_quantized<T>(208, 5, 64, m);
      expect_same_quantized<T>(1024 + 16, 2, -1, m);
    }
  });
}

TEST(GpuContraction, WhatIsNotFiniteIsRefused) {
  for (const float value : {INFINITY, -INFINITY, NAN}) {
    DenseTensor matrix = drawn(DataType::FLOAT32, {6, 3}, 1);
    matrix.mutable_data<float>()[4 * 3 + 2] = value;
    const auto call = [](const KernelContext& ctx, Arrays& in, Arrays& out) {
      registered<kernels::weight_quantize, float>(ctx, in[0], -1, &out[0], &out[1]);
    };
    const std::vector<TensorMeta> outputs{{{3, 6}, DataType::INT8}, {{3}, DataType::FLOAT32}};
    const std::string text = "at [4, 2], which int8 cannot represent";
    expect_error(text, [&] { left_on_cpu({matrix}, outputs, call); });
    expect_error(text, [&] { left_on_gpu({matrix}, outputs, call); });
  }
}

}  // namespace
}  // namespace phi::testing
