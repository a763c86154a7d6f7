// Hierarchical softmax loss, and its gradient, on the CPU: the loss of a class by the decisions on
// its path in a tree. F. Morin and Y. Bengio, "Hierarchical Probabilistic Neural Network Language
// Model", 2005.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sequence.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/scratch.h"

namespace phi {
namespace {

struct TreeDecision {
  int64_t row;  // of w
  bool turn;
};

/// The decisions of each sample: those of path and code or, without these, the path to leaf `label`
/// of a complete binary tree. The leaf's node number is `label + classes`; nodes count from 1.
class Tree {
 public:
  Tree(const DenseTensor& label, const DenseTensor* path, const DenseTensor* code,
       int64_t num_classes, int64_t rows)
      : labels_(label.data<int64_t>()),
        path_(path ? path->data<int64_t>() : nullptr),
        code_(code ? code->data<int64_t>() : nullptr),
        longest_(path ? path->dims()[1] : 0),
        classes_(num_classes),
        rows_(rows) {}

  void decisions(int64_t sample, std::vector<TreeDecision>* way) const {
    way->clear();
    path_ ? along_path(sample, way) : to_leaf(sample, way);
  }

 private:
  void along_path(int64_t sample, std::vector<TreeDecision>* way) const {
    for (int64_t i = 0; i < longest_; ++i) {
      const int64_t row = path_[sample * longest_ + i];
      if (row < 0) return;
      PHI_CHECK(row < rows_, errors::InvalidArgument("path of sample {} holds {}, but w has {} "
                                                     "rows.",
                                                     sample, row, rows_));
      way->push_back({row, code_[sample * longest_ + i] != 0});
    }
  }
  void to_leaf(int64_t sample, std::vector<TreeDecision>* way) const {
    const int64_t label = labels_[sample];
    PHI_CHECK(label >= 0 && label < classes_,
              errors::InvalidArgument("label of sample {} is {}, but num_classes is {}.", sample,
                                      label, classes_));
    const auto leaf = static_cast<uint64_t>(label + classes_);
    for (int bit = 0; (leaf >> (bit + 1)) > 0; ++bit)
      way->push_back({static_cast<int64_t>(leaf >> (bit + 1)) - 1, ((leaf >> bit) & 1) != 0});
  }

  const int64_t* labels_;
  const int64_t* path_;
  const int64_t* code_;
  int64_t longest_;
  int64_t classes_;
  int64_t rows_;
};

}  // namespace

/// pre_out = log(1 + exp(s)) of each decision's score s = w[row] x + bias[row], clipped to [-40,
/// 40]; log 2 in unused elements. out is their sum minus the scores of decisions with `turn`.
template <typename T, typename Context>
void HSigmoidLossKernel(const Context&, const DenseTensor& x, const DenseTensor& label,
                        const DenseTensor& w, const DenseTensor* bias, const DenseTensor* path,
                        const DenseTensor* code, int num_classes, DenseTensor* out,
                        DenseTensor* pre_out, DenseTensor*) {
  using C = compute_t<T>;
  const int64_t width = x.dims()[1];
  const int64_t longest = pre_out->dims()[1];
  const Tree tree(label, path, code, num_classes, w.dims()[0]);
  const ComputeArray<C> inputs(&x);
  const ComputeArray<C> weights(&w);
  const ComputeArray<C> offsets(bias);
  T* losses = out->mutable_data<T>();
  T* soft = pre_out->mutable_data<T>();
  std::vector<TreeDecision> way;
  for (int64_t r = 0; r < x.dims()[0]; ++r) {
    tree.decisions(r, &way);
    const C* row = inputs.data() + r * width;
    C sum = 0;
    for (int64_t i = 0; i < longest; ++i) {
      C score = 0;
      if (static_cast<size_t>(i) < way.size()) {
        const auto [node, turn] = way[static_cast<size_t>(i)];
        const C* weight = weights.data() + node * width;
        score = row_sum<C>(width, [=](int64_t k) { return row[k] * weight[k]; });
        if (bias) score += offsets.data()[node];
        score = std::clamp(score, C(-40), C(40));
        if (turn) sum -= score;
      }
      const C cost = std::max(score, C(0)) + std::log1p(std::exp(-std::abs(score)));
      soft[r * longest + i] = static_cast<T>(cost);
      sum += cost;
    }
    losses[r] = static_cast<T>(sum);
  }
}

/// The gradient of a score is its sigmoid, 1 - exp(-pre_out), minus 1 for a decision with `turn`. A
/// null gradient is not computed. Those of w and bias are sums over the local samples.
template <typename T, typename Context>
void HSigmoidLossGradKernel(const Context&, const DenseTensor& x, const DenseTensor& label,
                            const DenseTensor& w, const DenseTensor* bias, const DenseTensor* path,
                            const DenseTensor* code, const DenseTensor& pre_out,
                            const DenseTensor& out_grad, int num_classes, DenseTensor* x_grad,
                            DenseTensor* w_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const int64_t width = x.dims()[1];
  const int64_t rows = w.dims()[0];
  const Tree tree(label, path, code, num_classes, rows);
  const ComputeArray<C> inputs(&x);
  const ComputeArray<C> weights(&w);
  ScratchVector<C> dw(static_cast<size_t>(rows * width));
  std::vector<C> dbias(static_cast<size_t>(rows));
  std::vector<C> dx(static_cast<size_t>(width));
  std::vector<TreeDecision> way;
  for (int64_t r = 0; r < x.dims()[0]; ++r) {
    tree.decisions(r, &way);
    std::fill(dx.begin(), dx.end(), C(0));
    for (size_t i = 0; i < way.size(); ++i) {
      const auto [node, turn] = way[i];
      const auto cost = static_cast<C>(pre_out.data<T>()[r * pre_out.dims()[1] + i]);
      const C g =
          static_cast<C>(out_grad.data<T>()[r]) * (-std::expm1(-cost) - (turn ? C(1) : C(0)));
      dbias[node] += g;
      for (int64_t k = 0; k < width; ++k) {
        dx[k] += g * weights.data()[node * width + k];
        dw[node * width + k] += g * inputs.data()[r * width + k];
      }
    }
    if (x_grad) convert(dx.data(), x_grad->mutable_data<T>() + r * width, width);
  }
  if (w_grad) convert(dw.data(), w_grad->mutable_data<T>(), w_grad->numel());
  if (bias && bias_grad) convert(dbias.data(), bias_grad->mutable_data<T>(), bias_grad->numel());
}

PHI_REGISTER_KERNEL(hsigmoid_loss, CPU, HSigmoidLossKernel, Floats);
PHI_REGISTER_KERNEL(hsigmoid_loss_grad, CPU, HSigmoidLossGradKernel, Floats);

}  // namespace phi
