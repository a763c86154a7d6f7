// Lowerings of reductions.
#include "api/stablehlo/lowering.h"
#include "phi/infermeta/axes.h"

namespace phi::stablehlo {
namespace {

std::vector<int64_t> axes_of(const LoweringContext& call, const Ssa& x) {
  const AxisSet set = normalise_axes(call.integers("axis"), x.dims());
  std::vector<int64_t> axes;
  for (int d = 0; d < x.ndim(); ++d) {
    if (set.has(d)) axes.push_back(d);
  }
  return axes;
}

// The sum of x; integers and bool are summed in i64.
Ssa total_of(LoweringContext& call, const Ssa& x) {
  const std::string_view element = x.type.element;
  const bool is_whole = !is_float(element) && !is_complex_element(element);
  return call.b.reduce(Reduction::kSum, call.b.convert(x, is_whole ? "i64" : wide_element(element)),
                       axes_of(call, x));
}

// Elements are cast to the result's dtype before they are summed.
void sum(LoweringContext& call) {
  call.set_output(total_of(call, call.b.convert(call.input("x"), call.output_type().element)));
}

void mean(LoweringContext& call) {
  const Ssa& x = call.input("x");
  double count = 1.0;
  for (int64_t axis : axes_of(call, x)) {
    count *= static_cast<double>(x.dims()[static_cast<int>(axis)]);
  }
  const Ssa total = total_of(call, x);
  call.set_output(call.b.div(total, call.b.like(total, count)));
}

void max(LoweringContext& call) {
  const Ssa& x = call.input("x");
  call.set_output(call.b.reduce(Reduction::kMax, x, axes_of(call, x)));
}

// The index of the first largest element, or of the first NaN.
void argmax(LoweringContext& call) {
  Builder& b = call.b;
  Ssa x = b.wide(call.input("x"));
  if (call.flag("flatten") || x.ndim() == 0) x = b.reshape(x, {x.dims().numel()});
  const int axis = call.flag("flatten") || x.ndim() == 1
                       ? 0
                       : normalise_axis(call.integer("axis"), x.ndim(), x.dims());
  const int64_t axes[] = {axis};
  const Ssa largest = b.expand(b.reduce(Reduction::kMax, x, axes), x.dims());
  const Ssa is_best =
      b.op("stablehlo.or", {b.compare("EQ", x, largest), b.compare("NE", x, x)}, {x.dims(), "i1"});
  const Ssa index = b.iota({x.dims(), "i64"}, axis);
  const Ssa none = b.constant(x.dims()[axis], index.type);
  call.set_output(b.reduce(Reduction::kMin, b.select(is_best, index, none), axes));
}

void reduce_as(LoweringContext& call) {
  const Ssa x = call.b.convert(call.input("x"), call.output_type().element);
  call.set_output(call.b.sum_to(call.b.wide(x), call.output_dims()));
}

void squared_l2_norm(LoweringContext& call) {
  const Ssa x = call.b.wide(call.input("x"));
  call.set_output(call.b.reshape(call.b.reduce_from(Reduction::kSum, call.b.mul(x, x), 0), {1}));
}

constexpr Lowering kReductionLowerings[] = {
    {"sum", sum},       {"mean", mean},           {"max", max},
    {"argmax", argmax}, {"reduce_as", reduce_as}, {"squared_l2_norm", squared_l2_norm},
};

}  // namespace

std::span<const Lowering> reduction_lowerings() { return kReductionLowerings; }

}  // namespace phi::stablehlo
