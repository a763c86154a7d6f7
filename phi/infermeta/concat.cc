// Shapes of ops on lists of tensors: stack, unstack, broadcast, select.
#include "phi/infermeta/concat.h"

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"

namespace phi {
namespace {

void check_one_dtype(std::span<const TensorMeta> x, const char* name) {
  PHI_CHECK(!x.empty(),
            errors::InvalidArgument("{} is an empty list; pass at least one tensor.", name));
  for (size_t i = 1; i < x.size(); ++i) {
    PHI_CHECK(
        x[i].dtype == x[0].dtype,
        errors::InvalidArgument("{}[0] is {} and {}[{}] is {}: they must have one dtype; cast "
                                "one of them.",
                                name, x[0].to_string(), name, i, x[i].to_string()));
  }
}

void check_alike(std::span<const TensorMeta> x, const char* name) {
  check_one_dtype(x, name);
  for (size_t i = 1; i < x.size(); ++i) {
    const bool known = x[0].dims.known() && x[i].dims.known();
    PHI_CHECK(x[i].dims.ndim() == x[0].dims.ndim() && (x[i].dims == x[0].dims || !known),
              errors::InvalidArgument("{}[0] is {} and {}[{}] is {}: they must have one shape; "
                                      "reshape one of them.",
                                      name, x[0].to_string(), name, i, x[i].to_string()));
  }
}

std::vector<TensorMeta> taken_apart(const TensorMeta& x, int axis) {
  TensorMeta part{Dims(), x.dtype, x.layout};
  for (int d = 0; d < x.dims.ndim(); ++d) {
    if (d != axis) part.dims.push_back(x.dims[d]);
  }
  PHI_CHECK(x.dims[axis] != kUnknownDim,
            errors::InvalidArgument(
                "axis {} of {} determines the number of outputs, but its extent is not known yet.",
                axis, x.to_string()));
  return std::vector<TensorMeta>(static_cast<size_t>(x.dims[axis]), part);
}

// The number of columns that are read from each tensor of x.
int64_t columns_taken(std::span<const TensorMeta> x, int start_index, int length) {
  check_alike(x, "x");
  PHI_CHECK(x[0].dims.ndim() == 2,
            errors::InvalidArgument(
                "x[0] is {}, but columns are selected from matrices; reshape it to 2 tensor dims.",
                x[0].to_string()));
  const int64_t columns = x[0].dims[1];
  if (columns == kUnknownDim) return length < 0 ? kUnknownDim : length;
  const int64_t start = first_column(start_index, columns);
  const int64_t taken = length < 0 ? columns - start : length;
  PHI_CHECK(start >= 0 && start < columns && start + taken <= columns,
            errors::InvalidArgument("{} columns from start_index {} on are selected from x {}, "
                                    "which has {}; length -1 selects all that follow.",
                                    length, start_index, x[0].to_string(), columns));
  return taken;
}

}  // namespace

TensorMeta StackInferMeta(std::span<const TensorMeta> x, int axis) {
  check_alike(x, "x");
  const Dims& dims = x[0].dims;
  const int at = normalise_axis(axis, dims.ndim() + 1, dims);
  TensorMeta out{Dims(), x[0].dtype, x[0].layout};
  for (int d = 0; d <= dims.ndim(); ++d) {
    if (d == at) out.dims.push_back(static_cast<int64_t>(x.size()));
    if (d < dims.ndim()) out.dims.push_back(dims[d]);
  }
  return out;
}

std::vector<TensorMeta> UnstackInferMeta(const TensorMeta& x, int axis, int num) {
  const int at = normalise_axis(axis, x.dims.ndim(), x.dims);
  PHI_CHECK(num == x.dims[at],
            errors::InvalidArgument("num is {}, but axis {} of x {} has extent {}; pass that.", num,
                                    at, x.to_string(), x.dims[at]));
  return taken_apart(x, at);
}

std::vector<TensorMeta> UnbindInferMeta(const TensorMeta& input, int axis) {
  return taken_apart(input, normalise_axis(axis, input.dims.ndim(), input.dims));
}

std::vector<TensorMeta> BroadcastTensorsInferMeta(std::span<const TensorMeta> input) {
  check_one_dtype(input, "input");
  Dims all;
  for (const TensorMeta& x : input) all = broadcast_dims(all, x.dims, "input", "another of input");
  std::vector<TensorMeta> out(input.begin(), input.end());
  for (TensorMeta& x : out) x.dims = all;
  return out;
}

std::vector<TensorMeta> MeshgridInferMeta(std::span<const TensorMeta> inputs) {
  check_one_dtype(inputs, "inputs");
  Dims grid;
  for (size_t i = 0; i < inputs.size(); ++i) {
    PHI_CHECK(
        inputs[i].dims.ndim() <= 1,
        errors::InvalidArgument("inputs[{}] is {}, but each must be the coordinates along one "
                                "tensor dim; flatten it.",
                                i, inputs[i].to_string()));
    grid.push_back(inputs[i].dims.ndim() == 0 ? 1 : inputs[i].dims[0]);
  }
  std::vector<TensorMeta> out(inputs.begin(), inputs.end());
  for (TensorMeta& x : out) x.dims = grid;
  return out;
}

TensorMeta MultiplexInferMeta(std::span<const TensorMeta> inputs, const TensorMeta& index) {
  check_alike(inputs, "inputs");
  PHI_CHECK(
      inputs.size() > 1 && inputs[0].dims.ndim() > 1,
      errors::InvalidArgument(
          "inputs are {} of {}, but they must be at least 2 tensors of at least 2 tensor dims.",
          inputs.size(), inputs[0].to_string()));
  const bool integers = index.dtype == DataType::INT32 || index.dtype == DataType::INT64;
  const bool column = index.dims.ndim() == 2 && index.dims[1] == 1;
  const bool rows = column && (index.dims[0] == inputs[0].dims[0] || !index.dims.known() ||
                               inputs[0].dims[0] == kUnknownDim);
  PHI_CHECK(integers && rows,
            errors::InvalidArgument("index is {}, but it must be int32 or int64 of shape [{},1], "
                                    "one for each row of inputs.",
                                    index.to_string(), inputs[0].dims[0]));
  return inputs[0];
}

TensorMeta PartialConcatInferMeta(std::span<const TensorMeta> x, int start_index, int length) {
  const int64_t taken = columns_taken(x, start_index, length);
  TensorMeta out = x[0];
  out.dims[1] = extent_times(taken, static_cast<int64_t>(x.size()));
  return out;
}

TensorMeta PartialSumInferMeta(std::span<const TensorMeta> x, int start_index, int length) {
  const int64_t taken = columns_taken(x, start_index, length);
  TensorMeta out = x[0];
  out.dims[1] = taken;
  return out;
}

}  // namespace phi
