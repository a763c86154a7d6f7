// Softmax with cross entropy against double-precision sums, whole and over sharded classes.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/loss.h"
#include "phi/infermeta/cross_entropy.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

constexpr int kIgnore = -100;

struct Problem {
  Dims dims;
  int axis;
  bool soft;
  bool use_softmax = true;

  int at() const { return axis < 0 ? axis + dims.ndim() : axis; }
  int64_t inner() const { return dims.numel(at() + 1, dims.ndim()); }
  int64_t rows() const { return dims.numel(0, at()) * inner(); }
  int64_t element(int64_t row, int64_t c) const {
    return (row / inner() * dims[at()] + c) * inner() + row % inner();
  }
  Dims loss_dims() const { return with_extent(dims, at(), 1); }
  Dims label_dims() const { return soft ? dims : loss_dims(); }

  Values inputs() const {
    return use_softmax ? random_values(dims.numel(), 1, -5, 5)
                       : random_values(dims.numel(), 1, 0.125, 0.875);
  }
  Values labels() const {
    if (soft) return random_values(dims.numel(), 2, 0, 1);
    Values labels(rows());
    for (int64_t r = 0; r < rows(); ++r) labels[r] = r % 4 == 3 ? kIgnore : (r * 5) % dims[at()];
    return labels;
  }
  DenseTensor label_tensor() const {
    return soft ? tensor<double>(labels(), dims) : tensor<int64_t>(labels(), label_dims());
  }
};

struct Oracle {
  Values softmax, loss;
  explicit Oracle(const Problem& p) : softmax(p.inputs()), loss(p.rows(), 0.0) {
    const Values x = p.inputs();
    const Values labels = p.labels();
    const int64_t n = p.dims[p.at()];
    for (int64_t r = 0; r < p.rows(); ++r) {
      double sum = 0;
      for (int64_t c = 0; c < n; ++c) sum += std::exp(x[p.element(r, c)]);
      for (int64_t c = 0; c < n; ++c) {
        const int64_t e = p.element(r, c);
        if (p.use_softmax) softmax[e] = std::exp(x[e]) / sum;
        const double weight = p.soft ? labels[e] : (labels[r] == c ? 1 : 0);
        loss[r] -= weight * std::log(softmax[e]);
      }
    }
  }
};

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (bool soft : {false, true}) {
    for (bool use_softmax : {true, false}) {
      all.push_back({{9, 70}, -1, soft, use_softmax});
      all.push_back({{2, 5, 3}, 1, soft, use_softmax});
      all.push_back({{5, 4}, 0, soft, use_softmax});
    }
  }
  return all;
}

TEST(CrossEntropyKernel, EqualsTheFormula) {
  for (const Problem& p : problems()) {
    const DenseTensor x = tensor<double>(p.inputs(), p.dims);
    const DenseTensor label = p.label_tensor();
    const auto [sm, lm] = CrossEntropyWithSoftmaxInferMeta(x.meta(), label.meta(), p.soft,
                                                           p.use_softmax, true, kIgnore, p.axis);
    DenseTensor softmax = blank_like(sm);
    DenseTensor loss = blank_like(lm);
    registered<kernels::cross_entropy_with_softmax, double>(
        KernelContext(), x, label, p.soft, p.use_softmax, true, kIgnore, p.axis, &softmax, &loss);
    const Oracle oracle(p);
    expect_close<double>(softmax, oracle.softmax, "softmax");
    expect_close<double>(loss, oracle.loss, "loss");
  }
}

TEST(CrossEntropyKernel, ShardedClassesGiveTheWholeLossOnEveryRank) {
  for (const Problem& p : problems()) {
    const Oracle oracle(p);
    const int64_t n = p.dims[p.at()];
    const int64_t bounds[] = {0, n / 2, n / 2, n};  // the second rank has an empty shard
    Ranks ranks(3);
    ranks.run([&](int rank) {
      const int64_t begin = bounds[rank];
      const int64_t end = bounds[rank + 1];
      const Dims local = with_extent(p.dims, p.at(), end - begin);
      FakeView view;
      view.ranks = &ranks;
      view.inputs = {part(p.dims, p.at(), begin, end)};
      const DenseTensor x = tensor<double>(cut(p.inputs(), p.dims, p.at(), begin, end), local);
      const DenseTensor label =
          p.soft ? tensor<double>(cut(p.labels(), p.dims, p.at(), begin, end), local)
                 : p.label_tensor();
      DenseTensor softmax = blank<double>(local);
      DenseTensor loss = blank<double>(p.loss_dims());
      registered<kernels::cross_entropy_with_softmax, double>(KernelContext(CPUPlace(), &view), x,
                                                              label, p.soft, p.use_softmax, true,
                                                              kIgnore, p.axis, &softmax, &loss);
      expect_close<double>(loss, oracle.loss, "loss");
      expect_close<double>(softmax, cut(oracle.softmax, p.dims, p.at(), begin, end), "softmax");
    });
  }
}

template <typename T>
void check_dtype() {
  const Problem p{{9, 70}, 1, false};
  const Oracle oracle(p);
  const DenseTensor x = tensor<T>(p.inputs(), p.dims);
  const DenseTensor label = tensor<int32_t>(p.labels(), {9});  // the class dim left out
  DenseTensor softmax = blank<T>(p.dims);
  DenseTensor loss = blank<T>({9, 1});
  registered<kernels::cross_entropy_with_softmax, T>(KernelContext(), x, label, false, true, true,
                                                     kIgnore, 1, &softmax, &loss);
  expect_close<T>(softmax, oracle.softmax);
  expect_close<T>(loss, oracle.loss);
}

TEST(CrossEntropyKernel, OtherDtypes) {
  check_dtype<float>();
  check_dtype<bfloat16>();
  check_dtype<float16>();
}

TEST(CrossEntropyKernel, LabelOutOfRangeIsNamed) {
  const DenseTensor x = blank<float>({3, 4});
  DenseTensor softmax = blank<float>({3, 4});
  DenseTensor loss = blank<float>({3, 1});
  expect_error("label of row 1 is 4, but input has 4 classes", [&] {
    registered<kernels::cross_entropy_with_softmax, float>(
        KernelContext(), x, tensor<int64_t>({3, 4, 0}, {3, 1}), false, true, true, kIgnore, 1,
        &softmax, &loss);
  });
}

TEST(CrossEntropyKernel, HardLabelOfAnImpossibleClassCostsInfinity) {
  const DenseTensor x = tensor<float>({0, -INFINITY, 0}, {1, 3});
  DenseTensor softmax = blank<float>({1, 3});
  DenseTensor loss = blank<float>({1, 1});
  registered<kernels::cross_entropy_with_softmax, float>(KernelContext(), x,
                                                         tensor<int64_t>({1}, {1, 1}), false, true,
                                                         true, kIgnore, 1, &softmax, &loss);
  EXPECT_EQ(to_doubles(loss), Values({INFINITY}));
  // A soft label of zero weight on that class costs nothing there.
  registered<kernels::cross_entropy_with_softmax, float>(KernelContext(), x,
                                                         tensor<float>({1, 0, 0}, {1, 3}), true,
                                                         true, true, kIgnore, 1, &softmax, &loss);
  EXPECT_NEAR(to_doubles(loss)[0], std::log(2.0), 1e-6);
}

/// Rows of rare logits and a label for each: the loss and the shares of each row alone, in double.
struct RareRows {
  int64_t classes = 0;
  Values logits;
  std::vector<int64_t> labels;

  int64_t rows() const { return static_cast<int64_t>(labels.size()); }
  Dims dims() const { return {rows(), classes}; }
  void add(const Values& row, int64_t label) {
    classes = static_cast<int64_t>(row.size());
    logits.insert(logits.end(), row.begin(), row.end());
    labels.push_back(label);
  }
  DenseTensor label_tensor() const { return DenseTensor::from<int64_t>(labels, {rows(), 1}); }
  // One-hot, all 0 where the row is ignored.
  Values soft() const {
    Values out(logits.size(), 0.0);
    for (int64_t r = 0; r < rows(); ++r) {
      if (labels[r] != kIgnore) out[r * classes + labels[r]] = 1;
    }
    return out;
  }
  void oracle(Values* softmax, Values* loss) const {
    for (int64_t r = 0; r < rows(); ++r) {
      const double* row = logits.data() + r * classes;
      double most = -INFINITY, sum = 0;
      for (int64_t c = 0; c < classes; ++c) most = row[c] > most ? row[c] : most;
      for (int64_t c = 0; c < classes; ++c) sum += std::exp(row[c] - most);
      for (int64_t c = 0; c < classes; ++c) softmax->push_back(std::exp(row[c] - most) / sum);
      const int64_t label = labels[r];
      loss->push_back(label == kIgnore ? 0 : std::log(sum) - (row[label] - most));
    }
  }
};

// Rows masked in every way and rows with one rare logit; the labels are the first and the last
// class and the ignored one.
template <typename T>
RareRows rare_rows(int64_t classes) {
  RareRows rows;
  for (const RareMask& mask : rare_masks(4, classes)) {
    for (int64_t r = 0; r < 4; ++r) {
      Values row = random_values(classes, 1 + static_cast<uint32_t>(r), -5, 5);
      for (int64_t c = 0; c < classes; ++c) {
        if (mask.hidden[r * classes + c]) row[c] = -INFINITY;
      }
      for (int64_t label : {int64_t{0}, classes - 1, int64_t{kIgnore}}) rows.add(row, label);
    }
  }
  for (double v : rare_floats<T>()) {
    if (std::isfinite(v) && std::abs(v) > 60000) continue;  // differences beyond a dtype's digits
    for (int64_t at : {int64_t{0}, classes / 2, classes - 1}) {
      Values row = random_values(classes, 7, -2, 2);
      row[at] = v;
      for (int64_t label : {int64_t{0}, classes - 1, int64_t{kIgnore}}) rows.add(row, label);
    }
  }
  return rows;
}

template <typename T>
void check_rare_rows() {
  for (const int64_t classes : {1, 2, 33}) {
    const RareRows rows = rare_rows<T>(classes);
    Values shares, losses;
    rows.oracle(&shares, &losses);
    for (const bool soft : {false, true}) {
      DenseTensor softmax = blank<T>(rows.dims()), loss = blank<T>({rows.rows(), 1});
      const DenseTensor label = soft ? tensor<T>(rows.soft(), rows.dims()) : rows.label_tensor();
      registered<kernels::cross_entropy_with_softmax, T>(
          KernelContext(), tensor<T>(rows.logits, rows.dims()), label, soft, true, true, kIgnore, 1,
          &softmax, &loss);
      expect_close<T>(softmax, shares, soft ? "soft softmax" : "softmax");
      expect_close<T>(loss, losses, soft ? "soft loss" : "loss");
    }
  }
}

TEST(CrossEntropyKernel, RareRows) {
  check_rare_rows<float>();
  check_rare_rows<double>();
  check_rare_rows<bfloat16>();
  check_rare_rows<float16>();
}

// The same where ranks share the classes: a rank without any, and ranks whose part of a row is all
// masked.
TEST(CrossEntropyKernel, RareRowsOverShardedClasses) {
  for (const int64_t classes : {1, 2, 7}) {
    const RareRows rows = rare_rows<double>(classes);
    Values shares, losses;
    rows.oracle(&shares, &losses);
    const int64_t bounds[] = {0, classes / 2, classes / 2, classes};
    for (const bool soft : {false, true}) {
      Ranks ranks(3);
      ranks.run([&](int rank) {
        const int64_t begin = bounds[rank], end = bounds[rank + 1];
        const Dims local{rows.rows(), end - begin};
        FakeView view;
        view.ranks = &ranks;
        view.inputs = {part(rows.dims(), 1, begin, end)};
        const auto mine = [&](const Values& all) { return cut(all, rows.dims(), 1, begin, end); };
        DenseTensor softmax = blank<double>(local), loss = blank<double>({rows.rows(), 1});
        registered<kernels::cross_entropy_with_softmax, double>(
            KernelContext(CPUPlace(), &view), tensor<double>(mine(rows.logits), local),
            soft ? tensor<double>(mine(rows.soft()), local) : rows.label_tensor(), soft, true, true,
            kIgnore, 1, &softmax, &loss);
        expect_close<double>(loss, losses, "loss");
        expect_close<double>(softmax, mine(shares), "softmax");
      });
    }
  }
}

TEST(CrossEntropyKernel, LabelsAtTheEnds) {
  const int64_t classes = 5;
  const DenseTensor x = tensor<float>(random_values(classes, 1), {1, classes});
  DenseTensor softmax = blank<float>({1, classes}), loss = blank<float>({1, 1});
  const auto run = [&]<typename Id>(Id id, int ignore) {
    registered<kernels::cross_entropy_with_softmax, float>(
        KernelContext(), x, DenseTensor::from<Id>(std::span(&id, 1), {1, 1}), false, true, true,
        ignore, 1, &softmax, &loss);
    return to_doubles(loss)[0];
  };
  for (double id : legal_ids(classes)) {
    EXPECT_GT(run(static_cast<int64_t>(id), kIgnore), 0);
    EXPECT_EQ(run(static_cast<int32_t>(id), static_cast<int>(id)), 0) << "a class that is ignored";
  }
  for (int64_t id : illegal_ids<int64_t>(classes))
    expect_error("but input has 5 classes", [&] { run(id, kIgnore); });
  for (int32_t id : illegal_ids<int32_t>(classes))
    expect_error("but input has 5 classes", [&] { run(id, kIgnore); });
}

}  // namespace
}  // namespace phi::testing
