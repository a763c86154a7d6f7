// Gradients of data-movement operators, composed of other operators.
#include "api/autograd/composites/data_movement.h"

#include <algorithm>

#include "api/generated/ops/channel_shuffle.h"
#include "api/generated/ops/crop.h"
#include "api/generated/ops/equal.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/full_like.h"
#include "api/generated/ops/pad.h"
#include "api/generated/ops/reduce_as.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/roll.h"
#include "api/generated/ops/split_with_num.h"
#include "api/generated/ops/sum.h"
#include "api/generated/ops/unbind.h"
#include "api/generated/ops/where.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/channels.h"

namespace phi::composite {
namespace {

Tensor nothing_like(const Tensor& x) { return full_like(x, 0.0); }

// In reshape an extent of 0 means the input's extent, so gradients of empty tensors are made by
// other means.
bool has_no_elements(const Tensor& x) { return x.shape().known() && x.numel() == 0; }

// Sums over the repetitions in tensor dim `axis`, which is viewed as two dims [before, after];
// `summed_axis` is the one that is summed.
Tensor sum_over_repeats(const Tensor& grad, int axis, int64_t before, int64_t after,
                        int summed_axis) {
  Dims apart;
  for (int d = 0; d < grad.ndim(); ++d) {
    if (d == axis) apart.push_back(before);
    apart.push_back(d == axis ? after : grad.shape()[d]);
  }
  return sum(reshape(grad, apart), {summed_axis}, grad.dtype(), /*keepdim=*/false);
}

// A tensor with x's columns: out_grad from column start_index on, zeros elsewhere.
Tensor among_columns(const Tensor& x, const Tensor& out_grad, int start_index) {
  const int64_t columns = x.shape()[1];
  const int64_t start = start_index < 0 ? start_index + columns : start_index;
  const auto after = static_cast<int>(columns - start - out_grad.shape()[1]);
  return pad(out_grad, {0, 0, static_cast<int>(start), after}, 0.0);
}

}  // namespace

Tensor roll_grad(const Tensor& out_grad, const IntArray& shifts, const std::vector<int64_t>& axis) {
  std::vector<int64_t> back;
  // A shift is reduced modulo the number of elements, which changes no result, because the lowest
  // int64_t cannot be negated.
  const int64_t around = std::max<int64_t>(1, out_grad.numel());
  for (int64_t shift : shifts.values()) back.push_back(-(shift % around));
  return roll(out_grad, back, axis);
}

Tensor tile_grad(const Tensor& x, const Tensor& out_grad, const IntArray& repeat_times) {
  if (has_no_elements(x) || has_no_elements(out_grad)) return nothing_like(x);
  Tensor grad = out_grad;
  for (int back = 1; back <= repeat_times.size(); ++back) {
    const int64_t copies = repeat_times[repeat_times.size() - back];
    const int d = out_grad.ndim() - back;
    if (copies != 1) grad = sum_over_repeats(grad, d, copies, grad.shape()[d] / copies, d);
  }
  return grad.shape() == x.shape() ? grad : reshape(grad, x.shape());
}

Tensor repeat_interleave_grad(const Tensor& x, const Tensor& out_grad, int repeats, int axis) {
  if (has_no_elements(x)) return nothing_like(x);
  const int d = normalise_axis(axis, x.ndim(), x.shape());
  return sum_over_repeats(out_grad, d, x.shape()[d], repeats, d + 1);
}

Tensor crop_grad(const Tensor& x, const Tensor& out_grad, const IntArray& offsets) {
  std::vector<int> paddings;
  for (int d = 0; d < x.ndim(); ++d) {
    paddings.push_back(static_cast<int>(offsets[d]));
    paddings.push_back(static_cast<int>(x.shape()[d] - offsets[d] - out_grad.shape()[d]));
  }
  return pad(out_grad, paddings, 0.0);
}

Tensor pad_grad(const Tensor& x, const Tensor& out_grad, const std::vector<int>& paddings) {
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < paddings.size(); i += 2) offsets.push_back(paddings[i]);
  return crop(out_grad, x.shape(), offsets);
}

Tensor channel_shuffle_grad(const Tensor& out_grad, int groups, const std::string& data_format) {
  const int64_t channels = out_grad.shape()[image_dims(data_format).channels];
  const auto others = static_cast<int>(std::max<int64_t>(1, channels / groups));
  return channel_shuffle(out_grad, others, data_format);
}

TensorList stack_grad(const TensorList& /*x*/, const Tensor& out_grad, int axis) {
  return unbind(out_grad, axis);
}

TensorList broadcast_tensors_grad(const TensorList& input, const TensorList& out_grad) {
  TensorList grads;
  for (size_t i = 0; i < input.size(); ++i) {
    const bool same = input[i].shape() == out_grad[i].shape();
    grads.push_back(same ? out_grad[i] : reduce_as(out_grad[i], input[i]));
  }
  return grads;
}

TensorList meshgrid_grad(const TensorList& inputs, const TensorList& out_grad) {
  TensorList grads;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (has_no_elements(inputs[i])) {
      grads.push_back(nothing_like(inputs[i]));
      continue;
    }
    std::vector<int64_t> others;
    for (size_t d = 0; d < inputs.size(); ++d) {
      if (d != i || inputs[i].ndim() == 0) others.push_back(static_cast<int64_t>(d));
    }
    // With no axes, sum would reduce all dims.
    grads.push_back(others.empty() ? out_grad[i]
                                   : sum(out_grad[i], others, out_grad[i].dtype(), false));
  }
  return grads;
}

TensorList multiplex_grad(const TensorList& inputs, const Tensor& index, const Tensor& out_grad) {
  if (has_no_elements(out_grad)) {
    TensorList nothing;
    for (const Tensor& x : inputs) nothing.push_back(nothing_like(x));
    return nothing;
  }
  Dims column = Dims::filled(out_grad.ndim(), 1);
  column[0] = index.shape()[0];
  const Tensor chosen = reshape(index, column);
  const Tensor nothing = nothing_like(out_grad);
  TensorList grads;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor here = equal(chosen, full({1}, static_cast<int64_t>(i), index.dtype()));
    grads.push_back(where(here, out_grad, nothing));
  }
  return grads;
}

TensorList partial_concat_grad(const TensorList& x, const Tensor& out_grad, int start_index) {
  TensorList grads;
  for (const Tensor& part : split_with_num(out_grad, static_cast<int>(x.size()), 1)) {
    grads.push_back(among_columns(x[grads.size()], part, start_index));
  }
  return grads;
}

TensorList partial_sum_grad(const TensorList& x, const Tensor& out_grad, int start_index) {
  TensorList grads;
  for (const Tensor& part : x) grads.push_back(among_columns(part, out_grad, start_index));
  return grads;
}

}  // namespace phi::composite
