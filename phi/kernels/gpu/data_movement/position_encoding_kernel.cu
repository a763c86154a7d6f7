// add_position_encoding on GPUs.
#include "phi/generated/kernels/channels.h"
#include "phi/kernels/functors/position_encoding.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

template <typename T>
struct AddEncoding {
  const T* x;
  int64_t rows;  // local extents: rows and width
  int64_t width;
  int64_t first_row;  // global values: this and the next two
  int64_t first_column;
  int64_t global_width;
  double alpha;
  double beta;
  PHI_HD T operator()(int64_t i) const {
    const int64_t row = i / width;
    const double added =
        beta *
        EncodingColumn(first_column + i - row * width, global_width).at(first_row + row % rows);
    return convert_value<T>(alpha * convert_value<double>(x[i]) + added);
  }
};

}  // namespace

/// alpha x + beta times the encoding of the *global* position, for any shard of x.
template <typename T, typename Context>
void AddPositionEncodingKernel(const Context& ctx, const DenseTensor& x, float alpha, float beta,
                               DenseTensor* out) {
  const ShardBox here = ctx.output_box(0, x.dims());
  index_loop(ctx, out->mutable_data<T>(), x.numel(),
             AddEncoding<T>{x.data<T>(), x.dims()[1], x.dims()[2], here.box.offset[1],
                            here.box.offset[2], here.global[2], alpha, beta});
}

PHI_REGISTER_KERNEL(add_position_encoding, GPU, AddPositionEncodingKernel, Floats);

}  // namespace phi
