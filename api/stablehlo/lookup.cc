// Lowerings of table lookups and their gradients.
#include <fmt/format.h>

#include <numeric>

#include "api/stablehlo/gather_rows.h"
#include "api/stablehlo/lowering.h"
#include "phi/infermeta/axes.h"

namespace phi::stablehlo {

namespace {

// The result's tensor dims that belong to the table: all but those of the index, which start at
// `axis`.
std::vector<int64_t> window_dims(int table_ndim, int axis, int index_ndim) {
  std::vector<int64_t> dims;
  for (int d = 0; d < table_ndim - 1; ++d) dims.push_back(d < axis ? d : d + index_ndim);
  return dims;
}

}  // namespace

Ssa gather_rows(Builder& b, const Ssa& table, const Ssa& index, int axis) {
  Dims dims;
  for (int d = 0; d < axis; ++d) dims.push_back(table.dims()[d]);
  for (int64_t extent : index.dims()) dims.push_back(extent);
  for (int d = axis + 1; d < table.ndim(); ++d) dims.push_back(table.dims()[d]);
  std::vector<int64_t> sizes = table.dims().to_vector();
  sizes[static_cast<size_t>(axis)] = 1;
  const std::string properties = fmt::format(
      "dimension_numbers = #stablehlo.gather<offset_dims = [{}], collapsed_slice_dims = [{}], "
      "start_index_map = [{}], index_vector_dim = {}>, slice_sizes = array<i64: {}>, "
      "indices_are_sorted = false",
      dense_list(window_dims(table.ndim(), axis, index.ndim())), axis, axis, index.ndim(),
      dense_list(sizes));
  return b.op("stablehlo.gather", {table, index}, {dims, table.type.element}, properties);
}

namespace {

// Adds the slices of `updates` to zeros of shape `dims`, at `index` along tensor dim `axis`.
Ssa scatter_rows(Builder& b, const Dims& dims, const Ssa& index, const Ssa& updates, int axis) {
  const std::string scalar = Type{{}, updates.type.element}.to_string();
  const std::string region = fmt::format(
      "    ^bb0(%a: {0}, %b: {0}):\n"
      "      %c = \"stablehlo.add\"(%a, %b) : ({0}, {0}) -> {0}\n"
      "      \"stablehlo.return\"(%c) : ({0}) -> ()\n",
      scalar);
  const std::string properties = fmt::format(
      "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [{}], "
      "inserted_window_dims = [{}], scatter_dims_to_operand_dims = [{}], index_vector_dim = {}>, "
      "indices_are_sorted = false, unique_indices = false",
      dense_list(window_dims(dims.ndim(), axis, index.ndim())), axis, axis, index.ndim());
  const Type type{dims, updates.type.element};
  return b.op("stablehlo.scatter", {b.constant(0.0, type), index, updates}, type, properties,
              region);
}

// x, with 0 where the id is padding_idx.
Ssa without_padding(LoweringContext& call, const Ssa& x) {
  const int64_t padding = call.integer("padding_idx");
  if (padding < 0) return x;
  Builder& b = call.b;
  const Ssa& ids = call.input("x");
  Dims dims = ids.dims();
  dims.push_back(1);
  const Ssa is_padding = b.compare("EQ", ids, b.constant(padding, ids.type));
  return b.select(b.reshape(is_padding, dims), b.like(x, 0.0), x);
}

void embedding(LoweringContext& call) {
  const Ssa rows = gather_rows(call.b, call.input("weight"), call.input("x"), 0);
  call.set_output(without_padding(call, rows));
}

void embedding_grad(LoweringContext& call) {
  const Ssa g = without_padding(call, call.b.wide(call.input("out_grad")));
  call.set_output(scatter_rows(call.b, call.output_dims(), call.input("x"), g, 0));
}

int axis_of(const LoweringContext& call, const Dims& dims) {
  return normalise_axis(call.integer("axis"), dims.ndim(), dims);
}

// The index without its dim of size 1, if it has one; negative indices count from the end.
Ssa index_of(LoweringContext& call, int64_t extent) {
  Builder& b = call.b;
  const Ssa& given = call.input("index");
  const Ssa index = given.ndim() > 1 ? b.reshape(given, {given.dims().numel()}) : given;
  const Ssa from_end = b.add(index, static_cast<double>(extent));
  return b.select(b.compare("LT", index, b.like(index, 0.0)), from_end, index);
}

void gather(LoweringContext& call) {
  const Ssa& x = call.input("x");
  const int axis = axis_of(call, x.dims());
  call.set_output(gather_rows(call.b, x, index_of(call, x.dims()[axis]), axis));
}

void gather_grad(LoweringContext& call) {
  const Ssa g = call.b.wide(call.input("out_grad"));
  const Dims& dims = call.output_dims();
  const int axis = axis_of(call, dims);
  call.set_output(scatter_rows(call.b, dims, index_of(call, dims[axis]), g, axis));
}

void one_hot(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa& ids = call.input("x");
  Dims dims = ids.dims();
  dims.push_back(1);
  const Ssa classes = b.iota({call.output_dims(), ids.type.element}, ids.ndim());
  call.set_output(b.compare("EQ", b.reshape(ids, dims), classes));
}

constexpr Lowering kLookupLowerings[] = {
    {"embedding", embedding}, {"embedding_grad", embedding_grad},
    {"gather", gather},       {"gather_grad", gather_grad},
    {"one_hot", one_hot},
};

}  // namespace

std::span<const Lowering> lookup_lowerings() { return kLookupLowerings; }

}  // namespace phi::stablehlo
