// Sums and means on the CPU.
#include "phi/core/scratch_array.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/templates/reduction/sums.h"

namespace phi {

// A dry run counts the messages of integer_mean.
template <typename T, typename Context>
void MeanDry(const Context& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  DenseTensor sums = scratch_array({out->dims(), DataType::INT64}, ctx.place());
  combine_sums(ctx, normalise_axes(axis, x.dims()), x.ndim(), &sums);
}

PHI_REGISTER_DRY_KERNEL(mean, MeanDry, SignedIntegers);

}  // namespace phi
