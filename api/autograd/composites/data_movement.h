// Gradients of data-movement operators, composed of other operators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/tensor/tensor.h"
#include "phi/core/attribute.h"

namespace phi::composite {

Tensor roll_grad(const Tensor& out_grad, const IntArray& shifts, const std::vector<int64_t>& axis);
Tensor tile_grad(const Tensor& x, const Tensor& out_grad, const IntArray& repeat_times);
Tensor repeat_interleave_grad(const Tensor& x, const Tensor& out_grad, int repeats, int axis);
Tensor crop_grad(const Tensor& x, const Tensor& out_grad, const IntArray& offsets);
Tensor pad_grad(const Tensor& x, const Tensor& out_grad, const std::vector<int>& paddings);
Tensor channel_shuffle_grad(const Tensor& out_grad, int groups, const std::string& data_format);

TensorList stack_grad(const TensorList& x, const Tensor& out_grad, int axis);
TensorList broadcast_tensors_grad(const TensorList& input, const TensorList& out_grad);
TensorList meshgrid_grad(const TensorList& inputs, const TensorList& out_grad);
TensorList multiplex_grad(const TensorList& inputs, const Tensor& index, const Tensor& out_grad);
TensorList partial_concat_grad(const TensorList& x, const Tensor& out_grad, int start_index);
TensorList partial_sum_grad(const TensorList& x, const Tensor& out_grad, int start_index);

}  // namespace phi::composite
