// Recurrent networks and gradients of alignment losses, composed of other operators.
#include "api/autograd/composites/sequence.h"

#include "api/generated/ops/add.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/divide.h"
#include "api/generated/ops/dropout.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/full_like.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/recurrent_layer.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/slice.h"
#include "api/generated/ops/unsqueeze.h"
#include "phi/common/errors.h"

namespace phi::composite {
namespace {

/// The stack of layers that rnn's attributes describe.
struct Stack {
  int layers;
  int directions;
  int64_t hidden;
  std::string mode;
  int states() const { return mode == "LSTM" ? 2 : 1; }
  int cells() const { return layers * directions; }
};

void check_rnn(const Stack& stack, const Tensor& x, const TensorList& pre_state,
               const TensorList& weight_list, int input_size) {
  PHI_CHECK(x.ndim() == 3 && x.shape()[2] == input_size,
            errors::InvalidArgument("x is {} and input_size {}; x must be [steps, batch, "
                                    "input_size].",
                                    x.shape().to_string(), input_size));
  PHI_CHECK(static_cast<int>(pre_state.size()) == stack.states(),
            errors::InvalidArgument("pre_state has {} tensors, but mode {} has {}.",
                                    pre_state.size(), stack.mode, stack.states()));
  const Dims expected{stack.cells(), x.shape()[1], stack.hidden};
  for (const Tensor& state : pre_state) {
    PHI_CHECK(state.shape() == expected,
              errors::InvalidArgument("a tensor of pre_state is {}; for x {} and {} layers in {} "
                                      "directions it must be {}.",
                                      state.shape().to_string(), x.shape().to_string(),
                                      stack.layers, stack.directions, expected.to_string()));
  }
  PHI_CHECK(static_cast<int>(weight_list.size()) == 4 * stack.cells(),
            errors::InvalidArgument("weight_list has {} tensors, but {} layers in {} directions "
                                    "have {}: two weights and two biases each.",
                                    weight_list.size(), stack.layers, stack.directions,
                                    4 * stack.cells()));
}

/// State number `cell`, [batch, hidden].
Tensor state_of(const Tensor& states, int cell) {
  return slice(states, {0}, {cell}, {cell + 1}, {}, {0});
}

struct Passed {
  Tensor out;
  Tensor hidden;
  std::optional<Tensor> cell;
};

Passed pass(const Stack& stack, const Tensor& x, const TensorList& pre_state,
            const TensorList& weights, const std::optional<Tensor>& lengths, int number) {
  const size_t first = 2 * static_cast<size_t>(number);
  const size_t biases = 2 * static_cast<size_t>(stack.cells()) + first;
  const Tensor gates = add(matmul(x, weights[first], false, true), weights[biases]);
  std::optional<Tensor> cell;
  if (stack.states() == 2) cell = state_of(pre_state[1], number);
  auto [out, hidden, last_cell] =
      recurrent_layer(gates, state_of(pre_state[0], number), cell, weights[first + 1],
                      weights[biases + 1], lengths, stack.mode, number % stack.directions == 1);
  return {out, unsqueeze(hidden, {0}),
          cell ? std::optional(unsqueeze(last_cell, {0})) : std::nullopt};
}

/// The size along the last tensor dim.
int width_of(const Tensor& x, const char* name) {
  PHI_CHECK(x.ndim() == 3, errors::InvalidArgument("{} is {}, but it must have 3 tensor dims.",
                                                   name, x.shape().to_string()));
  return static_cast<int>(x.shape()[2]);
}

Tensor joined(const TensorList& parts, int axis) {
  return parts.size() == 1 ? parts[0] : concat(parts, axis);
}

}  // namespace

std::tuple<Tensor, Tensor, TensorList> rnn(const Tensor& x, const TensorList& pre_state,
                                           const TensorList& weight_list,
                                           const std::optional<Tensor>& sequence_length,
                                           const Tensor&, float dropout_prob, bool is_bidirec,
                                           int input_size, int hidden_size, int num_layers,
                                           const std::string& mode, const std::optional<int>& seed,
                                           bool is_test) {
  const Stack stack{num_layers, is_bidirec ? 2 : 1, hidden_size, mode};
  check_rnn(stack, x, pre_state, weight_list, input_size);
  Tensor out = x;
  TensorList hidden;
  TensorList cells;
  for (int layer = 0; layer < num_layers; ++layer) {
    if (layer > 0 && dropout_prob > 0 && !is_test)
      out = dropout(out, std::nullopt, dropout_prob, false, "upscale_in_train", seed);
    TensorList parts;
    for (int d = 0; d < stack.directions; ++d) {
      const Passed passed =
          pass(stack, out, pre_state, weight_list, sequence_length, layer * stack.directions + d);
      parts.push_back(passed.out);
      hidden.push_back(passed.hidden);
      if (passed.cell) cells.push_back(*passed.cell);
    }
    out = joined(parts, 2);
  }
  TensorList states{joined(hidden, 0)};
  if (!cells.empty()) states.push_back(joined(cells, 0));
  const Tensor mask = is_test ? full({0}, 0, DataType::UINT8) : full_like(out, 1, DataType::UINT8);
  return {out, mask, states};
}

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& x, const Tensor& h0, const Tensor& c0,
                                        const TensorList& weight_list,
                                        const std::optional<Tensor>& sequence_length,
                                        float dropout_prob, bool is_bidirec, int num_layers,
                                        const std::optional<int>& seed, bool is_test) {
  const auto [out, mask, states] =
      rnn(x, {h0, c0}, weight_list, sequence_length, {}, dropout_prob, is_bidirec, width_of(x, "x"),
          width_of(h0, "h0"), num_layers, "LSTM", seed, is_test);
  return {out, states[0], states[1]};
}

std::tuple<Tensor, Tensor> gru(const Tensor& x, const Tensor& h0, const TensorList& weight_list,
                               const std::optional<Tensor>& sequence_length, float dropout_prob,
                               bool is_bidirec, int num_layers, const std::optional<int>& seed,
                               bool is_test) {
  const auto [out, mask, states] =
      rnn(x, {h0}, weight_list, sequence_length, {}, dropout_prob, is_bidirec, width_of(x, "x"),
          width_of(h0, "h0"), num_layers, "GRU", seed, is_test);
  return {out, states[0]};
}

Tensor warpctc_grad(const std::optional<Tensor>& logits_length, const Tensor& warpctcgrad,
                    const Tensor& loss_grad, bool norm_by_times) {
  Tensor each = unsqueeze(loss_grad, {0});  // [1, batch, 1]
  if (norm_by_times) {
    const Dims one{1, warpctcgrad.shape()[1], 1};
    const Tensor steps = logits_length
                             ? cast(reshape(*logits_length, one), each.dtype())
                             : full(one, static_cast<double>(warpctcgrad.shape()[0]), each.dtype());
    each = divide(each, steps);
  }
  return multiply(warpctcgrad, each);
}

Tensor warprnnt_grad(const Tensor& warprnntgrad, const Tensor& loss_grad) {
  return multiply(warprnntgrad, unsqueeze(loss_grad, {1, 2, 3}));
}

}  // namespace phi::composite
