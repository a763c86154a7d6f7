// Shapes of collective ops among the ranks of a ring.
#include "phi/infermeta/communication.h"

#include "phi/common/errors.h"
#include "phi/infermeta/creation.h"

namespace phi {
namespace {

// Paddle's reduce types: sum, max, min, product, average, any, all.
constexpr int kSumType = 0;
constexpr int kAverageType = 4;
constexpr int kReduceTypes = 7;

TensorMeta with_dim_extent(const TensorMeta& x, int dim, int64_t extent) {
  TensorMeta out = x;
  out.dims[dim] = extent;
  return out;
}

void check_rows(const TensorMeta& x) {
  PHI_CHECK(
      x.dims.ndim() > 0,
      errors::InvalidArgument(
          "x is {}, but ranks exchange slices of a tensor dim; reshape it to [1].", x.to_string()));
}

void check_ranks(int nranks, int rank = 0) {
  PHI_CHECK(
      nranks > 0 && rank >= 0 && rank < nranks,
      errors::InvalidArgument(
          "nranks is {} and rank {}: pass the number of ranks in the ring, and a rank below it.",
          nranks, rank));
}

TensorMeta joined(const TensorMeta& x, int dim, int nranks) {
  const int64_t extent = x.dims[dim];
  return with_dim_extent(x, dim, extent_times(extent, nranks));
}

TensorMeta parted(const TensorMeta& x, int dim, int nranks) {
  const int64_t extent = x.dims[dim];
  PHI_CHECK(extent == kUnknownDim || extent % nranks == 0,
            errors::InvalidArgument(
                "x is {}, but {} ranks receive equal slices of tensor dim {}; pad it.",
                x.to_string(), nranks, dim));
  return with_dim_extent(x, dim, extent == kUnknownDim ? kUnknownDim : extent / nranks);
}

}  // namespace

TensorMeta AllGatherInferMeta(const TensorMeta& x, int nranks) {
  check_rows(x);
  check_ranks(nranks);
  return joined(x, 0, nranks);
}

TensorMeta ReduceScatterInferMeta(const TensorMeta& x, int nranks) {
  check_rows(x);
  check_ranks(nranks);
  return parted(x, 0, nranks);
}

TensorMeta AllToAllInferMeta(const TensorMeta& x) {
  check_rows(x);
  return x;
}

TensorMeta AllReduceInferMeta(const TensorMeta& x, int reduce_type) {
  PHI_CHECK(
      reduce_type >= 0 && reduce_type < kReduceTypes,
      errors::InvalidArgument("reduce_type is {}, but it must be 0 (sum), 1 (max), 2 (min), 3 "
                              "(product), 4 (average), 5 (any) or 6 (all).",
                              reduce_type));
  return x;
}

TensorMeta LinearReduceGradInferMeta(const TensorMeta& out_grad, int reduce_type) {
  PHI_CHECK(reduce_type == kSumType || reduce_type == kAverageType,
            errors::Unimplemented(
                "reduce_type is {}: only sums (0) and averages (4) over ranks have gradients.",
                reduce_type));
  return out_grad;
}

TensorMeta SendInferMeta(const TensorMeta& x, bool dynamic_shape) {
  PHI_CHECK(!dynamic_shape,
            errors::Unimplemented("dynamic_shape is true, but both ranks must know the shape of "
                                  "the message; send the shape as a separate tensor first."));
  return {{0}, x.dtype, x.layout};
}

TensorMeta RecvInferMeta(DataType dtype, bool dynamic_shape, const IntArray& out_shape) {
  SendInferMeta({{}, dtype}, dynamic_shape);
  return CreateInferMeta(out_shape, dtype);
}

TensorMeta CIdentityInferMeta(const TensorMeta& x, bool /*use_calc_stream*/,
                              bool /*use_model_parallel*/) {
  return x;
}

TensorMeta CSplitInferMeta(const TensorMeta& x, int rank, int nranks, bool /*use_calc_stream*/,
                           bool /*use_model_parallel*/) {
  check_rows(x);
  check_ranks(nranks, rank);
  return parted(x, x.dims.ndim() - 1, nranks);
}

TensorMeta CConcatInferMeta(const TensorMeta& x, int rank, int nranks, bool /*use_calc_stream*/,
                            bool /*use_model_parallel*/) {
  check_rows(x);
  check_ranks(nranks, rank);
  return joined(x, x.dims.ndim() - 1, nranks);
}

}  // namespace phi
