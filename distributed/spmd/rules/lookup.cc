// Lookups as factors.
#include "distributed/spmd/rules/lookup.h"

#include "distributed/spmd/rules/names.h"

namespace phi::distributed {

SpmdRule EmbeddingInferSpmd(const TensorSpec& x, const TensorSpec& weight, int64_t padding_idx,
                            bool sparse) {
  const Names names(dim_names(x.ndim()));
  Names out = names;
  out.push_back('w');
  Factors rule;
  rule.input(x, names).input(weight, "vw").output(out);
  rule.backward_outputs(BackwardOutputs::kAsGiven).refuse_shared_mesh_dim();
  // The kernel knows which rows it holds, so it is right; a strict caller hears of it as these
  // are given up by other implementations.
  if (padding_idx >= 0 || sparse) {
    rule.refuse_split("v", "the vocabulary is split, which padding_idx and sparse do not go with.");
  }
  return rule;
}

SpmdRule GatherInferSpmd(const TensorSpec& x, const TensorSpec& index, const Scalar& axis) {
  const int along = normal_axis(axis.to<int64_t>(), x.ndim());
  PHI_CHECK(index.ndim() <= 1, errors::InvalidArgument("index is {}, expected one dim or none.",
                                                       index.shape.to_string()));
  Names names(dim_names(x.ndim()));
  names[along] = '_';
  Names out;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d != along) {
      out.push_back(names[d]);
    } else if (index.ndim() == 1) {
      out.push_back('n');
    }
  }
  Factors rule;
  if (index.ndim() == 0) rule.refuse_forward("index is a scalar; strict callers give one dim.");
  rule.input(x, names).input(index, index.ndim() == 1 ? "n" : "").output(out);
  return rule.backward_outputs(BackwardOutputs::kAsGiven);
}

SpmdRule OneHotInferSpmd(const TensorSpec& x, const Scalar&) {
  Names out(dim_names(x.ndim()));
  out.push_back('1');
  return Factors().input(x, dim_names(x.ndim())).output(out);
}

}  // namespace phi::distributed
