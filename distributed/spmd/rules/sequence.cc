// Ops on sequences as factors; b is the factor of samples.
#include "distributed/spmd/rules/sequence.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

// An optional tensor.
void input(Factors* rule, const TensorSpec* x, std::string_view letters) {
  if (x) {
    rule->input(*x, letters);
  } else {
    rule->absent_input();
  }
}

Factors layer_inputs(const TensorSpec& gates, const TensorSpec& hidden, const TensorSpec* cell,
                     const TensorSpec& weight_hh, const TensorSpec& bias_hh,
                     const TensorSpec* sequence_length) {
  Factors rule;
  rule.input(gates, "1b1").input(hidden, "b1");
  input(&rule, cell, "b1");
  rule.input(weight_hh, "11").input(bias_hh, "1");
  input(&rule, sequence_length, "b");
  return rule;
}

Factors hsigmoid_inputs(const TensorSpec& x, const TensorSpec& label, const TensorSpec& w,
                        const TensorSpec* bias, const TensorSpec* path, const TensorSpec* code) {
  Factors rule;
  rule.input(x, "b1");
  rule.input(label, std::string_view("b11111111").substr(0, static_cast<size_t>(label.ndim())));
  rule.input(w, "11");
  input(&rule, bias, bias && bias->ndim() == 1 ? "1" : "11");
  input(&rule, path, "b1");
  input(&rule, code, "b1");
  return rule;
}

}  // namespace

SpmdRule RecurrentLayerInferSpmd(const TensorSpec& gates, const TensorSpec& hidden,
                                 const TensorSpec* cell, const TensorSpec& weight_hh,
                                 const TensorSpec& bias_hh, const TensorSpec* sequence_length) {
  Factors rule = layer_inputs(gates, hidden, cell, weight_hh, bias_hh, sequence_length);
  rule.output("1b1").output("b1");
  if (cell) {
    rule.output("b1");
  } else {
    rule.absent_output();
  }
  return rule.output("1b1");
}

SpmdRule RecurrentLayerGradInferSpmd(const TensorSpec& gates, const TensorSpec& hidden,
                                     const TensorSpec* cell, const TensorSpec& weight_hh,
                                     const TensorSpec& bias_hh, const TensorSpec* sequence_length,
                                     const TensorSpec& out, const TensorSpec& reserve,
                                     const TensorSpec& out_grad, const TensorSpec& last_hidden_grad,
                                     const TensorSpec* last_cell_grad) {
  Factors rule = layer_inputs(gates, hidden, cell, weight_hh, bias_hh, sequence_length);
  rule.input(out, "1b1").input(reserve, "1b1").input(out_grad, "1b1").input(last_hidden_grad, "b1");
  input(&rule, last_cell_grad, "b1");
  for (int i = 0; i < 5; ++i) rule.output_like(i);
  return rule;
}

SpmdRule WarpctcInferSpmd(const TensorSpec& logits, const TensorSpec& label,
                          const TensorSpec* logits_length, const TensorSpec* labels_length) {
  Factors rule;
  rule.input(logits, "1b1").input(label, "b1");
  input(&rule, logits_length, "b");
  input(&rule, labels_length, "b");
  return rule.output("b1").output("1b1");
}

SpmdRule HSigmoidLossInferSpmd(const TensorSpec& x, const TensorSpec& label, const TensorSpec& w,
                               const TensorSpec* bias, const TensorSpec* path,
                               const TensorSpec* code) {
  Factors rule = hsigmoid_inputs(x, label, w, bias, path, code);
  // w_out is empty, so it is equal on every rank.
  return rule.output("b1").output("b1").output("1").combined("b");
}

SpmdRule HSigmoidLossGradInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                   const TensorSpec& w, const TensorSpec* bias,
                                   const TensorSpec* path, const TensorSpec* code,
                                   const TensorSpec& pre_out, const TensorSpec& out_grad) {
  Factors rule = hsigmoid_inputs(x, label, w, bias, path, code);
  rule.input(pre_out, "b1").input(out_grad, "b1");
  return rule.output_like(0).output_like(2).output_like(3);
}

}  // namespace phi::distributed
