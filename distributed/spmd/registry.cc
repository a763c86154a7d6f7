// The table of rules by name.
#include "distributed/spmd/registry.h"

#include <algorithm>
#include <array>

#include "distributed/spmd/erase.h"
#include "distributed/spmd/rules.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::distributed {
namespace {

using detail::erase;

// ---- forms of the rules that differ from those that ops call ----

// Names that are reductions by something else than sum.
template <ReduceKind kKind>
SpmdRule reduction(const TensorSpec& x, const IntArray& axis, bool keepdim) {
  return ReductionInferSpmd(x, axis, keepdim, kKind);
}

// The recorded form says the kind of reduction by Paddle's number.
SpmdRule reduce_base(const TensorSpec& x, const IntArray& axis, bool keepdim, int64_t kind) {
  constexpr std::array kKinds = {ReduceKind::kSum,  ReduceKind::kMax, ReduceKind::kMin,
                                 ReduceKind::kProd, ReduceKind::kAvg, ReduceKind::kAny,
                                 ReduceKind::kAll};
  PHI_CHECK(kind >= 0 && kind < static_cast<int64_t>(kKinds.size()),
            errors::InvalidArgument("reduce_type is {}; use 0 (sum) to {} (all).", kind,
                                    kKinds.size() - 1));
  return ReductionInferSpmd(x, axis, keepdim, kKinds[static_cast<size_t>(kind)]);
}

SpmdRule mean_all(const TensorSpec& x) { return ReductionMeanInferSpmd(x, {}, false); }

// The recorded gradient is whole, whatever lies where.
SpmdRule mean_all_grad(const TensorSpec& x, const TensorSpec& out_grad) {
  const std::string_view whole = std::string_view("_________").substr(0, x.ndim());
  return Factors().input(x, whole).input(out_grad, "").output(whole);
}

// The recorded form has no optional tensors.
SpmdRule layer_norm(const TensorSpec& x, const TensorSpec& scale, const TensorSpec& bias,
                    float epsilon, int begin_norm_axis) {
  const auto given = [](const TensorSpec& t) { return t.ndim() == 0 ? nullptr : &t; };
  SpmdRule rule = LayerNormInferSpmd(x, given(scale), given(bias), epsilon, begin_norm_axis);
  if (given(scale) && given(bias)) return rule;
  return Factors(rule.factors()).refuse_forward("scale and bias need one dim each.");
}

// The recorded form answers no softmax where there is none.
SpmdRule cross_entropy(const TensorSpec& x, const TensorSpec& label, bool soft_label,
                       bool use_softmax, bool numeric_stable_mode, int ignore_index, int axis) {
  const SpmdRule rule = CrossEntropyWithSoftmaxInferSpmd(x, label, soft_label, use_softmax,
                                                         numeric_stable_mode, ignore_index, axis);
  return use_softmax ? rule : Factors(rule.factors()).drop_output(0);
}

SpmdRule triu(const TensorSpec& x, int diagonal) { return TrilInferSpmd(x, diagonal); }

// ---- the table ----

constexpr std::string_view kUnary[] = {
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "assign",
    "atan",
    "atanh",
    "bernoulli",
    "bitwise_not",
    "cast",
    "ceil",
    "celu",
    "clip",
    "conj",
    "cos",
    "cosh",
    "digamma",
    "dropout",
    "elementwise_unary",
    "elu",
    "erf",
    "erfinv",
    "exp",
    "expm1",
    "fill",
    "floor",
    "full_like",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "logit",
    "logsigmoid",
    "mish",
    "poisson",
    "pow",
    "reciprocal",
    "relu",
    "relu6",
    "round",
    "rsqrt",
    "scale",
    "selu",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "softplus",
    "softshrink",
    "softsign",
    "sqrt",
    "square",
    "stanh",
    "swish",
    "tan",
    "tanh",
    "tanh_shrink",
    "thresholded_relu",
    "trunc",
};

constexpr std::string_view kBinary[] = {
    "add",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "divide",
    "elementwise_add",
    "elementwise_binary",
    "elementwise_div",
    "elementwise_mul",
    "elementwise_pow",
    "equal",
    "floor_divide",
    "fmax",
    "fmin",
    "greater_equal",
    "greater_than",
    "heaviside",
    "less_than",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "not_equal",
    "remainder",
    "subtract",
    "trunc_divide",
};

// Two names of one rule stand side by side.
const RuleEntry kOthers[] = {
    {"adamw_", erase<AdamwInferSpmd>("param, grad, moment1, moment2, master_param?"), {}},
    {"add_n", erase<AddNInferSpmd>("[inputs]"), {}},
    {"argmax", erase<ArgMaxInferSpmd>("x", "axis, keepdims, flatten"), {}},
    {"argmin", erase<ArgMaxInferSpmd>("x", "axis, keepdims, flatten"), {}},
    {"concat", erase<ConcatInferSpmd>("[x]", "axis"), {}},
    {"cross_entropy_with_softmax",
     erase<cross_entropy>("x, label",
                          "soft_label, use_softmax, numeric_stable_mode, ignore_index, axis"),
     {}},
    {"softmax_with_cross_entropy",
     erase<cross_entropy>("x, label",
                          "soft_label, use_softmax, numeric_stable_mode, ignore_index, axis"),
     {}},
    {"cross_entropy_with_softmax_grad",
     erase<CrossEntropyWithSoftmaxGradInferSpmd>("label, softmax, loss_grad",
                                                 "soft_label, use_softmax, axis"),
     {}},
    {"dropout_grad", erase<ElementwiseUnaryGradInferSpmd>("mask, out_grad"), {}},
    {"embedding", erase<EmbeddingInferSpmd>("x, weight", "padding_idx, sparse"), {}},
    {"embedding_grad", erase<EmbeddingGradInferSpmd>("x, weight, out_grad"), {}},
    {"lookup_table_v2", erase<EmbeddingInferSpmd>("x, weight", "padding_idx, sparse"), {}},
    {"cumsum", erase<CumsumInferSpmd>("x", "axis, flatten, exclusive, reverse"), {}},
    {"default_", erase<DataParallelInferSpmd>("[ins], [outs]"), {}},
    {"default_data_parallel", erase<DataParallelInferSpmd>("[ins], [outs]"), {}},
    {"replicated", erase<ReplicatedInferSpmd>("[ins], [outs]"), {}},
    {"expand_as", erase<ExpandAsInferSpmd>("x, y?", "target_shape"),
     erase<ExpandAsGradInferSpmd>("x, out_grad", "target_shape")},
    {"expand_as_v2", erase<ExpandAsInferSpmd>("x, y?", "target_shape"),
     erase<ExpandAsGradInferSpmd>("x, out_grad", "target_shape")},
    {"flatten", erase<FlattenInferSpmd>("x", "start_axis, stop_axis"), {}},
    {"tile", erase<TileInferSpmd>("x", "repeat_times"), {}},
    {"expand", erase<ExpandInferSpmd>("x", "shape"), {}},
    {"flash_attention",
     erase<FlashAttentionInferSpmd>("q, k, v, fixed_seed_offset?, attn_mask?",
                                    "dropout, causal, return_softmax, is_test"),
     {}},
    {"flash_attention_grad",
     erase<FlashAttentionGradInferSpmd>(
         "q, k, v, out, softmax_lse, seed_offset?, attn_mask?, out_grad"),
     {}},
    {"flash_attention_with_kvcache_",
     erase<FlashAttentionWithKvcacheInferSpmd>("q, k, v, k_cache, v_cache, cache_seqlens"),
     {}},
    {"fused_rms_norm", erase<RmsNormInferSpmd>("x, scale", "epsilon"), {}},
    {"fused_rotary_position_embedding",
     erase<FusedRopeInferSpmd>("q, k?, v?, sin?, cos?, position_ids?",
                               "use_neox_rotary_style, time_major, rotary_emb_base"),
     {}},
    {"gather", erase<GatherInferSpmd>("x, index", "axis"), {}},
    {"gather_grad", erase<GatherGradInferSpmd>("x, index, out_grad", "axis"), {}},
    {"gelu", erase<ElementwiseUnaryInferSpmd>("x", "approximate"),
     erase<ElementwiseUnaryGradInferSpmd>("x, out_grad", "approximate")},
    {"layer_norm", erase<layer_norm>("x, scale, bias", "epsilon, begin_norm_axis"), {}},
    {"layer_norm_grad",
     erase<LayerNormGradInferSpmd>("x, scale?, bias?, mean, variance, out_grad", "begin_norm_axis"),
     {}},
    {"matmul", erase<MatmulInferSpmd>("x, y", "trans_x, trans_y"), {}},
    {"matmul_grad", erase<MatmulGradInferSpmd>("x, y, out_grad", "transpose_x, transpose_y"), {}},
    {"matmul_v2", erase<MatmulInferSpmd>("x, y", "trans_x, trans_y"), {}},
    {"mean_all", erase<mean_all>("x"), erase<mean_all_grad>("x, out_grad")},
    {"mean", erase<ReductionMeanInferSpmd>("x", "axis, keepdim"), {}},
    {"momentum_", erase<MomentumInferSpmd>("param, grad, velocity, master_param?"), {}},
    {"multiply", erase<MultiplyInferSpmd>("x, y"), {}},
    {"nonzero", erase<NonZeroInferSpmd>("x"), {}},
    {"one_hot", erase<OneHotInferSpmd>("x", "num_classes"), {}},
    {"reduce_as", erase<ReduceAsInferSpmd>("x, target"), {}},
    {"rms_norm_grad", erase<RmsNormGradInferSpmd>("x, scale, invvar, out_grad"), {}},
    {"sgd_", erase<SgdInferSpmd>("param, grad, master_param?"), {}},
    {"sum", erase<ReductionSumInferSpmd>("x", "axis, keep_dim"), {}},
    {"reduce_sum", erase<ReductionSumInferSpmd>("x", "axis, keep_dim"), {}},
    {"reduce_base", erase<reduce_base>("x", "axis, keep_dim, reduce_type"), {}},
    {"squared_l2_norm", erase<ReductionSumInferSpmd>("x", "axis, keep_dim"), {}},
    {"max", erase<ReductionMaxInferSpmd>("x", "axis, keep_dim"), {}},
    {"amax", erase<ReductionMaxInferSpmd>("x", "axis, keep_dim"), {}},
    {"reduce_max", erase<ReductionMaxInferSpmd>("x", "axis, keep_dim"), {}},
    {"min", erase<reduction<ReduceKind::kMin>>("x", "axis, keep_dim"), {}},
    {"amin", erase<reduction<ReduceKind::kMin>>("x", "axis, keep_dim"), {}},
    {"prod", erase<reduction<ReduceKind::kProd>>("x", "axis, keep_dim"), {}},
    {"all", erase<reduction<ReduceKind::kAll>>("x", "axis, keep_dim"), {}},
    {"any", erase<reduction<ReduceKind::kAny>>("x", "axis, keep_dim"), {}},
    {"reshape", erase<ReshapeInferSpmd>("x", "shape"), {}},
    {"reshape2", erase<ReshapeInferSpmd>("x", "shape"), {}},
    {"slice", erase<SliceInferSpmd>("input", "axes, starts, ends, infer_flags, decrease_axis"), {}},
    {"slice_grad", erase<SliceGradInferSpmd>("input, out_grad", "axes, decrease_axis"), {}},
    {"softmax", erase<SoftmaxInferSpmd>("x", "axis"), {}},
    {"softmax_grad", erase<SoftmaxGradInferSpmd>("out, out_grad", "axis"), {}},
    {"log_softmax", erase<SoftmaxInferSpmd>("x", "axis"), {}},
    {"split", erase<SplitInferSpmd>("x", "sections, axis"), {}},
    {"split_with_num", erase<SplitWithNumInferSpmd>("x", "num, axis"), {}},
    {"stack", erase<StackInferSpmd>("[x]", "axis"), {}},
    {"squeeze", erase<SqueezeInferSpmd>("x", "axis"), {}},
    {"swiglu", erase<SwiGLUInferSpmd>("x, y?"), {}},
    {"swiglu_grad", erase<SwiGLUGradInferSpmd>("x, y?, out_grad"), {}},
    {"transpose", erase<TransposeInferSpmd>("x", "perm"), {}},
    {"transpose2", erase<TransposeInferSpmd>("x", "perm"), {}},
    {"tril_triu", erase<TrilInferSpmd>("x", "diagonal, lower"), {}},
    {"triu", erase<triu>("x", "diagonal"), {}},
    {"unique",
     erase<UniqueInferSpmd>("x", "return_index, return_inverse, return_counts, axis, dtype"),
     {}},
    {"unsqueeze", erase<UnsqueezeInferSpmd>("x", "axis"), {}},
    {"unsqueeze2", erase<UnsqueezeInferSpmd>("x", "axis"), {}},
    {"where", erase<WhereInferSpmd>("condition, x, y"), {}},
};

std::vector<RuleEntry> make_table() {
  std::vector<RuleEntry> table(std::begin(kOthers), std::end(kOthers));
  for (std::string_view name : kUnary) {
    table.push_back({name, erase<ElementwiseUnaryInferSpmd>("x"), {}});
  }
  for (std::string_view name : kBinary) {
    table.push_back({name, erase<ElementwiseBinaryInferSpmd>("x, y"), {}});
  }
  std::sort(table.begin(), table.end(),
            [](const RuleEntry& a, const RuleEntry& b) { return a.name < b.name; });
  return table;
}

}  // namespace

std::string_view name_of(AttrKind kind) {
  constexpr std::string_view kNames[] = {"bool", "int", "float", "string", "ints", "dtype"};
  return kNames[static_cast<size_t>(kind)];
}

AttrValue zero_of(AttrKind kind) {
  switch (kind) {
    case AttrKind::kBool:
      return false;
    case AttrKind::kInt:
      return int64_t{0};
    case AttrKind::kFloat:
      return 0.0;
    case AttrKind::kString:
      return std::string();
    case AttrKind::kInts:
      return std::vector<int64_t>();
    case AttrKind::kDataType:
      return DataType::UNDEFINED;
  }
  return false;
}

std::span<const RuleEntry> all_rules() {
  static const auto& table = *new std::vector<RuleEntry>(make_table());
  return table;
}

const RuleEntry& find_rule(std::string_view name) {
  const auto rules = all_rules();
  const auto it =
      std::lower_bound(rules.begin(), rules.end(), name,
                       [](const RuleEntry& r, std::string_view n) { return r.name < n; });
  if (it != rules.end() && it->name == name) return *it;
  std::vector<std::string_view> near;
  for (const RuleEntry& rule : rules) near.push_back(rule.name);
  std::stable_sort(near.begin(), near.end(), [&](std::string_view a, std::string_view b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  throw errors::NotFound("there is no rule '{}'; the nearest are {}, {} and {}.", name, near[0],
                         near[1], near[2]);
}

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> result;
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    result.emplace_back(names.substr(0, comma));
    names.remove_prefix(std::min(comma + 2, names.size()));
  }
  return result;
}

}  // namespace phi::distributed
