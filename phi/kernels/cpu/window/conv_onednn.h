// The products of a float32 convolution by oneDNN, which chooses blocked layouts and code for the
// shapes at hand (docs/kernels.md).
#pragma once

#include "phi/kernels/window/conv_problem.h"

namespace phi {

/// Whether oneDNN has this convolution and it is worth the layouts that it asks for.
bool onednn_takes(const ConvProblem& p);

/// As conv_forward and the others of conv_products.h; arrays lie as p.channels_last says.
void onednn_conv_forward(const ConvProblem& p, const float* image, const float* filter,
                         float* result);
void onednn_conv_image_grad(const ConvProblem& p, const float* result_grad, const float* filter,
                            float* image_grad);
void onednn_conv_filter_grad(const ConvProblem& p, const float* image, const float* result_grad,
                             float* filter_grad);

}  // namespace phi
