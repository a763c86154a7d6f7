// Shapes and dtypes of ops on sequences.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// Gives out [steps, batch, hidden], last_hidden and last_cell [batch, hidden], and reserve, what
/// the gradient needs. A cell belongs to the mode "LSTM" alone. Errors: InvalidArgument for shapes
/// that do not fit each other and for a mode that there is not.
std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, TensorMeta> RecurrentLayerInferMeta(
    const TensorMeta& gates, const TensorMeta& hidden, const TensorMeta* cell,
    const TensorMeta& weight_hh, const TensorMeta& bias_hh, const TensorMeta* sequence_length,
    const std::string& mode);

/// Gradients of the first five arguments.
std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, TensorMeta, TensorMeta>
RecurrentLayerGradInferMeta(const TensorMeta& gates, const TensorMeta& hidden,
                            const TensorMeta* cell, const TensorMeta& weight_hh,
                            const TensorMeta& bias_hh);

/// Gives loss [batch, 1] and warpctcgrad, as logits [steps, batch, classes]; label is int32 or
/// int64 [batch, most], the lengths are int32 or int64 [batch]. Errors: InvalidArgument.
std::tuple<TensorMeta, TensorMeta> WarpctcInferMeta(const TensorMeta& logits,
                                                    const TensorMeta& label,
                                                    const TensorMeta* logits_length,
                                                    const TensorMeta* labels_length, int blank);

/// Gives loss [batch] and warprnntgrad, as input [batch, steps, labels + 1, classes].
std::tuple<TensorMeta, TensorMeta> WarprnntInferMeta(const TensorMeta& input,
                                                     const TensorMeta& label,
                                                     const TensorMeta& input_lengths,
                                                     const TensorMeta& label_lengths, int blank);

/// Gives scores [batch] and path, int64 [batch, longest length], of potentials [batch, steps,
/// tags].
std::tuple<TensorMeta, TensorMeta> ViterbiDecodeInferMeta(const TensorMeta& potentials,
                                                          const TensorMeta& transition_params,
                                                          const TensorMeta& lengths);

/// Two integer tensors [steps, batch, beams].
TensorMeta GatherTreeInferMeta(const TensorMeta& ids, const TensorMeta& parents);

/// Gives out [batch, 1], pre_out [batch, longest path] and w_out, an empty float32.
std::tuple<TensorMeta, TensorMeta, TensorMeta> HSigmoidLossInferMeta(
    const TensorMeta& x, const TensorMeta& label, const TensorMeta& w, const TensorMeta* bias,
    const TensorMeta* path, const TensorMeta* code, int num_classes, bool is_sparse);

}  // namespace phi
