// Lowerings of softmax, layer_norm and rms_norm.
#include "api/stablehlo/lowering.h"
#include "phi/infermeta/axes.h"

namespace phi::stablehlo {
namespace {

void softmax(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa x = b.wide(call.input("x"));
  if (x.ndim() == 0) return call.set_output(b.like(x, 1.0));
  const int64_t axes[] = {normalise_axis(call.integer("axis"), x.ndim(), x.dims())};
  const Ssa shares = b.unary("exponential", b.sub(x, b.reduce(Reduction::kMax, x, axes)));
  call.set_output(b.div(shares, b.reduce(Reduction::kSum, shares, axes)));
}

void softmax_grad(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa out = b.wide(call.input("out"));
  const Ssa g = b.wide(call.input("out_grad"));
  if (out.ndim() == 0) return call.set_output(b.like(out, 0.0));
  const int64_t axes[] = {normalise_axis(call.integer("axis"), out.ndim(), out.dims())};
  const Ssa common = b.reduce(Reduction::kSum, b.mul(g, out), axes);
  call.set_output(b.mul(b.sub(g, common), out));
}

/// The rows of a normalisation: the tensor dims from `axis` on.
class NormalizedRows {
 public:
  NormalizedRows(Builder& b, const Dims& dims, int axis) : b_(b), dims_(dims), axis_(axis) {}

  Ssa average(const Ssa& x) const {
    const Ssa total = b_.reduce_from(Reduction::kSum, x, axis_);
    return b_.div(total, b_.like(total, static_cast<double>(dims_.numel(axis_, dims_.ndim()))));
  }
  /// One number per row, followed by tensor dims of extent 1.
  Ssa per_row(const Ssa& x) const {
    Dims dims = dims_;
    for (int d = axis_; d < dims.ndim(); ++d) dims[d] = 1;
    return b_.reshape(b_.wide(x), dims);
  }
  /// One number per element of a row.
  Ssa per_element(const Ssa& x) const {
    Dims dims;
    for (int d = axis_; d < dims_.ndim(); ++d) dims.push_back(dims_[d]);
    return b_.reshape(b_.wide(x), dims);
  }
  Ssa sum_over_rows(const Ssa& x) const {
    std::vector<int64_t> axes;
    for (int d = 0; d < axis_; ++d) axes.push_back(d);
    return b_.reduce(Reduction::kSum, x, axes);
  }

 private:
  Builder& b_;
  Dims dims_;
  int axis_;
};

void layer_norm(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa x = b.wide(call.input("x"));
  const NormalizedRows rows(b, x.dims(), static_cast<int>(call.integer("begin_norm_axis")));
  const Ssa mean = rows.average(x);
  const Ssa centred = b.sub(x, mean);
  const Ssa variance = rows.average(b.mul(centred, centred));
  const Ssa factor = b.unary("rsqrt", b.add(variance, call.number("epsilon")));
  Ssa out = b.mul(centred, factor);
  if (const Ssa* scale = call.optional("scale")) out = b.mul(out, rows.per_element(*scale));
  if (const Ssa* bias = call.optional("bias")) out = b.add(out, rows.per_element(*bias));
  call.set_output(0, out);
  call.set_output(1, mean);
  call.set_output(2, variance);
}

// Input gradient of a normalised y = (x - mean) f, with g = out_grad * scale: f (g - <g> - y <g
// y>); without <g> if nothing was subtracted.
Ssa input_grad(Builder& b, const NormalizedRows& rows, const Ssa& y, const Ssa& factor,
               const Ssa& g, bool centred) {
  Ssa grad = b.sub(g, b.mul(y, rows.average(b.mul(g, y))));
  if (centred) grad = b.sub(grad, rows.average(g));
  return b.mul(grad, factor);
}

void layer_norm_grad(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa x = b.wide(call.input("x"));
  const Ssa out_grad = b.wide(call.input("out_grad"));
  const NormalizedRows rows(b, x.dims(), static_cast<int>(call.integer("begin_norm_axis")));
  const Ssa variance = rows.per_row(call.input("variance"));
  const Ssa factor = b.unary("rsqrt", b.add(variance, call.number("epsilon")));
  const Ssa y = b.mul(b.sub(x, rows.per_row(call.input("mean"))), factor);
  if (call.needs_output(0)) {
    const Ssa* scale = call.optional("scale");
    const Ssa g = scale ? b.mul(out_grad, rows.per_element(*scale)) : out_grad;
    call.set_output(0, input_grad(b, rows, y, factor, g, /*centred=*/true));
  }
  if (call.needs_output(1)) call.set_output(1, rows.sum_over_rows(b.mul(out_grad, y)));
  if (call.needs_output(2)) call.set_output(2, rows.sum_over_rows(out_grad));
}

void rms_norm(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa x = b.wide(call.input("x"));
  const NormalizedRows rows(b, x.dims(), x.ndim() - 1);
  const Ssa mean_square = rows.average(b.mul(x, x));
  const Ssa factor = b.unary("rsqrt", b.add(mean_square, call.number("epsilon")));
  call.set_output(0, b.mul(b.mul(x, factor), rows.per_element(call.input("scale"))));
  call.set_output(1, factor);
}

void rms_norm_grad(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa x = b.wide(call.input("x"));
  const Ssa out_grad = b.wide(call.input("out_grad"));
  const NormalizedRows rows(b, x.dims(), x.ndim() - 1);
  const Ssa factor = rows.per_row(call.input("invvar"));
  const Ssa y = b.mul(x, factor);
  if (call.needs_output(0)) {
    const Ssa g = b.mul(out_grad, rows.per_element(call.input("scale")));
    call.set_output(0, input_grad(b, rows, y, factor, g, /*centred=*/false));
  }
  if (call.needs_output(1)) call.set_output(1, rows.sum_over_rows(b.mul(out_grad, y)));
}

constexpr Lowering kNormalisationLowerings[] = {
    {"softmax", softmax},   {"softmax_grad", softmax_grad},   {"layer_norm", layer_norm},
    {"rms_norm", rms_norm}, {"rms_norm_grad", rms_norm_grad}, {"layer_norm_grad", layer_norm_grad},
};

}  // namespace

std::span<const Lowering> normalisation_lowerings() { return kNormalisationLowerings; }

}  // namespace phi::stablehlo
