// The loss of a recurrent neural network transducer, and its gradient, on the CPU: A. Graves,
// "Sequence Transduction with Recurrent Neural Networks", 2012; with the emission weight of J. Yu
// et al., "FastEmit", 2021.
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

/// One sample's grid. At node (t, u), u labels have been emitted by step t. A step forward emits a
/// blank, a step upward a label.
template <typename T>
struct Grid {
  const T* logs;
  T* grads;
  int64_t row;      // stride of t in elements
  int64_t classes;  // stride of u in elements
  int64_t steps;
  std::vector<int64_t> labels;
  int64_t blank;

  int64_t nodes_up() const { return static_cast<int64_t>(labels.size()) + 1; }
  int64_t node(int64_t t, int64_t u) const { return t * nodes_up() + u; }
  int64_t forward_at(int64_t t, int64_t u) const { return t * row + u * classes + blank; }
  int64_t upward_at(int64_t t, int64_t u) const { return t * row + u * classes + labels[u]; }
  double forward(int64_t t, int64_t u) const { return static_cast<double>(logs[forward_at(t, u)]); }
  double upward(int64_t t, int64_t u) const { return static_cast<double>(logs[upward_at(t, u)]); }

  /// Log-sums over all paths to each node.
  ScratchVector<double> from_start() const {
    ScratchVector<double> sums(static_cast<size_t>(steps * nodes_up()));
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t u = 0; u < nodes_up(); ++u) {
        double sum = t == 0 && u == 0 ? 0 : kImpossible;
        if (t > 0) sum = log_sum(sum, sums[node(t - 1, u)] + forward(t - 1, u));
        if (u > 0) sum = log_sum(sum, sums[node(t, u - 1)] + upward(t, u - 1));
        sums[node(t, u)] = sum;
      }
    }
    return sums;
  }

  /// Log-sums over all paths from each node to the end, which is a blank at the last node.
  ScratchVector<double> to_end() const {
    ScratchVector<double> sums(static_cast<size_t>(steps * nodes_up()));
    for (int64_t t = steps - 1; t >= 0; --t) {
      for (int64_t u = nodes_up() - 1; u >= 0; --u) {
        const bool is_last = t == steps - 1 && u == nodes_up() - 1;
        double sum = is_last ? forward(t, u) : kImpossible;
        if (t + 1 < steps) sum = log_sum(sum, sums[node(t + 1, u)] + forward(t, u));
        if (u + 1 < nodes_up()) sum = log_sum(sum, sums[node(t, u + 1)] + upward(t, u));
        sums[node(t, u)] = sum;
      }
    }
    return sums;
  }

  /// Returns the loss and writes its gradient, from the probability that a path uses each edge, to
  /// `grads`.
  double run(double emission_weight) const {
    const ScratchVector<double> before = from_start();
    const ScratchVector<double> after = to_end();
    const double total = after[0];
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t u = 0; u < nodes_up(); ++u) {
        const bool is_last = t == steps - 1 && u == nodes_up() - 1;
        const double here = before[node(t, u)] - total;
        if (is_last || t + 1 < steps) {
          const double rest = is_last ? 0 : after[node(t + 1, u)];
          grads[forward_at(t, u)] = static_cast<T>(-std::exp(here + forward(t, u) + rest));
        }
        if (u + 1 < nodes_up()) {
          const double edge = std::exp(here + upward(t, u) + after[node(t, u + 1)]);
          const double added = static_cast<double>(grads[upward_at(t, u)]);  // 0 unless blank
          grads[upward_at(t, u)] = static_cast<T>(added - edge * emission_weight);
        }
      }
    }
    return -total;
  }
};

}  // namespace

/// `input` has log-probabilities. fastemit_lambda changes the gradient of labels, but not the loss.
template <typename T, typename Context>
void WarprnntKernel(const Context&, const DenseTensor& input, const DenseTensor& label,
                    const DenseTensor& input_lengths, const DenseTensor& label_lengths, int blank,
                    float fastemit_lambda, DenseTensor* loss, DenseTensor* warprnntgrad) {
  const Dims& dims = input.dims();
  const int64_t most = std::min(dims[2] - 1, label.dims()[1]);
  const auto steps = sequence_lengths(&input_lengths, dims[0], dims[1], "input_lengths");
  const auto counts = sequence_lengths(&label_lengths, dims[0], most, "label_lengths");
  T* losses = loss->mutable_data<T>();
  T* grads = warprnntgrad->mutable_data<T>();
  std::fill_n(grads, warprnntgrad->numel(), T(0));
  const int64_t row = dims[2] * dims[3];
  for (int64_t b = 0; b < dims[0]; ++b) {
    losses[b] = T(0);
    if (steps[b] == 0) continue;
    const int64_t first = b * dims[1] * row;
    const Grid<T> grid{input.data<T>() + first,
                       grads + first,
                       row,
                       dims[3],
                       steps[b],
                       labels_of(label, b, counts[b], dims[3], "input"),
                       blank};
    losses[b] = static_cast<T>(grid.run(1 + static_cast<double>(fastemit_lambda)));
  }
}

PHI_REGISTER_KERNEL(warprnnt, CPU, WarprnntKernel, Floats);

}  // namespace phi
