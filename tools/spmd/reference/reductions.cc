// The reference's reductions.
#include <array>

#include "distributed/spmd/rules.h"
#include "distributed/spmd/rules/factor_names.h"
#include "tools/spmd/reference/rule_variant.h"

namespace phi::spmd_tool {
namespace {

using distributed::Factors;
using distributed::ReduceKind;
using distributed::SpmdRule;
using distributed::TensorSpec;

template <ReduceKind kKind>
SpmdRule reduced(const TensorSpec& x, const IntArray& axis, bool keep_dim) {
  return distributed::ReductionInferSpmd(x, axis, keep_dim, kKind);
}

// `kind` is the reference's number of the reduction.
SpmdRule reduce_base(const TensorSpec& x, const IntArray& axis, bool keep_dim, int64_t kind) {
  constexpr std::array kKinds = {ReduceKind::kSum,  ReduceKind::kMax, ReduceKind::kMin,
                                 ReduceKind::kProd, ReduceKind::kAvg, ReduceKind::kAny,
                                 ReduceKind::kAll};
  PHI_CHECK(kind >= 0 && kind < static_cast<int64_t>(kKinds.size()),
            errors::InvalidArgument("reduce_type is {}; use 0 (sum) to {} (all).", kind,
                                    kKinds.size() - 1));
  return distributed::ReductionInferSpmd(x, axis, keep_dim, kKinds[static_cast<size_t>(kind)]);
}

// The reference sums partial results, as it does for norms.
SpmdRule logsumexp(const TensorSpec& x, const IntArray& axis, bool keepdims, bool reduce_all) {
  return distributed::ReductionSumInferSpmd(x, reduce_all ? IntArray() : axis, keepdims);
}
SpmdRule p_norm(const TensorSpec& x, double, int64_t axis, double, bool keepdims, bool asvector) {
  return distributed::ReductionSumInferSpmd(x, asvector ? IntArray() : IntArray({axis}), keepdims);
}

// An average of the ranks' averages, as if all had the same number of elements.
SpmdRule mean_all(const TensorSpec& x) {
  return distributed::ReductionInferSpmd(x, {}, false, ReduceKind::kAvg);
}

// The recorded gradient is never sharded.
SpmdRule mean_all_grad(const TensorSpec& x, const TensorSpec& out_grad) {
  const auto whole = std::string_view("_________").substr(0, static_cast<size_t>(x.ndim()));
  return Factors().input(x, whole).input(out_grad, "").output(whole);
}

}  // namespace

ReferenceRules reduction_reference_rules() {
  const Policies as_given = {.backward_outputs = BackwardOutputs::kAsGiven,
                             .one_mesh_dim = OneMeshDim::kBackwardInputs};
  const std::vector<Reference::Renamed> keepdim = {{"keep_dim", "keepdim"}};
  const auto over_axes = [](const char* name, RuleFunctions::InferSpmd infer_spmd) {
    return rule_variant(name, {"ReductionInferSpmd", infer_spmd}, "x",
                        "axis: ints, keep_dim: bool");
  };
  return {{over_axes("all", infer_rule<reduced<ReduceKind::kAll>>),
           over_axes("any", infer_rule<reduced<ReduceKind::kAny>>),
           over_axes("min", infer_rule<reduced<ReduceKind::kMin>>),
           over_axes("prod", infer_rule<reduced<ReduceKind::kProd>>),
           rule_variant("reduce_base", {"ReductionInferSpmd", infer_rule<reduce_base>}, "x",
                        "axis: ints, keep_dim: bool, reduce_type: int"),
           rule_variant("logsumexp", {"", infer_rule<logsumexp>}, "x",
                        "axis: ints, keepdims: bool, reduce_all: bool"),
           rule_variant("p_norm", {"", infer_rule<p_norm>}, "x",
                        "porder: float, axis: int, epsilon: float, keepdims: bool, asvector: bool"),
           rule_variant("mean_all", {"", infer_rule<mean_all>}, "x"),
           rule_variant("mean_all_grad", {"", infer_rule<mean_all_grad>}, "x, out_grad")},
          {{"sum reduce_sum squared_l2_norm frobenius_norm", "sum", as_given, keepdim},
           {"max amax reduce_max", "max", as_given, keepdim},
           {"min amin", "min", as_given},
           {"all", "all", as_given},
           {"any", "any", as_given},
           {"prod", "prod", as_given},
           {"reduce_base", "reduce_base", as_given},
           {"logsumexp", "logsumexp", as_given},
           {"p_norm", "p_norm", as_given},
           {"argmin", "argmax"},
           {"mean_all", "mean_all", {}, {}, "mean_all_grad"}}};
}

}  // namespace phi::spmd_tool
