// The matmuls of a convolution by columns: windows are copied side by side (im2col), and a matmul
// does the rest. Any dtype and any attributes; images have their channels first.
#pragma once

#include "phi/core/storage/planned_scratch.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/workspace.h"
#include "phi/kernels/windowed/conv_problem.h"

namespace phi {

// Each plan states the scratch memory of the function that it is named after.

/// Sets result[n, m, positions] to the convolution of image[n, c, pixels].
template <typename T>
void conv_forward(const ConvProblem& p, const T* image, const T* filter, T* result);
template <typename T>
void plan_conv_forward(const ConvProblem& p, PlannedScratch* scratch);

/// Sets image_grad[n, c, pixels]; earlier contents are overwritten.
template <typename T>
void conv_image_grad(const ConvProblem& p, const T* result_grad, const T* filter, T* image_grad);
template <typename T>
void plan_conv_image_grad(const ConvProblem& p, PlannedScratch* scratch);

/// Sets filter_grad[m, c / groups, taps]; earlier contents are overwritten.
template <typename T>
void conv_filter_grad(const ConvProblem& p, const T* image, const T* result_grad, T* filter_grad);
template <typename T>
void plan_conv_filter_grad(const ConvProblem& p, PlannedScratch* scratch);

}  // namespace phi
