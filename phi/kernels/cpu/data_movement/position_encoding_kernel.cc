// add_position_encoding on the CPU.
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/channels.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/functors/position_encoding.h"

namespace phi {
/// out = alpha x + beta times the encoding of the *global* position.
template <typename T, typename Context>
void AddPositionEncodingKernel(const Context& ctx, const DenseTensor& x, float alpha, float beta,
                               DenseTensor* out) {
  if (x.numel() == 0) return;
  const ShardBox here = ctx.output_box(0, x.dims());
  const int64_t rows = x.dims()[1];
  const int64_t width = x.dims()[2];
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  std::vector<double> row(static_cast<size_t>(rows * width));
  for (int64_t k = 0; k < width; ++k) {
    const EncodingColumn column(here.box.offset[2] + k, here.global[2]);
    for (int64_t r = 0; r < rows; ++r)
      row[r * width + k] = beta * column.at(here.box.offset[1] + r);
  }
  for (int64_t b = 0; b < x.dims()[0]; ++b, from += row.size(), to += row.size()) {
    for (size_t i = 0; i < row.size(); ++i) {
      to[i] = convert_value<T>(alpha * convert_value<double>(from[i]) + row[i]);
    }
  }
}

PHI_REGISTER_KERNEL(add_position_encoding, CPU, AddPositionEncodingKernel, Floats);

}  // namespace phi
