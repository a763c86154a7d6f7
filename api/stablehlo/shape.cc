// Lowerings of operators that move elements without changing them.
#include "phi/infermeta/shape.h"

#include "api/stablehlo/lowering.h"
#include "phi/infermeta/axes.h"

namespace phi::stablehlo {
namespace {

void reshape(LoweringContext& call) { call.set_output(call.input("x")); }  // set_output() reshapes
void expand(LoweringContext& call) {
  call.set_output(call.b.expand(call.input("x"), call.output_dims()));
}

void transpose(LoweringContext& call) {
  const Ssa& x = call.input("x");
  std::vector<int64_t> perm = call.integers("perm");
  for (int64_t& d : perm) d = normalise_axis(d, x.ndim(), x.dims(), "perm");
  call.set_output(call.b.transpose(x, perm));
}

void concat(LoweringContext& call) {
  const std::vector<Ssa> parts = call.list("x");
  const int axis = normalise_axis(call.integer("axis"), parts[0].ndim(), parts[0].dims());
  call.set_output(call.b.concat(parts, axis));
}

void split(LoweringContext& call) {
  const Ssa& x = call.input("x");
  const int axis = normalise_axis(call.integer("axis"), x.ndim(), x.dims());
  // All parts are recorded, wanted or not.
  int64_t begin = 0;
  for (size_t i = 0; i < call.num_outputs(); ++i) {
    const int64_t end = begin + call.output_dims(i)[axis];
    call.set_output(i, call.b.slice_of(x, axis, begin, end));
    begin = end;
  }
}

struct SliceRange {
  Dims begin, end;
};
// The box that a slice selects from an array of shape `dims`.
SliceRange range_of(const LoweringContext& call, const Dims& dims) {
  SliceRange range{Dims::filled(dims.ndim(), 0), dims};
  const auto axes = call.integers("axes");
  const auto starts = call.integers("starts");
  const auto ends = call.integers("ends");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int d = normalise_axis(axes[i], dims.ndim(), dims, "axes");
    const auto [begin, end] = slice_bounds(starts[i], ends[i], dims[d]);
    range.begin[d] = begin;
    range.end[d] = end;
  }
  return range;
}

void slice(LoweringContext& call) {
  const Ssa& x = call.input("input");
  const auto [begin, end] = range_of(call, x.dims());
  call.set_output(call.b.slice(x, begin, end));
}

void slice_grad(LoweringContext& call) {
  Builder& b = call.b;
  const Dims& dims = call.output_dims();
  const auto [begin, end] = range_of(call, dims);
  Dims inner;
  for (int d = 0; d < dims.ndim(); ++d) inner.push_back(end[d] - begin[d]);
  const Ssa g = b.reshape(call.input("out_grad"), inner);
  std::string low;
  std::string high;
  std::string none;
  for (int d = 0; d < dims.ndim(); ++d) {
    const char* comma = d > 0 ? ", " : "";
    low += comma + std::to_string(begin[d]);
    high += comma + std::to_string(dims[d] - end[d]);
    none += std::string(comma) + "0";
  }
  const Ssa zero = b.constant(0.0, {{}, g.type.element});
  call.set_output(b.op("stablehlo.pad", {g, zero}, {dims, g.type.element},
                       "edge_padding_low = array<i64: " + low +
                           ">, edge_padding_high = array<i64: " + high +
                           ">, interior_padding = array<i64: " + none + ">"));
}

void slice_scatter(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa& x = call.input("x");
  const auto [begin, end] = range_of(call, x.dims());
  Dims inner;
  for (int d = 0; d < x.ndim(); ++d) inner.push_back(end[d] - begin[d]);
  std::vector<Ssa> operands = {x, b.reshape(call.input("value"), inner)};
  for (int64_t at : begin) operands.push_back(b.constant(static_cast<double>(at), {{}, "i64"}));
  call.set_output(b.op("stablehlo.dynamic_update_slice", operands, x.type));
}

void tril(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa& x = call.input("x");
  const Type index{x.dims(), "i64"};
  const Ssa row = b.add(b.iota(index, x.ndim() - 2), static_cast<double>(call.integer("diagonal")));
  const Ssa is_kept = b.compare("LE", b.iota(index, x.ndim() - 1), row);
  call.set_output(b.select(is_kept, x, b.like(x, 0.0)));
}

constexpr Lowering kShapeLowerings[] = {
    {"reshape", reshape},
    {"squeeze", reshape},
    {"unsqueeze", reshape},
    {"transpose", transpose},
    {"concat", concat},
    {"split", split},
    {"split_with_num", split},
    {"slice", slice},
    {"expand", expand},
    {"expand_as", expand},
    {"slice_grad", slice_grad},
    {"tril", tril},
    {"slice_scatter", slice_scatter},
};

}  // namespace

std::span<const Lowering> shape_lowerings() { return kShapeLowerings; }

}  // namespace phi::stablehlo
