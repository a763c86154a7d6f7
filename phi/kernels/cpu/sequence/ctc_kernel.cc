// The CTC loss and its gradient on the CPU: A. Graves et al., "Connectionist Temporal
// Classification: Labelling Unsegmented Sequence Data with Recurrent Neural Networks", 2006.
#include <algorithm>
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sequence.h"
#include "phi/kernels/cpu/scratch.h"
#include "phi/kernels/cpu/sequence/lengths.h"
#include "phi/kernels/cpu/sequence/log_sum.h"

namespace phi {
namespace {

/// The log-probabilities of one sample, and its labels with blanks between and around them.
class Sample {
 public:
  Sample(int64_t steps, int64_t classes, std::vector<int64_t> labels, int64_t blank)
      : steps_(steps),
        classes_(classes),
        places_(2 * static_cast<int64_t>(labels.size()) + 1),
        logs_(static_cast<size_t>(steps * classes)) {
    for (int64_t label : labels) {
      path_.push_back(blank);
      path_.push_back(label);
    }
    path_.push_back(blank);
  }

  /// Computes row t from its logits.
  template <typename T>
  void set_row(int64_t t, const T* logits) {
    double* row = logs_.data() + t * classes_;
    for (int64_t c = 0; c < classes_; ++c) row[c] = static_cast<double>(logits[c]);
    const double most = *std::max_element(row, row + classes_);
    double sum = 0;
    for (int64_t c = 0; c < classes_; ++c) sum += std::exp(row[c] - most);
    const double total = most + std::log(sum);
    for (int64_t c = 0; c < classes_; ++c) row[c] -= total;
  }

  /// Whether there is an alignment that gives the labels. Equal adjacent labels need a blank
  /// between them.
  bool is_possible() const {
    int64_t needed = places_ / 2;
    for (int64_t s = 3; s < places_; s += 2) needed += path_[s] == path_[s - 2];
    return needed <= steps_;
  }

  /// Returns the loss and writes its gradient, steps * classes numbers, to `grad`.
  double loss(ScratchVector<double>* grad) const {
    const ScratchVector<double> before = forward();
    const ScratchVector<double> after = backward();
    const int64_t last = (steps_ - 1) * places_ + places_ - 1;
    const double total = log_sum(before[last], places_ > 1 ? before[last - 1] : kImpossible);
    grad->resize(logs_.size());
    for (size_t i = 0; i < logs_.size(); ++i) (*grad)[i] = std::exp(logs_[i]);
    for (int64_t t = 0; t < steps_; ++t) {
      for (int64_t s = 0; s < places_; ++s) {
        const int64_t at = t * places_ + s;
        (*grad)[t * classes_ + path_[s]] -= std::exp(before[at] + after[at] - total);
      }
    }
    return -total;
  }

 private:
  double log_at(int64_t t, int64_t s) const { return logs_[t * classes_ + path_[s]]; }
  /// Whether the blank before place s may be skipped.
  bool skips(int64_t s) const { return s >= 3 && s % 2 == 1 && path_[s] != path_[s - 2]; }

  /// Log-sums over all paths to place s at step t, including the emission at step t.
  ScratchVector<double> forward() const {
    ScratchVector<double> sums(static_cast<size_t>(steps_ * places_), kImpossible);
    sums[0] = log_at(0, 0);
    if (places_ > 1) sums[1] = log_at(0, 1);
    for (int64_t t = 1; t < steps_; ++t) {
      const double* from = sums.data() + (t - 1) * places_;
      for (int64_t s = 0; s < places_; ++s) {
        double sum = from[s];
        if (s >= 1) sum = log_sum(sum, from[s - 1]);
        if (skips(s)) sum = log_sum(sum, from[s - 2]);
        sums[t * places_ + s] = sum + log_at(t, s);
      }
    }
    return sums;
  }

  /// Log-sums over all paths from place s at step t to the end, without the emission at step t.
  ScratchVector<double> backward() const {
    ScratchVector<double> sums(static_cast<size_t>(steps_ * places_), kImpossible);
    double* last = sums.data() + (steps_ - 1) * places_;
    last[places_ - 1] = 0;
    if (places_ > 1) last[places_ - 2] = 0;
    for (int64_t t = steps_ - 2; t >= 0; --t) {
      const double* to = sums.data() + (t + 1) * places_;
      for (int64_t s = 0; s < places_; ++s) {
        double sum = to[s] + log_at(t + 1, s);
        if (s + 1 < places_) sum = log_sum(sum, to[s + 1] + log_at(t + 1, s + 1));
        if (s + 2 < places_ && skips(s + 2)) sum = log_sum(sum, to[s + 2] + log_at(t + 1, s + 2));
        sums[t * places_ + s] = sum;
      }
    }
    return sums;
  }

  int64_t steps_;
  int64_t classes_;
  int64_t places_;
  std::vector<int64_t> path_;
  ScratchVector<double> logs_;
};

}  // namespace

/// Computes each sample's loss, 0 if no alignment gives its labels, and the gradient of its logits.
template <typename T, typename Context>
void WarpctcKernel(const Context&, const DenseTensor& logits, const DenseTensor& label,
                   const DenseTensor* logits_length, const DenseTensor* labels_length, int blank,
                   DenseTensor* loss, DenseTensor* warpctcgrad) {
  const int64_t batch = logits.dims()[1];
  const int64_t classes = logits.dims()[2];
  const auto steps = sequence_lengths(logits_length, batch, logits.dims()[0], "logits_length");
  const auto counts = sequence_lengths(labels_length, batch, label.dims()[1], "labels_length");
  const T* from = logits.data<T>();
  T* losses = loss->mutable_data<T>();
  T* grads = warpctcgrad->mutable_data<T>();
  std::fill_n(grads, warpctcgrad->numel(), T(0));
  ScratchVector<double> grad;
  for (int64_t b = 0; b < batch; ++b) {
    Sample sample(steps[b], classes, labels_of(label, b, counts[b], classes, "logits"), blank);
    losses[b] = T(0);
    if (steps[b] == 0 || !sample.is_possible()) continue;
    for (int64_t t = 0; t < steps[b]; ++t) sample.set_row(t, from + (t * batch + b) * classes);
    losses[b] = static_cast<T>(sample.loss(&grad));
    for (int64_t t = 0; t < steps[b]; ++t)
      convert(grad.data() + t * classes, grads + (t * batch + b) * classes, classes);
  }
}

PHI_REGISTER_KERNEL(warpctc, CPU, WarpctcKernel, Floats);

}  // namespace phi
