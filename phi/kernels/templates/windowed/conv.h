// Convolutions and transposed convolutions with their gradients, over two or three spatial dims.
// Device primitives: convolve, image_grad and filter_grad of a ConvProblem.
//
// If input channels are sharded, each rank sums over its own; the sum over ranks is the result.
#pragma once

#include <string>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/conv.h"
#include "phi/kernels/templates/data_of.h"
#include "phi/kernels/windowed/conv_problem.h"

namespace phi {

/// The shape functions report all errors.
template <typename T, typename Context>
void ConvKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& filter,
                const std::vector<int>& strides, const std::vector<int>& paddings,
                const std::string& padding_algorithm, const std::vector<int>& dilations,
                int /*groups*/, const std::string& data_format, DenseTensor* out) {
  const ConvProblem p =
      conv_problem(input.dims(), out->dims(), filter.dims(), input.dims(),
                   {strides, paddings, padding_algorithm, dilations}, data_format);
  convolve<T>(ctx, p, data_of<T>(ctx, input), data_of<T>(ctx, filter),
              mutable_data_of<T>(ctx, out));
}

/// Either gradient may be null.
template <typename T, typename Context>
void ConvGradKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& filter,
                    const DenseTensor& out_grad, const std::vector<int>& strides,
                    const std::vector<int>& paddings, const std::string& padding_algorithm,
                    const std::vector<int>& dilations, int /*groups*/,
                    const std::string& data_format, DenseTensor* input_grad,
                    DenseTensor* weights_grad) {
  const ConvProblem p =
      conv_problem(input.dims(), out_grad.dims(), filter.dims(), input.dims(),
                   {strides, paddings, padding_algorithm, dilations}, data_format);
  const T* g = data_of<T>(ctx, out_grad);
  if (input_grad)
    image_grad<T>(ctx, p, g, data_of<T>(ctx, filter), mutable_data_of<T>(ctx, input_grad));
  if (weights_grad)
    filter_grad<T>(ctx, p, data_of<T>(ctx, input), g, mutable_data_of<T>(ctx, weights_grad));
}

/// The gradient of a convolution by its image, where x is the gradient of its result.
template <typename T, typename Context>
void ConvTransposeKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& filter,
                         const std::vector<int>& strides, const std::vector<int>& paddings,
                         const std::string& padding_algorithm, const std::vector<int>& dilations,
                         int /*groups*/, const std::string& data_format, DenseTensor* out) {
  const ConvProblem p =
      conv_problem(out->dims(), x.dims(), filter.dims(), x.dims(),
                   {strides, paddings, padding_algorithm, dilations}, data_format);
  image_grad<T>(ctx, p, data_of<T>(ctx, x), data_of<T>(ctx, filter), mutable_data_of<T>(ctx, out));
}

template <typename T, typename Context>
void ConvTransposeGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& filter,
                             const DenseTensor& out_grad, const std::vector<int>& strides,
                             const std::vector<int>& paddings, const std::string& padding_algorithm,
                             const std::vector<int>& dilations, int /*groups*/,
                             const std::string& data_format, DenseTensor* x_grad,
                             DenseTensor* weights_grad) {
  const ConvProblem p =
      conv_problem(out_grad.dims(), x.dims(), filter.dims(), x.dims(),
                   {strides, paddings, padding_algorithm, dilations}, data_format);
  const T* g = data_of<T>(ctx, out_grad);
  if (x_grad) convolve<T>(ctx, p, g, data_of<T>(ctx, filter), mutable_data_of<T>(ctx, x_grad));
  if (weights_grad)
    filter_grad<T>(ctx, p, g, data_of<T>(ctx, x), mutable_data_of<T>(ctx, weights_grad));
}

PHI_REGISTER_KERNEL(conv, PHI_DEVICE, ConvKernel, Floats);
PHI_REGISTER_KERNEL(conv_grad, PHI_DEVICE, ConvGradKernel, Floats);
PHI_REGISTER_KERNEL(conv_transpose, PHI_DEVICE, ConvTransposeKernel, Floats);
PHI_REGISTER_KERNEL(conv_transpose_grad, PHI_DEVICE, ConvTransposeGradKernel, Floats);

}  // namespace phi
