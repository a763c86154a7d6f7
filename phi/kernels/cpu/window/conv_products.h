// The products of a convolution by columns: windows are laid out side by side, and a matrix product
// does the rest. Any dtype, any attributes; images have their channels first.
#pragma once

#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/workspace.h"
#include "phi/kernels/window/conv_problem.h"

namespace phi {

/// result[n, m, positions] = the convolution of image[n, c, pixels].
template <typename T>
void conv_forward(const ConvProblem& p, const T* image, const T* filter, T* result);

/// image_grad[n, c, pixels]: what is left in it before is lost.
template <typename T>
void conv_image_grad(const ConvProblem& p, const T* result_grad, const T* filter, T* image_grad);

/// filter_grad[m, c / groups, taps], likewise.
template <typename T>
void conv_filter_grad(const ConvProblem& p, const T* image, const T* result_grad, T* filter_grad);

}  // namespace phi
