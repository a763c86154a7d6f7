// All functions by name (api/call/named_call.h).
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#include "api/call/named_call.h"

namespace phi {

namespace calls {
TensorList batch_norm(CallArgs& args);
TensorList bmm(CallArgs& args);
TensorList bmm_grad(CallArgs& args);
TensorList check_finite_(CallArgs& args);
TensorList concat(CallArgs& args);
TensorList concat_grad(CallArgs& args);
TensorList distribute(CallArgs& args);
TensorList distribute_grad(CallArgs& args);
TensorList flatten(CallArgs& args);
TensorList flatten_grad(CallArgs& args);
TensorList full(CallArgs& args);
TensorList matmul(CallArgs& args);
TensorList matmul_grad(CallArgs& args);
TensorList merged_momentum_(CallArgs& args);
TensorList momentum_(CallArgs& args);
TensorList nonzero(CallArgs& args);
TensorList norm(CallArgs& args);
TensorList norm_grad(CallArgs& args);
TensorList ones(CallArgs& args);
TensorList relu(CallArgs& args);
TensorList relu_double_grad(CallArgs& args);
TensorList relu_grad(CallArgs& args);
TensorList reshape(CallArgs& args);
TensorList reshape_grad(CallArgs& args);
TensorList scale_all(CallArgs& args);
TensorList scale_all_grad(CallArgs& args);
TensorList split(CallArgs& args);
TensorList split_grad(CallArgs& args);
}  // namespace calls

std::span<const NamedCall> built_in_calls() {
  static constexpr NamedCall list[] = {
      {"batch_norm", calls::batch_norm},
      {"bmm", calls::bmm},
      {"bmm_grad", calls::bmm_grad},
      {"check_finite_", calls::check_finite_},
      {"concat", calls::concat},
      {"concat_grad", calls::concat_grad},
      {"distribute", calls::distribute},
      {"distribute_grad", calls::distribute_grad},
      {"flatten", calls::flatten},
      {"flatten_grad", calls::flatten_grad},
      {"full", calls::full},
      {"matmul", calls::matmul},
      {"matmul_grad", calls::matmul_grad},
      {"merged_momentum_", calls::merged_momentum_},
      {"momentum_", calls::momentum_},
      {"nonzero", calls::nonzero},
      {"norm", calls::norm},
      {"norm_grad", calls::norm_grad},
      {"ones", calls::ones},
      {"relu", calls::relu},
      {"relu_double_grad", calls::relu_double_grad},
      {"relu_grad", calls::relu_grad},
      {"reshape", calls::reshape},
      {"reshape_grad", calls::reshape_grad},
      {"scale_all", calls::scale_all},
      {"scale_all_grad", calls::scale_all_grad},
      {"split", calls::split},
      {"split_grad", calls::split_grad},
  };
  return list;
}

}  // namespace phi
