// gather_tree on GPUs: follows the paths of beams from their ends back.
#include "phi/common/errors.h"
#include "phi/generated/kernels/sequence.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// Ids and parents of beams, [steps, batch, beams].
template <typename T>
struct Beams {
  const T* ids;
  const T* parents;
  int64_t steps;
  int64_t beams;
  int64_t row;  // elements per step

  /// Follows the beam that ends at i. Writes the parents on the way to `taken`, 0 where there is
  /// none.
  __device__ void follow(int64_t i, T* out, T* taken) const {
    const int64_t first = i / beams * beams;
    int64_t at = i;
    for (int64_t t = steps - 1; t >= 0; --t) {
      out[t * row + i] = at < 0 ? T(0) : ids[t * row + at];
      const T parent = t == 0 || at < 0 ? T(0) : parents[t * row + at];
      taken[t * row + i] = parent;
      const bool is_there = at >= 0 && parent >= 0 && parent < beams;
      at = is_there ? first + parent : -1;
    }
  }
};

template <typename T>
__global__ void follow_beams(Beams<T> beams, T* out, T* taken) {
  for (int64_t i = gpu::first_item(); i < beams.row; i += gpu::item_stride()) {
    beams.follow(i, out, taken);
  }
}

struct IsNoBeam {
  int64_t beams;
  PHI_HD bool operator()(int64_t parent) const { return parent < 0 || parent >= beams; }
};

[[noreturn]] void throw_no_beam(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "parents holds {} at step {}, but there are {} beams; it must be in [0, "
      "{}).",
      found.value, found.at / found.meta.dims.numel(1, found.meta.dims.ndim()), found.extent,
      found.extent);
}

}  // namespace

template <typename T, typename Context>
void GatherTreeKernel(const Context& ctx, const DenseTensor& ids, const DenseTensor& parents,
                      DenseTensor* out) {
  if (ids.numel() == 0) return;
  const Dims& dims = ids.dims();
  const Beams<T> beams{ids.data<T>(), parents.data<T>(), dims[0], dims[2], dims[1] * dims[2]};
  DenseTensor taken = DenseTensor::empty(parents.meta(), ctx.place());
  gpu::launch(ctx, follow_beams<T>, gpu::blocks_for(ctx, beams.row), gpu::kBlock, beams,
              out->mutable_data<T>(), taken.mutable_data<T>());
  check_elements<T>(ctx, taken, IsNoBeam{beams.beams},
                    {.argument = "parents", .raise = throw_no_beam, .extent = beams.beams});
}

PHI_REGISTER_KERNEL(gather_tree, GPU, GatherTreeKernel, SignedIntegers);

}  // namespace phi
