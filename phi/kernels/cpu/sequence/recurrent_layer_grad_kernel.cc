// The gradient of a recurrent layer on the CPU, which runs the layer's steps in reverse order.
#include <algorithm>
#include <vector>

#include "phi/core/device/scratch_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sequence.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/sequence/recurrent_cells.h"
#include "phi/kernels/cpu/sequence/recurrent_layer.h"

namespace phi {
namespace {

template <typename C>
struct GradientArrays {
  const C* hidden;
  const C* cell;
  const C* weight_hh;
  const C* out;
  const C* kept;
  const C* out_grad;
  C* dgates;
  C* dh;  // gradients of the states, updated in place
  C* dc;
  C* dweight;
  C* dbias;
};

/// Buffers of a batch for one step.
template <typename C>
struct StepBuffers {
  std::vector<C> h;    // the states before the step
  std::vector<C> dhh;  // 0 for samples that do not have the step
  StepBuffers(const RecurrentSteps& s, int64_t width)
      : h(static_cast<size_t>(s.batch * s.hidden)), dhh(static_cast<size_t>(s.batch * width)) {}
};

/// Computes the gradients of one step's gates, and those of the previous states without the part
/// through hh.
template <typename Cell, typename C>
void step_back(const RecurrentSteps& s, int64_t t, const GradientArrays<C>& a,
               StepBuffers<C>* step) {
  const int64_t n = s.hidden;
  const int64_t width = Cell::kGates * n;
  for (int64_t b = 0; b < s.batch; ++b) {
    const int64_t row = t * s.batch + b;
    C* dgates = a.dgates + row * width;
    C* dhh = step->dhh.data() + b * width;
    C* h = step->h.data() + b * n;
    if (!s.is_within(t, b)) {
      std::fill_n(dgates, width, C(0));
      std::fill_n(dhh, width, C(0));
      std::fill_n(h, n, C(0));
      continue;
    }
    const int64_t before = s.before(t, b);
    const int64_t row_before = before * s.batch + b;
    std::copy_n(before >= 0 ? a.out + row_before * n : a.hidden + b * n, n, h);
    const C* c = nullptr;
    if constexpr (Cell::kHasCell)
      c = before >= 0 ? a.kept + (row_before * Cell::kKept + 4) * n : a.cell + b * n;
    C* dh = a.dh + b * n;
    for (int64_t i = 0; i < n; ++i) dh[i] += a.out_grad[row * n + i];
    C* dc = Cell::kHasCell ? a.dc + b * n : nullptr;
    const CellGradStep<C> arrays{
        a.kept + row * Cell::kKept * n, h, c, a.out + row * n, dh, dc, dgates, dhh};
    run_best_isa<C>([=] { Cell::backward(arrays, n); });
  }
}

template <typename Cell, typename C>
void run_backward(const RecurrentSteps& s, const GradientArrays<C>& a) {
  const int64_t n = s.hidden;
  const int64_t width = Cell::kGates * n;
  StepBuffers<C> step(s, width);
  std::fill_n(a.dweight, width * n, C(0));
  std::fill_n(a.dbias, width, C(0));
  for (int64_t i = s.steps - 1; i >= 0; --i) {
    step_back<Cell>(s, s.time(i), a, &step);
    const C* dhh = step.dhh.data();
    gemm<C>({.m = s.batch, .n = n, .k = width}, 1, dhh, width, a.weight_hh, n, 1, a.dh, n);
    gemm<C>({.m = width, .n = n, .k = s.batch, .trans_a = true}, 1, dhh, width, step.h.data(), n, 1,
            a.dweight, n);
    for (int64_t b = 0; b < s.batch; ++b) {
      for (int64_t k = 0; k < width; ++k) a.dbias[k] += dhh[b * width + k];
    }
  }
}

}  // namespace

/// Gradients of the weights are sums over the local samples. A null gradient is not written.
template <typename T, typename Context>
void RecurrentLayerGradKernel(const Context&, const DenseTensor& gates, const DenseTensor& hidden,
                              const DenseTensor* cell, const DenseTensor& weight_hh,
                              const DenseTensor& bias_hh, const DenseTensor* sequence_length,
                              const DenseTensor& out, const DenseTensor& reserve,
                              const DenseTensor& out_grad, const DenseTensor& last_hidden_grad,
                              const DenseTensor* last_cell_grad, const std::string& mode,
                              bool is_reverse, DenseTensor* gates_grad, DenseTensor* hidden_grad,
                              DenseTensor* cell_grad, DenseTensor* weight_hh_grad,
                              DenseTensor* bias_hh_grad) {
  using C = compute_t<T>;
  const Dims& dims = gates.dims();
  const RecurrentSteps steps{
      dims[0], dims[1], hidden.dims()[1], is_reverse,
      sequence_lengths(sequence_length, dims[1], dims[0], "sequence_length")};
  WideOutput<T> dgates(gates_grad, gates.numel());
  WideOutput<T> dh(hidden_grad, hidden.numel());
  WideOutput<T> dc(cell_grad, hidden.numel());
  WideOutput<T> dweight(weight_hh_grad, weight_hh.numel());
  WideOutput<T> dbias(bias_hh_grad, bias_hh.numel());
  convert(last_hidden_grad.data<T>(), dh.data(), hidden.numel());
  if (last_cell_grad) {
    convert(last_cell_grad->data<T>(), dc.data(), hidden.numel());
  } else {
    std::fill_n(dc.data(), hidden.numel(), C(0));
  }
  const ComputeArray<C> h(&hidden);
  const ComputeArray<C> c(cell);
  const ComputeArray<C> weight(&weight_hh);
  const ComputeArray<C> outs(&out);
  const ComputeArray<C> kept(&reserve);
  const ComputeArray<C> grads(&out_grad);
  const GradientArrays<C> arrays{h.data(),    c.data(),       weight.data(), outs.data(),
                                 kept.data(), grads.data(),   dgates.data(), dh.data(),
                                 dc.data(),   dweight.data(), dbias.data()};
  visit_cell<C>(mode, [&]<typename Cell>(Cell) { run_backward<Cell>(steps, arrays); });
  dgates.store();
  dh.store();
  dc.store();
  dweight.store();
  dbias.store();
}

PHI_REGISTER_KERNEL(recurrent_layer_grad, CPU, RecurrentLayerGradKernel, Floats);
PHI_REGISTER_NO_SCRATCH(recurrent_layer_grad, Halves);

}  // namespace phi
