// average_accumulates on GPUs. Counts stay on the GPU.
#include "phi/generated/kernels/updates.h"
#include "phi/kernels/functors/weight_average.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/optimizer/step_loop.h"

namespace phi {
namespace {

struct AverageCounts {
  DeviceScalar terms;
  DeviceScalar old_terms;
  DeviceScalar updates;
  gpu::ScalarOutput terms_out;
  gpu::ScalarOutput old_terms_out;
  gpu::ScalarOutput updates_out;
  AverageWindow window;
};

/// Runs as one thread. Reads all inputs before writing, because outputs may be inputs.
__global__ void advance_counts(AverageCounts counts, bool* moves_and_restarts) {
  const AverageStep step = counts.window(counts.terms.as<int64_t>(), counts.old_terms.as<int64_t>(),
                                         counts.updates.as<int64_t>());
  gpu::store_scalar(counts.terms_out, step.terms);
  gpu::store_scalar(counts.old_terms_out, step.old_terms);
  gpu::store_scalar(counts.updates_out, step.updates);
  moves_and_restarts[0] = step.moves;
  moves_and_restarts[1] = step.restarts;
}

template <typename C>
struct AverageSums {
  const C* from[3];
  C* to[3];
};

template <typename T>
__global__ void add_weights(const T* param, AverageSums<compute_t<T>> sums, int64_t n,
                            const bool* moves_and_restarts) {
  using C = compute_t<T>;
  const bool moves = moves_and_restarts[0];
  const bool restarts = moves_and_restarts[1];
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    C first = sums.from[0][i] + static_cast<C>(param[i]);
    C second = sums.from[1][i];
    C third = sums.from[2][i];
    if (moves) {
      second += first;
      first = C(0);
    }
    if (restarts) {
      third = first + second;
      first = second = C(0);
    }
    sums.to[0][i] = first;
    sums.to[1][i] = second;
    sums.to[2][i] = third;
  }
}

}  // namespace

template <typename T, typename Context>
void AverageAccumulatesKernel(const Context& ctx, const DenseTensor& param,
                              const DenseTensor& in_sum_1, const DenseTensor& in_sum_2,
                              const DenseTensor& in_sum_3, const DenseTensor& in_num_accumulates,
                              const DenseTensor& in_old_num_accumulates,
                              const DenseTensor& in_num_updates, float average_window,
                              int64_t max_average_window, int64_t min_average_window,
                              DenseTensor* out_sum_1, DenseTensor* out_sum_2,
                              DenseTensor* out_sum_3, DenseTensor* out_num_accumulates,
                              DenseTensor* out_old_num_accumulates, DenseTensor* out_num_updates) {
  using C = compute_t<T>;
  DenseTensor flags = DenseTensor::empty({{2}, DataType::BOOL}, ctx.place());
  gpu::launch(ctx, advance_counts, 1, 1,
              AverageCounts{DeviceScalar(in_num_accumulates),
                            DeviceScalar(in_old_num_accumulates),
                            DeviceScalar(in_num_updates),
                            gpu::ScalarOutput(out_num_accumulates),
                            gpu::ScalarOutput(out_old_num_accumulates),
                            gpu::ScalarOutput(out_num_updates),
                            {average_window, max_average_window, min_average_window}},
              flags.mutable_data<bool>());
  const int64_t n = param.numel();
  if (n == 0) return;
  const AverageSums<C> sums{
      {in_sum_1.data<C>(), in_sum_2.data<C>(), in_sum_3.data<C>()},
      {out_sum_1->mutable_data<C>(), out_sum_2->mutable_data<C>(), out_sum_3->mutable_data<C>()}};
  gpu::launch(ctx, add_weights<T>, gpu::blocks_for(ctx, n), gpu::kBlock, param.data<T>(), sums, n,
              flags.data<bool>());
}

PHI_REGISTER_KERNEL(average_accumulates, GPU, AverageAccumulatesKernel, Floats);

}  // namespace phi
