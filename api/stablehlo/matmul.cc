// Lowerings of matmuls.
#include <numeric>

#include "api/stablehlo/lowering.h"
#include "phi/infermeta/axes.h"

namespace phi::stablehlo {
namespace {

std::vector<int64_t> first_dims(int count) {
  std::vector<int64_t> dims(static_cast<size_t>(count));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

// x with its batch tensor dims (all but the last two) broadcast to `batch`.
Ssa with_batch(Builder& b, const Ssa& x, const Dims& batch) {
  Dims dims = batch;
  dims.push_back(x.dims()[x.ndim() - 2]);
  dims.push_back(x.dims()[x.ndim() - 1]);
  return b.expand(x, dims);
}

Dims batch_of(const Ssa& x) {
  return Dims(std::span(x.dims().begin(), static_cast<size_t>(x.ndim() - 2)));
}

// The matmul [..., m, n] of two arrays of at least 2 tensor dims, with broadcast batches.
Ssa product(Builder& b, const Ssa& x, bool transpose_x, const Ssa& y, bool transpose_y) {
  if (y.ndim() == 2) {
    const int64_t inner = transpose_x ? x.ndim() - 2 : x.ndim() - 1;
    return b.dot(x, y, {{}, {}, {inner}, {transpose_y ? 1 : 0}});
  }
  const Dims batch = broadcast_dims(batch_of(x), batch_of(y));
  const int n = batch.ndim();
  return b.dot(
      with_batch(b, x, batch), with_batch(b, y, batch),
      {first_dims(n), first_dims(n), {transpose_x ? n : n + 1}, {transpose_y ? n + 1 : n}});
}

// The gradient of a matrix y [k, n] that was multiplied with a batch of x: one matmul over all rows
// of the batch.
Ssa weight_grad(Builder& b, const Ssa& x, bool transpose_x, const Ssa& g, bool transpose_y) {
  std::vector<int64_t> rows_of_x = first_dims(x.ndim() - 2);
  std::vector<int64_t> rows_of_g = rows_of_x;
  rows_of_x.push_back(transpose_x ? x.ndim() - 1 : x.ndim() - 2);
  rows_of_g.push_back(g.ndim() - 2);
  return transpose_y ? b.dot(g, x, {{}, {}, rows_of_g, rows_of_x})
                     : b.dot(x, g, {{}, {}, rows_of_x, rows_of_g});
}

// A call's operands; a vector becomes a matrix of one row (x) or one column (y).
struct DotOperands {
  Ssa x, y;
  bool transpose_x, transpose_y;
};
DotOperands operands_of(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa& x = call.input("x");
  const Ssa& y = call.input("y");
  return {x.ndim() == 1 ? b.reshape(x, {1, x.dims()[0]}) : x,
          y.ndim() == 1 ? b.reshape(y, {y.dims()[0], 1}) : y,
          x.ndim() > 1 && call.flag("transpose_x"), y.ndim() > 1 && call.flag("transpose_y")};
}

void matmul(LoweringContext& call) {
  const auto [x, y, transpose_x, transpose_y] = operands_of(call);
  call.set_output(product(call.b, x, transpose_x, y, transpose_y));
}

void matmul_grad(LoweringContext& call) {
  Builder& b = call.b;
  const auto [x, y, transpose_x, transpose_y] = operands_of(call);
  Dims dims = broadcast_dims(batch_of(x), batch_of(y));
  dims.push_back(x.dims()[x.ndim() - (transpose_x ? 1 : 2)]);
  dims.push_back(y.dims()[y.ndim() - (transpose_y ? 2 : 1)]);
  const Ssa g = b.reshape(call.input("out_grad"), dims);
  if (call.needs_output(0)) {
    const Ssa grad =
        transpose_x ? product(b, y, transpose_y, g, true) : product(b, g, false, y, !transpose_y);
    call.set_output(0, b.sum_to(grad, x.dims()));
  }
  if (!call.needs_output(1)) return;
  if (y.ndim() == 2) return call.set_output(1, weight_grad(b, x, transpose_x, g, transpose_y));
  const Ssa grad =
      transpose_y ? product(b, g, true, x, transpose_x) : product(b, x, !transpose_x, g, false);
  call.set_output(1, b.sum_to(grad, y.dims()));
}

constexpr Lowering kMatmulLowerings[] = {{"matmul", matmul}, {"matmul_grad", matmul_grad}};

}  // namespace

std::span<const Lowering> matmul_lowerings() { return kMatmulLowerings; }

}  // namespace phi::stablehlo
