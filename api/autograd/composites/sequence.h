// Operators on sequences, and gradients of such operators, that are composed of other operators.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "api/tensor/tensor.h"

namespace phi::composite {

/// Runs a stack of recurrent layers. Returns:
/// - out [steps, batch, directions * hidden_size];
/// - a uint8 tensor in the position of Paddle's dropout mask: ones like out, or [0] for is_test. No
///   function reads it;
/// - the last states, h or h and c, each [layers * directions, batch, hidden_size].
///
/// Dropout is applied between layers. With a seed all layers use one mask, otherwise each has its
/// own. Errors: InvalidArgument for lists of wrong length, shapes that do not fit and unknown
/// modes.
std::tuple<Tensor, Tensor, TensorList> rnn(const Tensor& x, const TensorList& pre_state,
                                           const TensorList& weight_list,
                                           const std::optional<Tensor>& sequence_length,
                                           const Tensor& dropout_state_in, float dropout_prob,
                                           bool is_bidirec, int input_size, int hidden_size,
                                           int num_layers, const std::string& mode,
                                           const std::optional<int>& seed, bool is_test);

/// rnn of mode LSTM. Returns out, the last h and the last c. Sizes follow from x and h0.
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& x, const Tensor& h0, const Tensor& c0,
                                        const TensorList& weight_list,
                                        const std::optional<Tensor>& sequence_length,
                                        float dropout_prob, bool is_bidirec, int num_layers,
                                        const std::optional<int>& seed, bool is_test);
/// rnn of mode GRU. Returns out and the last h.
std::tuple<Tensor, Tensor> gru(const Tensor& x, const Tensor& h0, const TensorList& weight_list,
                               const std::optional<Tensor>& sequence_length, float dropout_prob,
                               bool is_bidirec, int num_layers, const std::optional<int>& seed,
                               bool is_test);

Tensor warpctc_grad(const std::optional<Tensor>& logits_length, const Tensor& warpctcgrad,
                    const Tensor& loss_grad, bool norm_by_times);
Tensor warprnnt_grad(const Tensor& warprnntgrad, const Tensor& loss_grad);

}  // namespace phi::composite
