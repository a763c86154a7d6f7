// Image windows as factors: n images, c channels.
#include "distributed/spmd/rules/windowed.h"

#include <algorithm>

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

FactorNames whole(int ndim) {
  FactorNames names;
  while (names.size() < ndim) names.push_back('_');
  return names;
}

// Names with only n splittable.
FactorNames batch(int ndim) {
  FactorNames names = whole(ndim);
  if (ndim > 0) names[0] = 'n';
  return names;
}

// Names with n, and c at its position in the format. A tensor that is no image is whole.
FactorNames window_image_names(int ndim, const std::string& data_format = "NCHW") {
  if (ndim < 3) return whole(ndim);
  FactorNames names = batch(ndim);
  const bool last = !data_format.empty() && data_format.back() == 'C';
  names[last ? ndim - 1 : 1] = 'c';
  return names;
}

Factors& linear(Factors& rule) { return rule.pass_partial(PartialFlow::kOne, kLinearKinds); }

// In interpolation every format other than "NCHW" has its channels last.
FactorNames interpolated(int ndim, const std::string& data_format) {
  return window_image_names(ndim, data_format == "NCHW" ? "NCHW" : "NHWC");
}

// Factors of a grid's spatial positions, from "hwd".
std::string_view places(int ndim) {
  return std::string_view("hwd").substr(0, static_cast<size_t>(std::clamp(ndim - 2, 0, 3)));
}
FactorNames grid_names(int ndim) {
  FactorNames names("n");
  for (char place : places(ndim)) names.push_back(place);
  names.push_back('_');
  return names;
}
FactorNames sampled_names(int ndim) {
  FactorNames names("nc");
  for (char place : places(ndim)) names.push_back(place);
  return names;
}

Factors sampling(const TensorSpec& x, const TensorSpec& grid) {
  PHI_CHECK((x.ndim() == 4 || x.ndim() == 5) && grid.ndim() == x.ndim(),
            errors::InvalidArgument("x is {} and grid {}, but both must have 4 tensor dims, or "
                                    "both 5.",
                                    x.shape.to_string(), grid.shape.to_string()));
  Factors rule;
  return rule.input(x, window_image_names(x.ndim())).input(grid, grid_names(grid.ndim()));
}

Factors window_columns(const TensorSpec& x, int64_t channels, const FactorNames& names) {
  Factors rule;
  return rule.any_size("c").divides('c', channels).input(x, names);
}

}  // namespace

SpmdRule PoolInferSpmd(const TensorSpec& x, const std::string& data_format,
                       const std::string& pooling_type) {
  const FactorNames names = window_image_names(x.ndim(), data_format);
  Factors rule;
  rule.input(x, names).output(names);
  return pooling_type == "avg" ? linear(rule) : rule;
}

SpmdRule PoolGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                           const std::string& data_format) {
  Factors rule;
  rule.input(x, window_image_names(x.ndim(), data_format))
      .input(out_grad, window_image_names(out_grad.ndim(), data_format));
  return rule.output_like(0);
}

SpmdRule LpPoolInferSpmd(const TensorSpec& x, const std::string& data_format) {
  const FactorNames names = window_image_names(x.ndim(), data_format);
  return Factors().input(x, names).output(names);
}

SpmdRule LpPoolGradInferSpmd(const TensorSpec& x, const TensorSpec& out, const TensorSpec& out_grad,
                             const std::string& data_format) {
  Factors rule;
  rule.input(x, window_image_names(x.ndim(), data_format))
      .input(out, window_image_names(out.ndim(), data_format));
  return rule.input(out_grad, window_image_names(out_grad.ndim(), data_format)).output_like(0);
}

SpmdRule MaxPoolWithIndexInferSpmd(const TensorSpec& x) {
  const FactorNames names = window_image_names(x.ndim());
  return Factors().input(x, names).output(names).output(names);
}

SpmdRule MaxPoolWithIndexGradInferSpmd(const TensorSpec& x, const TensorSpec& mask,
                                       const TensorSpec& out_grad) {
  Factors rule;
  rule.input(x, window_image_names(x.ndim())).input(mask, window_image_names(mask.ndim()));
  return rule.input(out_grad, window_image_names(out_grad.ndim())).output_like(0);
}

SpmdRule UnpoolInferSpmd(const TensorSpec& x, const TensorSpec& indices) {
  const FactorNames names = window_image_names(x.ndim());
  return Factors().input(x, names).input(indices, window_image_names(indices.ndim())).output(names);
}

SpmdRule UnfoldInferSpmd(const TensorSpec& x) {
  PHI_CHECK(x.ndim() == 4, errors::InvalidArgument("x is {}, but unfold expects [n, c, h, w].",
                                                   x.shape.to_string()));
  Factors rule = window_columns(x, x.shape[1], window_image_names(4));
  return linear(rule.output("nc_"));
}

SpmdRule FoldInferSpmd(const TensorSpec& x, const std::vector<int>& kernel_sizes) {
  int64_t taps = 1;
  for (int size : kernel_sizes) taps *= size;
  PHI_CHECK(
      x.ndim() == 3 && taps > 0 && x.shape[1] % taps == 0,
      errors::InvalidArgument("x is {}, but fold expects [n, channels of {} taps each, positions].",
                              x.shape.to_string(), taps));
  Factors rule = window_columns(x, x.shape[1] / taps, window_image_names(3));
  return linear(rule.output("nc__"));
}

SpmdRule InterpInferSpmd(const TensorSpec& x, const TensorSpec* out_size,
                         std::span<const TensorSpec> size_tensor, const TensorSpec* scale_tensor,
                         const std::string& data_format) {
  // If a kernel computes the output shape from tensors, the shape is known only for whole outputs.
  const bool found = out_size || scale_tensor || !size_tensor.empty();
  const FactorNames names = found ? whole(x.ndim()) : interpolated(x.ndim(), data_format);
  Factors rule;
  rule.input(x, names);
  const auto optional = [&](const TensorSpec* tensor) {
    tensor ? rule.input(*tensor, whole(tensor->ndim())) : rule.absent_input();
  };
  optional(out_size);
  for (const TensorSpec& size : size_tensor) optional(&size);
  optional(scale_tensor);
  rule.output(names);
  return found ? rule : linear(rule);
}

SpmdRule InterpGradInferSpmd(const TensorSpec& x, const TensorSpec* scale_tensor,
                             const TensorSpec& output_grad, const std::string& data_format) {
  Factors rule;
  rule.input(x, interpolated(x.ndim(), data_format));
  scale_tensor ? rule.input(*scale_tensor, whole(scale_tensor->ndim())) : rule.absent_input();
  return rule.input(output_grad, interpolated(output_grad.ndim(), data_format)).output_like(0);
}

SpmdRule GridSampleInferSpmd(const TensorSpec& x, const TensorSpec& grid) {
  return sampling(x, grid).output(sampled_names(x.ndim()));
}

SpmdRule GridSampleGradInferSpmd(const TensorSpec& x, const TensorSpec& grid,
                                 const TensorSpec& out_grad) {
  Factors rule = sampling(x, grid);
  return rule.input(out_grad, sampled_names(x.ndim())).output_like(0).output_like(1);
}

SpmdRule AffineGridInferSpmd(const TensorSpec& input, const IntArray& output_shape) {
  Factors rule;
  rule.input(input, batch(input.ndim()));
  return linear(rule.output(batch(output_shape.size())));
}

SpmdRule AffineGridGradInferSpmd(const TensorSpec& input, const TensorSpec& output_grad) {
  Factors rule;
  rule.input(input, batch(input.ndim()));
  return rule.input(output_grad, batch(output_grad.ndim())).output_like(0);
}

}  // namespace phi::distributed
