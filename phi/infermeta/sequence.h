// Shapes and dtypes of ops on sequences: recurrent layers, CTC and related losses, decoding.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// (out, last_hidden, last_cell, reserve): out [steps, batch, hidden]; last_hidden and last_cell
/// [batch, hidden]; reserve, which the gradient needs. Only the mode "LSTM" has a cell. Errors:
/// InvalidArgument for incompatible shapes and an unknown mode.
std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, TensorMeta> RecurrentLayerInferMeta(
    const TensorMeta& gates, const TensorMeta& hidden, const TensorMeta* cell,
    const TensorMeta& weight_hh, const TensorMeta& bias_hh, const TensorMeta* sequence_length,
    const std::string& mode);

/// The metas of the first five arguments.
std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, TensorMeta, TensorMeta>
RecurrentLayerGradInferMeta(const TensorMeta& gates, const TensorMeta& hidden,
                            const TensorMeta* cell, const TensorMeta& weight_hh,
                            const TensorMeta& bias_hh);

/// (loss, warpctcgrad): loss [batch, 1]; warpctcgrad has the meta of logits
/// [steps, batch, classes]. label is int32 or int64 [batch, longest label]; the lengths are int32
/// or int64 [batch]. Errors: InvalidArgument.
std::tuple<TensorMeta, TensorMeta> WarpctcInferMeta(const TensorMeta& logits,
                                                    const TensorMeta& label,
                                                    const TensorMeta* logits_length,
                                                    const TensorMeta* labels_length, int blank);

/// (loss, warprnntgrad): loss [batch]; warprnntgrad has the meta of input
/// [batch, steps, labels + 1, classes].
std::tuple<TensorMeta, TensorMeta> WarprnntInferMeta(const TensorMeta& input,
                                                     const TensorMeta& label,
                                                     const TensorMeta& input_lengths,
                                                     const TensorMeta& label_lengths, int blank);

/// (scores, path) for potentials [batch, steps, tags]: scores [batch]; path int64
/// [batch, longest length].
std::tuple<TensorMeta, TensorMeta> ViterbiDecodeInferMeta(const TensorMeta& potentials,
                                                          const TensorMeta& transition_params,
                                                          const TensorMeta& lengths);

/// The meta of ids. Both arguments are integers [steps, batch, beams].
TensorMeta GatherTreeInferMeta(const TensorMeta& ids, const TensorMeta& parents);

/// (out, pre_out, w_out): out [batch, 1]; pre_out [batch, longest path]; w_out, an empty float32.
std::tuple<TensorMeta, TensorMeta, TensorMeta> HSigmoidLossInferMeta(
    const TensorMeta& x, const TensorMeta& label, const TensorMeta& w, const TensorMeta* bias,
    const TensorMeta* path, const TensorMeta* code, int num_classes, bool is_sparse);

}  // namespace phi
