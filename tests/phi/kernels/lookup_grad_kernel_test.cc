// Gradients of embedding and gather against differences, whole and sharded.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/lookup.h"
#include "phi/infermeta/lookup.h"
#include "tests/phi/kernels/gradient_check.h"

namespace phi::testing {
namespace {

struct Embedding {
  DenseTensor ids;
  int64_t padding_idx = -1;

  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    DenseTensor out = blank_like(EmbeddingInferMeta(ids.meta(), in[0].meta(), padding_idx, false));
    registered<kernels::embedding, T>(KernelContext(), ids, in[0], padding_idx, &out);
    return out;
  }
  template <typename T>
  Tensors gradients(const Tensors& in, const DenseTensor&, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(in[0].dims())};
    registered<kernels::embedding_grad, T>(KernelContext(), ids, out_grad, padding_idx, &grads[0]);
    return grads;
  }
};

TEST(EmbeddingGradKernel, EqualsFiniteDifferences) {
  const DenseTensor ids = tensor<int32_t>({4, 0, 2, 2, 1, 2}, {2, 3});  // 3 is never looked up
  for (const int64_t padding : {-1, 2, 3}) check_gradients(Embedding{ids, padding}, {{{5, 3}}});
  check_gradients(Embedding{tensor<int64_t>({1}, {})}, {{{3, 20}}}, "scalar id");
  check_gradients(Embedding{tensor<int64_t>({}, {0})}, {{{3, 2}}}, "no ids");
}

TEST(EmbeddingGradKernel, VocabularyShardsMakeTheWhole) {
  const Dims table{7, 2};
  const Embedding op{tensor<int64_t>({6, 0, 3, 3, 5, 0}, {6}), 5};
  const DenseTensor out_grad = tensor<float>(random_values(12, 1), {6, 2});
  const Values whole_grad =
      to_doubles(op.gradients<float>({blank<float>(table)}, out_grad, out_grad)[0]);
  for (const auto& [begin, end] : {std::pair{0, 3}, std::pair{3, 3}, std::pair{3, 7}}) {
    FakeView view;
    view.outputs = {part(table, 0, begin, end)};
    DenseTensor grad = blank<float>({end - begin, 2});
    registered<kernels::embedding_grad, float>(KernelContext(CPUPlace(), &view), op.ids, out_grad,
                                               op.padding_idx, &grad);
    EXPECT_EQ(to_doubles(grad), cut(whole_grad, table, 0, begin, end));
  }
}

TEST(EmbeddingGradKernel, FrequentIdsAreSummedInFloat) {
  const DenseTensor ids = tensor<int64_t>(Values(1000, 1.0), {1000});
  const DenseTensor out_grad = tensor<bfloat16>(Values(1000, 1.0), {1000, 1});
  DenseTensor grad = blank<bfloat16>({2, 1});
  registered<kernels::embedding_grad, bfloat16>(KernelContext(), ids, out_grad, -1, &grad);
  EXPECT_EQ(to_doubles(grad), (Values{0, 1000}));  // 16-bit sums would stop at 256
}

TEST(EmbeddingGradKernel, IdOutsideTheGlobalVocabularyIsNamed) {
  FakeView view;
  view.outputs = {part({6, 2}, 0, 0, 3)};
  DenseTensor grad = blank<float>({3, 2});
  expect_error(ErrorCode::kOutOfRange,
               "x holds 6 at flat position 1, but the vocabulary has 6 entries", [&] {
                 registered<kernels::embedding_grad, float>(KernelContext(CPUPlace(), &view),
                                                            tensor<int64_t>({5, 6}, {2}),
                                                            blank<float>({2, 2}), -1, &grad);
               });
}

struct Gather {
  DenseTensor index;
  int axis;

  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    DenseTensor out = blank_like(GatherInferMeta(in[0].meta(), index.meta(), axis));
    registered<kernels::gather, T>(KernelContext(), in[0], index, axis, &out);
    return out;
  }
  template <typename T>
  Tensors gradients(const Tensors& in, const DenseTensor&, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(in[0].dims())};
    registered<kernels::gather_grad, T>(KernelContext(), index, out_grad, axis, &grads[0]);
    return grads;
  }
};

TEST(GatherGradKernel, EqualsFiniteDifferencesAlongAnyAxis) {
  for (const int axis : {0, 1, 2, -2}) {
    check_gradients(Gather{tensor<int64_t>({1, 0, 1, 1}, {4}), axis}, {{{3, 4, 2}}},
                    "axis " + std::to_string(axis));
  }
  check_gradients(Gather{tensor<int32_t>({2}, {}), 1}, {{{2, 3}}}, "scalar index");
  check_gradients(Gather{tensor<int32_t>({}, {0}), 0}, {{{2, 3}}}, "no indices");
}

TEST(GatherGradKernel, IndexOutsideIsNamed) {
  DenseTensor grad = blank<float>({3});
  expect_error(ErrorCode::kOutOfRange,
               "index holds 3 at flat position 0, but x's tensor dim has 3 entries", [&] {
                 registered<kernels::gather_grad, float>(KernelContext(), tensor<int32_t>({3}, {1}),
                                                         blank<float>({1}), 0, &grad);
               });
}

// NaN and infinities reach the rows that they were looked up from, and no other.
TEST(LookupGradKernels, RareGradientsKeepToTheirRows) {
  const DenseTensor ids = tensor<int64_t>({4, 0, 2, 4}, {4});
  for (const double odd : {double{NAN}, double{INFINITY}}) {
    Values g(4 * 3, 1.0);
    g[3 * 3 + 1] = odd;  // of id 4, which comes twice
    const DenseTensor out_grad = tensor<float>(g, {4, 3});
    DenseTensor weight = blank<float>({5, 3}), x = blank<float>({5, 3});
    registered<kernels::embedding_grad, float>(KernelContext(), ids, out_grad, -1, &weight);
    registered<kernels::gather_grad, float>(KernelContext(), ids, out_grad, 0, &x);
    const Values expected = {1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 2, odd, 2};
    expect_close<float>(weight, expected, "embedding");
    expect_close<float>(x, expected, "gather");
    registered<kernels::embedding_grad, float>(KernelContext(), ids, out_grad, 4, &weight);
    EXPECT_EQ(to_doubles(weight), Values({1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
  }
}

template <typename Id>
void check_illegal_ids() {
  for (const Id id : illegal_ids<Id>(5)) {
    const DenseTensor ids = DenseTensor::from<Id>(std::span(&id, 1), {1});
    DenseTensor grad = blank<float>({5, 2});
    expect_error(ErrorCode::kOutOfRange, "5 entries", [&] {
      registered<kernels::embedding_grad, float>(KernelContext(), ids, blank<float>({1, 2}), -1,
                                                 &grad);
    });
    const auto gather_grad = [&] {
      registered<kernels::gather_grad, float>(KernelContext(), ids, blank<float>({1, 2}), 0, &grad);
    };
    id == -1
        ? gather_grad()
        : expect_error(ErrorCode::kOutOfRange, "5 entries", gather_grad);  // it counts from the end
  }
}

TEST(LookupGradKernels, IllegalIdsAreNamed) {
  check_illegal_ids<int32_t>();
  check_illegal_ids<int64_t>();
}

}  // namespace
}  // namespace phi::testing
