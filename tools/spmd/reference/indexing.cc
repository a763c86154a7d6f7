// The reference's lookup, sort and scatter operators.
#include "distributed/spmd/rules.h"
#include "distributed/spmd/rules/factor_names.h"
#include "distributed/spmd/sharding.h"
#include "tools/spmd/reference/rule_variant.h"

namespace phi::spmd_tool {
namespace {

using distributed::FactorNames;
using distributed::Factors;
using distributed::Sharding;
using distributed::SpmdResult;
using distributed::SpmdRule;
using distributed::TensorSpec;

constexpr std::string_view kEveryLetter = "abcdefghijklmnopqrstuvwxyz";

const char* scalar_index(const RuleArgs& args, Direction direction) {
  return direction == Direction::kForward && args.spec(1).ndim() == 0 ? "index is a scalar."
                                                                      : nullptr;
}

const char* split_vocabulary(const RuleArgs& args, Direction direction) {
  const bool special = args.attr<int64_t>(0) >= 0 || args.attr<bool>(1);
  return direction == Direction::kForward && special && !Sharding::of(args.spec(1)).dims[0].empty()
             ? "the vocabulary is split, which padding_idx and sparse do not support."
             : nullptr;
}

// The weight gradient has the weight's placements, partial where the ids are split.
SpmdResult c_embedding_grad(const RuleArgs& args) {
  const TensorSpec &weight = args.spec(0), &x = args.spec(1);
  const FactorNames names(distributed::dim_names(x.ndim()));
  FactorNames out = names;
  out.push_back('w');
  SpmdResult result = resolved_result(
      Factors().input(x, names).input(args.spec(2), out).output("_").absent_output(), true);
  Sharding sharding = Sharding::of(weight);
  const Sharding ids = Sharding::of({x.shape, result.inputs[0]});
  const uint32_t taken = sharding.shard_mask() | sharding.partial_mask;
  PHI_CHECK(
      (taken & ids.shard_mask()) == 0,
      errors::InvalidArgument("the weight is split or partial over a mesh dim that splits the "
                              "ids."));
  for (int m = 0; m < weight.attr->mesh().ndim(); ++m) {
    if ((ids.shard_mask() >> m) & 1u) sharding.set_partial(m, distributed::ReduceKind::kSum);
  }
  // Ids that are not moved keep their placements, partial ones included.
  const auto* x_attr = Sharding::of(x).dims == ids.dims ? x.attr : result.inputs[0];
  SpmdResult answer;
  for (const auto* attr : {weight.attr, x_attr, result.inputs[1]}) {
    answer.inputs.push_back(attr);
  }
  answer.outputs.push_back(sharding.attr(weight.attr->mesh()));
  return answer;
}

// The reference requires x's placements for indices; out_grad has no influence.
SpmdResult argsort_grad(const RuleArgs& args) {
  const TensorSpec &indices = args.spec(0), &x = args.spec(1), &out_grad = args.spec(2);
  PHI_CHECK(x.ndim() == indices.ndim() && x.ndim() == out_grad.ndim() &&
                Sharding::of(x).dims == Sharding::of(indices).dims,
            errors::InvalidArgument("indices must be split as x is."));
  const FactorNames names = distributed::names_without(x.ndim(), args.attr<int>(0));
  Factors rule;
  rule.input(indices, names).input(x, names).input(out_grad, names).last_input_follows();
  return resolved_result(rule.output(names));
}

// The factors of x; dims whose size differs from the first tensor's, and the axis, are '1'.
FactorNames alike(std::initializer_list<const TensorSpec*> tensors, int axis) {
  const TensorSpec& first = **tensors.begin();
  FactorNames names(distributed::dim_names(first.ndim()));
  names[distributed::normal_axis(axis, first.ndim())] = '1';
  for (const TensorSpec* tensor : tensors) {
    for (int d = 0; d < first.ndim() && d < tensor->ndim(); ++d) {
      if (tensor->shape[d] != first.shape[d]) names[d] = '1';
    }
  }
  return names;
}

// out_grad alone determines the result, and the gradient is never partial.
SpmdRule take_along_axis_grad(const TensorSpec& x, const TensorSpec& index,
                              const TensorSpec& out_grad, int axis) {
  const FactorNames x_names = alike({&x, &index}, axis);
  FactorNames names = x_names;
  const int along = distributed::normal_axis(axis, x.ndim());
  names[along] = 'z';
  Factors rule;
  rule.input(x, x_names).last_input_follows().input(index, names).last_input_follows();
  return rule.input(out_grad, names).output(x_names).combined("z");
}

SpmdRule put_along_axis_grad(const TensorSpec& x, const TensorSpec& index, const TensorSpec& value,
                             const TensorSpec& out, const TensorSpec& out_grad, int axis,
                             const std::string&, bool) {
  const FactorNames names = alike({&x, &index, &value}, axis);
  Factors rule;
  for (const TensorSpec* tensor : {&x, &index, &value, &out}) {
    rule.input(*tensor, names).last_input_follows();
  }
  return rule.input(out_grad, names).output(names).output(names);
}

// out_grad follows x and index.
SpmdRule index_select_grad(const TensorSpec& x, const TensorSpec& index, const TensorSpec& out_grad,
                           int axis) {
  const FactorNames names = distributed::names_without(x.ndim(), axis);
  FactorNames selected = names;
  selected[distributed::normal_axis(axis, x.ndim())] = 'z';
  Factors rule;
  rule.input(x, names).input(index, "z").input(out_grad, selected).last_input_follows();
  return rule.output(names);
}

const char* deep_index(const RuleArgs& args, Direction direction) {
  return direction == Direction::kForward && args.spec(1).ndim() > args.spec(2).ndim()
             ? "index has more dims than updates."
             : nullptr;
}

// Letters by the position of the dim in its tensor. If the rows of index and updates are split, the
// output is partial although x, which is added to, is not.
SpmdRule scatter_by_position(const TensorSpec& x, const TensorSpec& index,
                             const TensorSpec& updates) {
  const FactorNames names = distributed::names_without(x.ndim(), 0);
  Factors rule;
  rule.any_size(kEveryLetter).input(x, names).last_input_follows();
  rule.input(index, distributed::dim_names(index.ndim()));
  rule.input(updates, distributed::dim_names(updates.ndim())).output(names);
  return rule.combined(kEveryLetter.substr(1));
}

SpmdRule scatter(const TensorSpec& x, const TensorSpec& index, const TensorSpec& updates, bool) {
  return scatter_by_position(x, index, updates);
}

// x alone determines the result; indices stay partial.
SpmdResult put_at(const RuleArgs& args, const TensorSpec* out_grad) {
  const TensorSpec &x = args.spec(0), &value = args.spec(2);
  const auto indices = args.list_spec(1);
  FactorNames names(distributed::dim_names(x.ndim()));
  FactorNames others("_");
  for (int d = 0; d < x.ndim(); ++d) {
    if (d < static_cast<int>(indices.size())) {
      names[d] = '_';
    } else {
      others.push_back(names[d]);
    }
  }
  Factors rule;
  rule.input(x, names);
  for (const TensorSpec& index : indices) rule.input(index, "_");
  rule.any_size(kEveryLetter).input(value, others).last_input_follows();
  if (out_grad != nullptr) rule.input(*out_grad, names).last_input_follows();
  rule.output(names);
  if (out_grad != nullptr) rule.output(others);
  SpmdResult result = resolved_result(rule);
  for (size_t i = 0; i < indices.size(); ++i) {
    Sharding given = Sharding::of(indices[i]);
    given.dims = {};
    result.inputs[i + 1] = given.attr(indices[i].attr->mesh());
  }
  return result;
}

SpmdResult index_put(const RuleArgs& args) { return put_at(args, nullptr); }
SpmdResult index_put_grad(const RuleArgs& args) { return put_at(args, &args.spec(3)); }

// The reference gives rows of x and of tokens the same letter, whatever scatter_index contains.
SpmdRule moe_combine(const TensorSpec& x, const TensorSpec& combine_weights,
                     const TensorSpec& scatter_index) {
  return Factors()
      .any_size("s")
      .input(x, "sh")
      .input(combine_weights, "sk")
      .input(scatter_index, "sk")
      .output("sh");
}

SpmdRule moe_combine_grad(const TensorSpec& x, const TensorSpec& combine_weights,
                          const TensorSpec& scatter_index, const TensorSpec& grad_y) {
  return Factors()
      .any_size("s")
      .input(x, "sh")
      .input(combine_weights, "sk")
      .input(scatter_index, "sk")
      .input(grad_y, "sh")
      .output("sh")
      .output("sk")
      .output("sk")
      .whole("k")
      .combined("hk");
}

}  // namespace

ReferenceRules indexing_reference_rules() {
  using namespace distributed;
  const Policies independent = {.backward_outputs = BackwardOutputs::kAsGiven,
                                .reduces_partial = true,
                                .forward_inputs = ForwardInputs::kIndependent};
  Policies gather = independent;
  gather.refusal = scalar_index;
  const Policies embedding = {.backward_outputs = BackwardOutputs::kAsGiven,
                              .refusal = split_vocabulary,
                              .refuses_shared_mesh_dims = true};
  constexpr std::string_view kTopk = "k: int, axis: int, largest: bool, sorted: bool";
  constexpr std::string_view kScan = "axis: int, dtype: dtype";
  constexpr std::string_view kSort = "axis: int, descending: bool, stable: bool";
  constexpr std::string_view kPut = "axis: int, reduce: string, include_self: bool";
  return {
      {rule_variant("topk", {"", infer_rule<TopkInferSpmd>}, "x", kTopk),
       rule_variant("topk_grad", {"", infer_rule<TopkGradInferSpmd>}, "x, indices, out_grad",
                    kTopk),
       rule_variant("argsort", {"", infer_rule<ArgSortInferSpmd>}, "x", kSort),
       rule_variant("argsort_grad", {"", composed<argsort_grad>}, "indices, x, out_grad", kSort),
       rule_variant("cummax", {"", infer_rule<CummaxInferSpmd>}, "x", kScan),
       rule_variant("cummax_grad", {"", infer_rule<CummaxGradInferSpmd>}, "x, indices, out_grad",
                    kScan),
       rule_variant("c_embedding", {"", infer_rule<CEmbeddingInferSpmd>}, "weight, x",
                    "start_index: int, vocab_size: int"),
       rule_variant("c_embedding_grad", {"", composed<c_embedding_grad>}, "weight, x, out_grad",
                    "start_index: int"),
       rule_variant("gather_nd", {"", infer_rule<GatherNdInferSpmd>}, "x, index"),
       rule_variant("index_select", {"", infer_rule<IndexSelectInferSpmd>}, "x, index",
                    "axis: int"),
       rule_variant("index_select_grad", {"", infer_rule<index_select_grad>}, "x, index, out_grad",
                    "axis: int"),
       rule_variant("take_along_axis", {"", infer_rule<TakeAlongAxisInferSpmd>}, "x, index",
                    "axis: int"),
       rule_variant("take_along_axis_grad", {"", infer_rule<take_along_axis_grad>},
                    "x, index, out_grad", "axis: int"),
       rule_variant("put_along_axis", {"", infer_rule<PutAlongAxisInferSpmd>}, "x, index, value",
                    kPut),
       rule_variant("put_along_axis_grad", {"", infer_rule<put_along_axis_grad>},
                    "x, index, value, out, out_grad", kPut),
       rule_variant("scatter", {"", infer_rule<scatter>}, "x, index, updates", "overwrite: bool"),
       rule_variant("scatter_nd_add", {"", infer_rule<scatter_by_position>}, "x, index, updates"),
       rule_variant("index_put", {"", composed<index_put>}, "x, [indices], value",
                    "accumulate: bool"),
       rule_variant("index_put_grad", {"", composed<index_put_grad>},
                    "x, [indices], value, out_grad", "accumulate: bool"),
       rule_variant("moe_combine", {"", infer_rule<moe_combine>},
                    "x, combine_weights, scatter_index"),
       rule_variant("moe_combine_grad", {"", infer_rule<moe_combine_grad>},
                    "x, combine_weights, scatter_index, grad_y")},
      {{"topk", "topk", {}, {}, "topk_grad"},
       {"argsort", "argsort", {}, {}, "argsort_grad"},
       {"cummax cummin", "cummax", {}, {}, "cummax_grad"},
       {"embedding lookup_table_v2", "embedding", embedding},
       {"c_embedding", "c_embedding", {.refuses_shared_mesh_dims = true}, {}, "c_embedding_grad"},
       {"gather", "", gather},
       {"gather_nd", "gather_nd", independent},
       {"index_select", "index_select", {.reduces_partial = true}, {}, "index_select_grad"},
       {"take_along_axis",
        "take_along_axis",
        {.reduces_partial = true},
        {},
        "take_along_axis_grad"},
       {"put_along_axis", "put_along_axis", {}, {}, "put_along_axis_grad"},
       {"scatter", "scatter", {.refusal = deep_index}},
       {"scatter_nd_add", "scatter_nd_add", {.refusal = deep_index}},
       {"one_hot", "", {.one_mesh_dim = OneMeshDim::kOutputs}},
       {"index_put", "index_put", {}, {}, "index_put_grad"},
       {"moe_combine", "moe_combine", {}, {}, "moe_combine_grad"}}};
}

}  // namespace phi::spmd_tool
