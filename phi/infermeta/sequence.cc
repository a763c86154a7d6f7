// Shapes and dtypes of ops on sequences.
#include "phi/infermeta/sequence.h"

#include <bit>

#include "phi/common/errors.h"
#include "phi/infermeta/checks.h"

namespace phi {
namespace {

// Widths in multiples of the hidden size: of a cell's gates, and of what it stores per step for the
// gradient.
struct CellWidths {
  int gates;
  int kept;
};
CellWidths widths_of(const std::string& mode) {
  if (mode == "LSTM") return {4, 5};
  if (mode == "GRU") return {3, 4};
  PHI_CHECK(mode == "RNN_TANH" || mode == "RNN_RELU",
            errors::InvalidArgument("mode is '{}'; use RNN_TANH, RNN_RELU, LSTM or GRU.", mode));
  return {1, 0};
}

void check_sequence_lengths(const TensorMeta& lengths, int64_t batch, std::string_view name) {
  PHI_CHECK(
      is_index(lengths) && lengths.dims == Dims{batch},
      errors::InvalidArgument("{} is {}, but it must be int32 or int64 with a length for each "
                              "of the {} samples.",
                              name, lengths.to_string(), batch));
}

void check_labels(const TensorMeta& label, int64_t batch) {
  PHI_CHECK(is_index(label) && label.dims.ndim() == 2 && label.dims[0] == batch,
            errors::InvalidArgument("label is {}, but it must be int32 or int64 [{}, most labels], "
                                    "padded.",
                                    label.to_string(), batch));
}

void check_blank(int blank, int64_t classes, const TensorMeta& of) {
  PHI_CHECK(blank >= 0 && blank < classes,
            errors::InvalidArgument("blank is {}, but the last tensor dim of {} has {} classes; it "
                                    "must be one of them.",
                                    blank, of.to_string(), classes));
}

}  // namespace

std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, TensorMeta> RecurrentLayerInferMeta(
    const TensorMeta& gates, const TensorMeta& hidden, const TensorMeta* cell,
    const TensorMeta& weight_hh, const TensorMeta& bias_hh, const TensorMeta* sequence_length,
    const std::string& mode) {
  const CellWidths widths = widths_of(mode);
  PHI_CHECK(
      gates.dims.ndim() == 3 && hidden.dims.ndim() == 2 && hidden.dims[0] == gates.dims[1] &&
          gates.dims[2] == widths.gates * hidden.dims[1],
      errors::InvalidArgument("gates is {} and hidden is {}: for mode {} they must be [steps, "
                              "batch, {} hidden] and [batch, hidden].",
                              gates.to_string(), hidden.to_string(), mode, widths.gates));
  const int64_t width = gates.dims[2];
  PHI_CHECK((weight_hh.dims == Dims{width, hidden.dims[1]}) && bias_hh.dims == Dims{width},
            errors::InvalidArgument("weight_hh is {} and bias_hh is {}: for hidden {} and mode {} "
                                    "they must be [{}, {}] and [{}].",
                                    weight_hh.to_string(), bias_hh.to_string(), hidden.to_string(),
                                    mode, width, hidden.dims[1], width));
  PHI_CHECK(
      (cell != nullptr) == (mode == "LSTM") && (!cell || cell->dims == hidden.dims),
      errors::InvalidArgument("cell is {} for mode {}: LSTM takes one of hidden's shape {}, "
                              "other modes none.",
                              cell ? cell->to_string() : "absent", mode, hidden.dims.to_string()));
  if (sequence_length) check_sequence_lengths(*sequence_length, gates.dims[1], "sequence_length");
  TensorMeta out = gates;
  out.dims[2] = hidden.dims[1];
  TensorMeta reserve = gates;
  reserve.dims[2] = widths.kept * hidden.dims[1];
  return {out, hidden, cell ? std::optional(*cell) : std::nullopt, reserve};
}

std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, TensorMeta, TensorMeta>
RecurrentLayerGradInferMeta(const TensorMeta& gates, const TensorMeta& hidden,
                            const TensorMeta* cell, const TensorMeta& weight_hh,
                            const TensorMeta& bias_hh) {
  return {gates, hidden, cell ? std::optional(*cell) : std::nullopt, weight_hh, bias_hh};
}

std::tuple<TensorMeta, TensorMeta> WarpctcInferMeta(const TensorMeta& logits,
                                                    const TensorMeta& label,
                                                    const TensorMeta* logits_length,
                                                    const TensorMeta* labels_length, int blank) {
  PHI_CHECK(logits.dims.ndim() == 3,
            errors::InvalidArgument("logits is {}, but it must be [steps, batch, classes].",
                                    logits.to_string()));
  const int64_t batch = logits.dims[1];
  check_labels(label, batch);
  if (logits_length) check_sequence_lengths(*logits_length, batch, "logits_length");
  if (labels_length) check_sequence_lengths(*labels_length, batch, "labels_length");
  check_blank(blank, logits.dims[2], logits);
  return {{{batch, 1}, logits.dtype, logits.layout}, logits};
}

std::tuple<TensorMeta, TensorMeta> WarprnntInferMeta(const TensorMeta& input,
                                                     const TensorMeta& label,
                                                     const TensorMeta& input_lengths,
                                                     const TensorMeta& label_lengths, int blank) {
  PHI_CHECK(input.dims.ndim() == 4,
            errors::InvalidArgument("input is {}, but it must be [batch, steps, labels + 1, "
                                    "classes].",
                                    input.to_string()));
  const int64_t batch = input.dims[0];
  check_labels(label, batch);
  check_sequence_lengths(input_lengths, batch, "input_lengths");
  check_sequence_lengths(label_lengths, batch, "label_lengths");
  check_blank(blank, input.dims[3], input);
  return {{{batch}, input.dtype, input.layout}, input};
}

std::tuple<TensorMeta, TensorMeta> ViterbiDecodeInferMeta(const TensorMeta& potentials,
                                                          const TensorMeta& transition_params,
                                                          const TensorMeta& lengths) {
  const Dims& dims = potentials.dims;
  PHI_CHECK(dims.ndim() == 3,
            errors::InvalidArgument("potentials is {}, but it must be [batch, steps, tags].",
                                    potentials.to_string()));
  PHI_CHECK((transition_params.dims == Dims{dims[2], dims[2]}) &&
                transition_params.dtype == potentials.dtype,
            errors::InvalidArgument("transition_params is {}, but for the {} tags of potentials {} "
                                    "it must be {} [{}, {}].",
                                    transition_params.to_string(), dims[2], potentials.to_string(),
                                    name_of(potentials.dtype), dims[2], dims[2]));
  check_sequence_lengths(lengths, dims[0], "lengths");
  return {{{dims[0]}, potentials.dtype, potentials.layout},
          {{dims[0], kUnknownDim}, DataType::INT64, potentials.layout}};
}

TensorMeta GatherTreeInferMeta(const TensorMeta& ids, const TensorMeta& parents) {
  PHI_CHECK(is_index(ids) && ids.dims.ndim() == 3 && parents.dims == ids.dims &&
                parents.dtype == ids.dtype,
            errors::InvalidArgument("ids is {} and parents is {}: both must be [steps, batch, "
                                    "beams] of int32 or int64, of one shape.",
                                    ids.to_string(), parents.to_string()));
  return ids;
}

std::tuple<TensorMeta, TensorMeta, TensorMeta> HSigmoidLossInferMeta(
    const TensorMeta& x, const TensorMeta& label, const TensorMeta& w, const TensorMeta* bias,
    const TensorMeta* path, const TensorMeta* code, int num_classes, bool) {
  const bool is_matrix = x.dims.ndim() == 2;
  PHI_CHECK(
      is_matrix && label.dtype == DataType::INT64 && label.dims.ndim() >= 1 &&
          label.dims[0] == x.dims[0] && label.dims.numel() == x.dims[0],
      errors::InvalidArgument("x is {} and label is {}: x must be [batch, width], label int64 "
                              "[batch, 1].",
                              x.to_string(), label.to_string()));
  PHI_CHECK(w.dims.ndim() == 2 && w.dims[1] == x.dims[1] && w.dtype == x.dtype,
            errors::InvalidArgument("w is {} and x is {}: w must have rows of x's width and dtype.",
                                    w.to_string(), x.to_string()));
  PHI_CHECK(!bias || bias->dims.numel() == w.dims[0],
            errors::InvalidArgument("bias is {}, but w {} needs one of {} elements.",
                                    bias->to_string(), w.to_string(), w.dims[0]));
  const auto is_tree = [&](const TensorMeta* part) {
    return part && part->dtype == DataType::INT64 && part->dims.ndim() == 2 &&
           part->dims[0] == x.dims[0];
  };
  PHI_CHECK((!path && !code) || (is_tree(path) && is_tree(code) && path->dims == code->dims),
            errors::InvalidArgument("path is {} and code is {}: for x {} pass both, int64 [batch, "
                                    "longest path], or neither.",
                                    path ? path->to_string() : "absent",
                                    code ? code->to_string() : "absent", x.to_string()));
  PHI_CHECK(path || (num_classes >= 2 && w.dims[0] >= num_classes - 1),
            errors::InvalidArgument("num_classes is {} and w is {}: a tree of that many classes "
                                    "has {} decisions, and w needs a row for each.",
                                    num_classes, w.to_string(), num_classes - 1));
  const int64_t longest =
      path ? path->dims[1] : std::bit_width(static_cast<uint32_t>(num_classes - 1));
  return {{{x.dims[0], 1}, x.dtype, x.layout},
          {{x.dims[0], longest}, x.dtype, x.layout},
          {{0}, DataType::FLOAT32, x.layout}};
}

}  // namespace phi
