// Flips, shifts, crops and pads, diagonals and lists as factors.
#include "distributed/spmd/rules/data_movement.h"

#include <algorithm>

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

SpmdRule moved_as(const TensorSpec& x, const FactorNames& names) {
  Factors rule;
  return rule.input(x, names).output(names).pass_any_partial();
}

template <typename Axes>
FactorNames whole_along(const TensorSpec& x, const Axes& axes) {
  FactorNames names(dim_names(x.ndim()));
  for (int64_t axis : axes) names[normal_axis(axis, x.ndim())] = '_';
  return names;
}

// The names of x, with '_' for the depth, height and width dims that pad3d pads.
FactorNames pad3d_names(const TensorSpec& x, const IntArray& paddings,
                        const std::string& data_format) {
  PHI_CHECK(x.ndim() == 5 && paddings.size() == 6,
            errors::InvalidArgument("x is {} and there are {} paddings; 5 dims and 6 are needed.",
                                    x.shape.to_string(), paddings.size()));
  const int last = data_format == "NDHWC" ? 3 : 4;
  FactorNames names(dim_names(5));
  for (int k = 0; k < 3; ++k) {
    if (paddings[2 * k] != 0 || paddings[2 * k + 1] != 0) names[last - k] = '_';
  }
  return names;
}

struct UnfoldFactors {
  FactorNames input;
  FactorNames out;
};

UnfoldFactors windows(const TensorSpec& input, int64_t axis) {
  UnfoldFactors names{names_without(input.ndim(), axis), {}};
  for (int d = 0; d < input.ndim(); ++d) names.out.push_back(names.input[d]);
  names.out.push_back('_');
  return names;
}

struct DiagonalFactors {
  FactorNames matrices;
  FactorNames diagonal;  // the other dims, then '_'
};

DiagonalFactors diagonals(int ndim, int axis1, int axis2) {
  const int rows = normal_axis(axis1, ndim);
  const int columns = normal_axis(axis2, ndim);
  DiagonalFactors names;
  for (int d = 0; d < ndim; ++d) {
    const bool whole = d == rows || d == columns;
    names.matrices.push_back(whole ? '_' : dim_names(ndim)[d]);
    if (!whole) names.diagonal.push_back(names.matrices[d]);
  }
  names.diagonal.push_back('_');
  return names;
}

int channels_of(const TensorSpec& x, const std::string& data_format) {
  PHI_CHECK(x.ndim() == 4,
            errors::InvalidArgument("x is {}; images have 4 dims.", x.shape.to_string()));
  return data_format == "NHWC" ? 3 : 1;
}

// Batch 'n' and channels 'c'; `channels` is the smaller of the input's and the output's channel
// counts.
SpmdRule pixels(const TensorSpec& x, int channel_dim, int64_t channels) {
  FactorNames names("n___");
  names[channel_dim] = 'c';
  Factors rule;
  rule.any_size("c").divides('c', channels);
  return rule.input(x, names).output(names).pass_any_partial();
}

// Inputs keep their splits. The result is equal on every rank, so it is whole.
SpmdRule told_of(const TensorSpec& x, std::string_view out) {
  const auto names = dim_names(x.ndim());
  return Factors().input(x, names).output(out).combined(names);
}

}  // namespace

SpmdRule FlipInferSpmd(const TensorSpec& x, const std::vector<int>& axis) {
  return moved_as(x, whole_along(x, axis));
}

SpmdRule ReverseInferSpmd(const TensorSpec& x, const IntArray& axis) {
  return moved_as(x, whole_along(x, axis.values()));
}

SpmdRule RepeatInterleaveInferSpmd(const TensorSpec& x, int axis) {
  return moved_as(x, names_without(x.ndim(), axis));
}

SpmdRule CropInferSpmd(const TensorSpec& x, const IntArray& shape, const IntArray& offsets) {
  PHI_CHECK(shape.size() == x.ndim() && offsets.size() == x.ndim(),
            errors::InvalidArgument("shape {} and offsets {} are given for {}; give one per dim.",
                                    shape.to_string(), offsets.to_string(), x.shape.to_string()));
  FactorNames names(dim_names(x.ndim()));
  for (int d = 0; d < x.ndim(); ++d) {
    const bool all = offsets[d] == 0 && (shape[d] == -1 || shape[d] == x.shape[d]);
    if (!all) names[d] = '_';
  }
  return moved_as(x, names);
}

SpmdRule Pad3dInferSpmd(const TensorSpec& x, const IntArray& paddings, const std::string& mode,
                        double pad_value, const std::string& data_format) {
  const FactorNames names = pad3d_names(x, paddings, data_format);
  if (mode != "constant") return moved_as(x, names);
  Factors rule;
  rule.input(x, names).output(names);
  // Padding with zeros is linear.
  if (pad_value == 0) rule.pass_partial(PartialFlow::kEvery, kLinearKinds);
  return rule;
}

SpmdRule Pad3dGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                            const IntArray& paddings, const std::string& data_format) {
  const FactorNames names = pad3d_names(x, paddings, data_format);
  return Factors().input(x, names).input(out_grad, names).output_like(0);
}

SpmdRule TensorUnfoldInferSpmd(const TensorSpec& input, int64_t axis) {
  const UnfoldFactors names = windows(input, axis);
  Factors rule;
  return rule.input(input, names.input).output(names.out).pass_any_partial();
}

SpmdRule TensorUnfoldGradInferSpmd(const TensorSpec& input, const TensorSpec& out_grad,
                                   int64_t axis) {
  const UnfoldFactors names = windows(input, axis);
  return Factors().input(input, names.input).input(out_grad, names.out).output_like(0);
}

SpmdRule ViewDtypeInferSpmd(const TensorSpec& input) {
  const FactorNames names = names_without(input.ndim(), -1);
  return Factors().input(input, names).output(names);
}

SpmdRule ViewSliceInferSpmd(const TensorSpec& input) {
  return moved_as(input, names_without(input.ndim(), 0));
}

SpmdRule DiagonalInferSpmd(const TensorSpec& x, int axis1, int axis2) {
  const DiagonalFactors names = diagonals(x.ndim(), axis1, axis2);
  Factors rule;
  return rule.input(x, names.matrices).output(names.diagonal).pass_any_partial();
}

SpmdRule DiagonalGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis1,
                               int axis2) {
  const DiagonalFactors names = diagonals(x.ndim(), axis1, axis2);
  return Factors().input(x, names.matrices).input(out_grad, names.diagonal).output_like(0);
}

SpmdRule DiagEmbedInferSpmd(const TensorSpec& input, int dim1, int dim2) {
  const DiagonalFactors names = diagonals(input.ndim() + 1, dim1, dim2);
  Factors rule;
  rule.input(input, names.diagonal).output(names.matrices);
  return rule.pass_partial(PartialFlow::kEvery, kLinearKinds);
}

SpmdRule FillDiagonalTensorInferSpmd(const TensorSpec& x, const TensorSpec& y, int dim1, int dim2) {
  const DiagonalFactors names = diagonals(x.ndim(), dim1, dim2);
  Factors rule;
  rule.input(x, names.matrices).input(y, names.diagonal).output(names.matrices);
  return rule.pass_any_partial();
}

SpmdRule BroadcastTensorsInferSpmd(std::span<const TensorSpec> input) {
  int ndim = 0;
  for (const TensorSpec& x : input) ndim = std::max(ndim, x.ndim());
  const auto all = Factors::batch(ndim);
  Factors rule;
  for (const TensorSpec& x : input) rule.input(x, all, "");
  for (size_t i = 0; i < input.size(); ++i) rule.output(all, "");
  return rule;
}

SpmdRule MeshgridInferSpmd(std::span<const TensorSpec> inputs) {
  const auto names = dim_names(static_cast<int>(inputs.size()));
  FactorNames grid(names);
  Factors rule;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].ndim() == 0) grid[static_cast<int>(i)] = '_';
    rule.input(inputs[i], inputs[i].ndim() == 0 ? std::string_view() : names.substr(i, 1));
  }
  for (size_t i = 0; i < inputs.size(); ++i) rule.output(grid);
  return rule;
}

SpmdRule MultiplexInferSpmd(std::span<const TensorSpec> inputs, const TensorSpec& index) {
  PHI_CHECK(!inputs.empty() && inputs[0].ndim() > 0,
            errors::InvalidArgument("inputs has no rows to choose from."));
  const auto names = dim_names(inputs[0].ndim());
  Factors rule;
  for (const TensorSpec& x : inputs) rule.input(x, names);
  return rule.input(index, FactorNames("a_")).output(names);
}

SpmdRule PartialColumnsInferSpmd(std::span<const TensorSpec> x) {
  Factors rule;
  for (const TensorSpec& part : x) rule.input(part, "a_");
  return rule.output("a_").pass_partial(PartialFlow::kEvery, kLinearKinds);
}

SpmdRule ChannelShuffleInferSpmd(const TensorSpec& x, const std::string& data_format) {
  return moved_as(x, names_without(4, channels_of(x, data_format)));
}

SpmdRule PixelShuffleInferSpmd(const TensorSpec& x, int upscale_factor,
                               const std::string& data_format) {
  const int dim = channels_of(x, data_format);
  const int64_t square = std::max<int64_t>(1, int64_t{upscale_factor} * upscale_factor);
  return pixels(x, dim, x.shape[dim] / square);
}

SpmdRule PixelUnshuffleInferSpmd(const TensorSpec& x, int /*downscale_factor*/,
                                 const std::string& data_format) {
  const int dim = channels_of(x, data_format);
  return pixels(x, dim, x.shape[dim]);
}

SpmdRule TemporalShiftInferSpmd(const TensorSpec& x, int seg_num) {
  PHI_CHECK(x.ndim() > 0 && seg_num > 0,
            errors::InvalidArgument("x {} does not consist of segments of {} frames.",
                                    x.shape.to_string(), seg_num));
  const auto names = dim_names(x.ndim());
  Factors rule;
  rule.any_size("a").divides('a', x.shape[0] / seg_num);
  rule.input(x, names).output(names);
  return rule.pass_partial(PartialFlow::kEvery, kLinearKinds);
}

SpmdRule ShapeInferSpmd(const TensorSpec& input) { return told_of(input, "_"); }
SpmdRule NumelInferSpmd(const TensorSpec& x) { return told_of(x, ""); }

SpmdRule FullBatchSizeLikeInferSpmd(const TensorSpec& input, const std::vector<int>& shape,
                                    int input_dim_idx, int output_dim_idx) {
  const auto names = dim_names(input.ndim());
  const int ndim = static_cast<int>(shape.size());
  FactorNames out;
  for (int d = 0; d < ndim; ++d) out.push_back('_');
  const int from = normal_axis(input_dim_idx, input.ndim(), "input_dim_idx");
  out[normal_axis(output_dim_idx, ndim, "output_dim_idx")] = names[static_cast<size_t>(from)];
  return Factors().input(input, names).output(out).combined(names);
}

}  // namespace phi::distributed
