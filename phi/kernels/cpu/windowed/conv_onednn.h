// The matmuls of a float32 convolution by oneDNN, which chooses blocked layouts and code for the
// given shapes (docs/kernel_algorithms.md).
#pragma once

#include "phi/kernels/windowed/conv_problem.h"

namespace phi {

/// Whether oneDNN supports this convolution and the convolution is large enough to pay for the
/// conversion to oneDNN's layouts.
bool onednn_takes(const ConvProblem& p);

/// Same contracts as conv_forward and the others of conv_gemm.h. p.channels_last selects the
/// layout of the arrays.
void onednn_conv_forward(const ConvProblem& p, const float* image, const float* filter,
                         float* result);
void onednn_conv_image_grad(const ConvProblem& p, const float* result_grad, const float* filter,
                            float* image_grad);
void onednn_conv_filter_grad(const ConvProblem& p, const float* image, const float* result_grad,
                             float* filter_grad);

}  // namespace phi
