// A recurrent layer in one direction on the CPU: each step is a matmul of the hidden state, then
// the cell.
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
struct LayerArrays {
  const C* gates;
  const C* weight_hh;
  const C* bias_hh;
  C* h;  // the state, updated in place
  C* c;
  C* out;
  C* kept;
};

/// Computes hh = h weight_hh^T + bias_hh.
template <typename C>
void hidden_product(const RecurrentSteps& s, int64_t width, const LayerArrays<C>& a, C* hh) {
  for (int64_t b = 0; b < s.batch; ++b) std::copy_n(a.bias_hh, width, hh + b * width);
  const GemmShape shape{.m = s.batch, .n = width, .k = s.hidden, .trans_b = true};
  gemm<C>(shape, 1, a.h, s.hidden, a.weight_hh, s.hidden, 1, hh, width);
}

template <typename Cell, typename C>
void run_forward(const RecurrentSteps& s, const LayerArrays<C>& a) {
  const int64_t n = s.hidden;
  const int64_t width = Cell::kGates * n;
  std::vector<C> hh(static_cast<size_t>(s.batch * width));
  for (int64_t i = 0; i < s.steps; ++i) {
    const int64_t t = s.time(i);
    hidden_product(s, width, a, hh.data());
    for (int64_t b = 0; b < s.batch; ++b) {
      const int64_t row = t * s.batch + b;
      C* out = a.out + row * n;
      C* kept = a.kept + row * Cell::kKept * n;
      if (!s.is_within(t, b)) {
        std::fill_n(out, n, C(0));
        std::fill_n(kept, Cell::kKept * n, C(0));
        continue;
      }
      C* c = Cell::kHasCell ? a.c + b * n : nullptr;
      const CellStep<C> step{
          a.gates + row * width, hh.data() + b * width, a.h + b * n, c, c, out, kept};
      run_best_isa<C>([=] { Cell::forward(step, n); });
      std::copy_n(out, n, a.h + b * n);
    }
  }
}

}  // namespace

/// `gates` [steps, batch, gates * hidden] is the input's contribution to the gates, including its
/// bias. Steps after a sequence's end have output 0 and do not change the states.
template <typename T, typename Context>
void RecurrentLayerKernel(const Context&, const DenseTensor& gates, const DenseTensor& hidden,
                          const DenseTensor* cell, const DenseTensor& weight_hh,
                          const DenseTensor& bias_hh, const DenseTensor* sequence_length,
                          const std::string& mode, bool is_reverse, DenseTensor* out,
                          DenseTensor* last_hidden, DenseTensor* last_cell, DenseTensor* reserve) {
  using C = compute_t<T>;
  const Dims& dims = gates.dims();
  const RecurrentSteps steps{
      dims[0], dims[1], hidden.dims()[1], is_reverse,
      sequence_lengths(sequence_length, dims[1], dims[0], "sequence_length")};
  WideOutput<T> outs(out, out->numel());
  WideOutput<T> h(last_hidden, hidden.numel());
  WideOutput<T> c(last_cell, hidden.numel());
  WideOutput<T> kept(reserve, reserve->numel());
  convert(hidden.data<T>(), h.data(), hidden.numel());
  if (cell) convert(cell->data<T>(), c.data(), cell->numel());
  const ComputeArray<C> from(&gates);
  const ComputeArray<C> weight(&weight_hh);
  const ComputeArray<C> bias(&bias_hh);
  const LayerArrays<C> arrays{from.data(), weight.data(), bias.data(), h.data(),
                              c.data(),    outs.data(),   kept.data()};
  visit_cell<C>(mode, [&]<typename Cell>(Cell) { run_forward<Cell>(steps, arrays); });
  outs.store();
  h.store();
  c.store();
  kept.store();
}

PHI_REGISTER_KERNEL(recurrent_layer, CPU, RecurrentLayerKernel, Floats);
PHI_REGISTER_NO_SCRATCH(recurrent_layer, Halves);

}  // namespace phi
