// Gradient of softmax with cross entropy against differences of the forward kernel, whole and over
// sharded classes.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/loss.h"
#include "tests/phi/kernels/finite_differences.h"

namespace phi::testing {
namespace {

constexpr int kIgnore = -100;

struct Problem {
  Dims dims;
  int axis;
  bool soft = false;
  bool use_softmax = true;
  bool unit_label = true;  // hard labels with the class dim as 1, or without it

  int64_t classes() const { return dims[axis]; }
  Dims loss_dims() const { return with_extent(dims, axis, 1); }
  int64_t rows() const { return loss_dims().numel(); }
  Values inputs() const {
    return use_softmax ? random_values(dims.numel(), 1, -2, 2)
                       : random_values(dims.numel(), 1, 0.125, 0.875);
  }
  Values loss_grad() const { return random_values(rows(), 3); }
  Values label_values() const {
    if (soft) return random_values(dims.numel(), 2, 0, 1);  // rows need not sum to 1
    Values labels(rows());
    for (int64_t r = 0; r < rows(); ++r) labels[r] = r % 4 == 3 ? kIgnore : (r * 5) % classes();
    return labels;
  }
  DenseTensor label() const {
    if (soft) return tensor<double>(label_values(), dims);
    const DenseTensor all = tensor<int64_t>(label_values(), loss_dims());
    return unit_label ? all : all.view({rows()});
  }

  struct Forward {
    DenseTensor softmax, loss;
  };
  template <typename T>
  Forward forward(const Values& x) const {
    Forward f{blank<T>(dims), blank<T>(loss_dims())};
    registered<kernels::cross_entropy_with_softmax, T>(KernelContext(), tensor<T>(x, dims), label(),
                                                       soft, use_softmax, true, kIgnore, axis,
                                                       &f.softmax, &f.loss);
    return f;
  }
  template <typename T>
  Values gradient() const {
    DenseTensor grad = blank<T>(dims);
    registered<kernels::cross_entropy_with_softmax_grad, T>(
        KernelContext(), label(), forward<T>(inputs()).softmax, tensor<T>(loss_grad(), loss_dims()),
        soft, use_softmax, kIgnore, axis, &grad);
    return to_doubles(grad);
  }
};

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (bool soft : {false, true}) {
    for (bool use_softmax : {true, false}) {
      all.push_back({{9, 21}, 1, soft, use_softmax});
      all.push_back({{2, 5, 3}, 1, soft, use_softmax});
      all.push_back({{5, 4}, 0, soft, use_softmax});
    }
  }
  all.push_back({{6, 3}, 1, false, true, false});
  all.push_back({{3, 1}, 1});
  return all;
}

TEST(CrossEntropyGradKernel, EqualsFiniteDifferences) {
  for (const Problem& p : problems()) {
    const Values expected = finite_differences(p.inputs(), p.loss_grad(), [&](const Values& x) {
      return to_doubles(p.forward<double>(x).loss);
    });
    expect_close(p.gradient<double>(), expected, kDifferenceError, p.dims.to_string());
  }
}

TEST(CrossEntropyGradKernel, ShardedClassesGiveTheirPart) {
  for (const Problem& p : problems()) {
    const Values expected = p.gradient<double>();
    const Values softmax = to_doubles(p.forward<double>(p.inputs()).softmax);
    const int64_t n = p.classes();
    const int64_t bounds[] = {0, n / 2, n / 2, n};  // the second rank has an empty shard
    Ranks ranks(3);
    ranks.run([&](int rank) {
      const int64_t begin = bounds[rank], end = bounds[rank + 1];
      const Dims local = with_extent(p.dims, p.axis, end - begin);
      FakeView view;
      view.ranks = &ranks;
      view.inputs = {whole(p.loss_dims()), part(p.dims, p.axis, begin, end), whole(p.loss_dims())};
      const DenseTensor label =
          p.soft ? tensor<double>(cut(p.label_values(), p.dims, p.axis, begin, end), local)
                 : p.label();
      DenseTensor grad = blank<double>(local);
      registered<kernels::cross_entropy_with_softmax_grad, double>(
          KernelContext(CPUPlace(), &view), label,
          tensor<double>(cut(softmax, p.dims, p.axis, begin, end), local),
          tensor<double>(p.loss_grad(), p.loss_dims()), p.soft, p.use_softmax, kIgnore, p.axis,
          &grad);
      expect_close<double>(grad, cut(expected, p.dims, p.axis, begin, end), p.dims.to_string());
    });
  }
}

TEST(CrossEntropyGradKernel, IgnoredRowsAreZeroWhateverTheySoftmaxed) {
  DenseTensor grad = blank<float>({2, 2});
  registered<kernels::cross_entropy_with_softmax_grad, float>(
      KernelContext(), tensor<int32_t>({kIgnore, 1}, {2}),
      tensor<float>({NAN, NAN, 0.25, 0.75}, {2, 2}), tensor<float>({1, 2}, {2, 1}), false, true,
      kIgnore, 1, &grad);
  EXPECT_EQ(to_doubles(grad), Values({0, 0, 0.5, -0.5}));
}

TEST(CrossEntropyGradKernel, AnImpossibleClassWithoutWeightHasNoGradient) {
  DenseTensor grad = blank<double>({1, 3});
  registered<kernels::cross_entropy_with_softmax_grad, double>(
      KernelContext(), tensor<double>({0, 0.5, 0.5}, {1, 3}),
      tensor<double>({0, 0.5, 0.25}, {1, 3}), tensor<double>({2}, {1, 1}), true, false, kIgnore, 1,
      &grad);
  EXPECT_EQ(to_doubles(grad), Values({0, -2, -4}));
}

TEST(CrossEntropyGradKernel, NoRows) {
  DenseTensor grad = blank<float>({0, 3});
  registered<kernels::cross_entropy_with_softmax_grad, float>(
      KernelContext(), tensor<int64_t>({}, {0, 1}), grad, blank<float>({0, 1}), false, true,
      kIgnore, 1, &grad);
}

TEST(CrossEntropyGradKernel, OtherDtypes) {
  for (const Problem& p : {Problem{{9, 70}, 1}, Problem{{2, 5, 3}, 1}}) {
    const Values exact = p.gradient<double>();
    expect_close(p.gradient<float>(), exact, tolerance<float>(), "float32");
    expect_close(p.gradient<bfloat16>(), exact, tolerance<bfloat16>(), "bfloat16");
    expect_close(p.gradient<float16>(), exact, tolerance<float16>(), "float16");
  }
}

// Ignored rows have no gradient whatever their logits, rows without a finite logit have NaN, and
// neither reaches another row.
template <typename T>
void check_rare_rows(bool soft) {
  const int64_t n = 33, rows = 5;
  const Values weights[] = {Values(n, 1.0 / n), Values(n, NAN), Values(n, NAN), Values(n, 0.0),
                            Values(n, 1.0 / n)};
  Values shares, soft_labels(rows * n, 0.0), labels = {0, kIgnore, 2, 4, 32};
  for (const Values& w : weights) shares.insert(shares.end(), w.begin(), w.end());
  shares[3 * n + 4] = 1;  // sure of its label
  for (int64_t r = 0; r < rows; ++r) {
    if (labels[r] >= 0) soft_labels[r * n + static_cast<int64_t>(labels[r])] = 1;
  }
  DenseTensor grad = blank<T>({rows, n});
  registered<kernels::cross_entropy_with_softmax_grad, T>(
      KernelContext(),
      soft ? tensor<T>(soft_labels, {rows, n}) : tensor<int64_t>(labels, {rows, 1}),
      tensor<T>(shares, {rows, n}), tensor<T>({1, 2, 1, 1, -1}, {rows, 1}), soft, true, kIgnore, 1,
      &grad);
  const Values got = to_doubles(grad);
  for (int64_t c = 0; c < n; ++c) {
    const double even = 1.0 / n;
    EXPECT_NEAR(got[c], even - (c == 0), 4e-3);
    if (!soft) {
      EXPECT_EQ(got[n + c], 0);
    }
    EXPECT_TRUE(std::isnan(got[2 * n + c])) << c;
    EXPECT_EQ(got[3 * n + c], 0);
    EXPECT_NEAR(got[4 * n + c], (c == 32) - even, 4e-3);
  }
}

TEST(CrossEntropyGradKernel, RareRows) {
  for (const bool soft : {false, true}) {
    check_rare_rows<float>(soft);
    check_rare_rows<double>(soft);
    check_rare_rows<bfloat16>(soft);
    check_rare_rows<float16>(soft);
  }
}

TEST(CrossEntropyGradKernel, LabelsAtTheEnds) {
  const DenseTensor shares = tensor<float>({0.25, 0.25, 0.5}, {1, 3});
  DenseTensor grad = blank<float>({1, 3});
  const auto run = [&]<typename Id>(Id id) {
    registered<kernels::cross_entropy_with_softmax_grad, float>(
        KernelContext(), DenseTensor::from<Id>(std::span(&id, 1), {1}), shares,
        tensor<float>({1}, {1, 1}), false, true, kIgnore, 1, &grad);
  };
  run(int64_t{2});
  EXPECT_EQ(to_doubles(grad), Values({0.25, 0.25, -0.5}));
  for (int64_t id : illegal_ids<int64_t>(3)) expect_error("3 classes", [&] { run(id); });
  for (int32_t id : illegal_ids<int32_t>(3)) expect_error("3 classes", [&] { run(id); });
}

}  // namespace
}  // namespace phi::testing
