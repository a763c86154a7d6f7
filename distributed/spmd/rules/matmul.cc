// Batched product as factors: contracted k makes the output partial.
#include "distributed/spmd/rules/matmul.h"

namespace phi::distributed {

SpmdRule MatmulInferSpmd(const TensorSpec& x, const TensorSpec& y, bool transpose_x,
                         bool transpose_y) {
  PHI_CHECK(x.ndim() >= (transpose_x ? 2 : 1),
            errors::InvalidArgument("x is {}; {} dims or more are needed.", x.shape.to_string(),
                                    transpose_x ? "transpose_x is set and 2" : "1"));
  PHI_CHECK(y.ndim() >= (transpose_y ? 2 : 1),
            errors::InvalidArgument("y is {}; {} dims or more are needed.", y.shape.to_string(),
                                    transpose_y ? "transpose_y is set and 2" : "1"));
  const auto batch = Factors::batch(x.ndim() - 2, y.ndim() - 2);
  const bool has_m = x.ndim() > 1;
  const bool has_n = y.ndim() > 1;
  Factors rule;
  rule.input(x, batch, !has_m ? "k" : transpose_x ? "km" : "mk");
  rule.input(y, batch, !has_n ? "k" : transpose_y ? "nk" : "kn");
  rule.output(batch, has_m && has_n ? "mn" : has_m ? "m" : has_n ? "n" : "");
  if (!has_m || !has_n) {
    rule.refuse_backward("an operand is a vector, whose output has lost a dim.");
  }
  // Splitting k costs a reduction of the output, splitting m or n costs nothing.
  return rule.yields("k").prefer_larger_tensor().join_mesh_dims().backward_outputs(
      BackwardOutputs::kAsGiven);
}

}  // namespace phi::distributed
