// The table of the reference's names.
#include "tools/spmd/reference.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "distributed/spmd/rules.h"
#include "distributed/spmd/rules/names.h"
#include "distributed/spmd/sharding.h"
#include "phi/common/nearest_name.h"

namespace phi::spmd_tool {
namespace {

using distributed::Factors;
using distributed::ReduceKind;
using distributed::Sharding;
using distributed::SpmdRule;
using distributed::TensorSpec;

// ---- forms of rules that no operator of ours has ----

template <ReduceKind kKind>
SpmdRule reduced(const RuleArgs& args) {
  return ReductionInferSpmd(args.spec(0), args.attr<IntArray>(0), args.attr<bool>(1), kKind);
}

// The kind of reduction is the reference's number.
SpmdRule reduce_base(const RuleArgs& args) {
  constexpr std::array kKinds = {ReduceKind::kSum,  ReduceKind::kMax, ReduceKind::kMin,
                                 ReduceKind::kProd, ReduceKind::kAvg, ReduceKind::kAny,
                                 ReduceKind::kAll};
  const auto kind = args.attr<int64_t>(2);
  PHI_CHECK(kind >= 0 && kind < static_cast<int64_t>(kKinds.size()),
            errors::InvalidArgument("reduce_type is {}; use 0 (sum) to {} (all).", kind,
                                    kKinds.size() - 1));
  return ReductionInferSpmd(args.spec(0), args.attr<IntArray>(0), args.attr<bool>(1),
                            kKinds[static_cast<size_t>(kind)]);
}

// The recorded gradient is whole, whatever lies where.
SpmdRule mean_all_grad(const RuleArgs& args) {
  const std::string_view whole = std::string_view("_________").substr(0, args.spec(0).ndim());
  return Factors().input(args.spec(0), whole).input(args.spec(1), "").output(whole);
}

// To the shape of y, or to target_shape where y is not given.
SpmdRule expand_as(const RuleArgs& args) {
  const TensorSpec* y = args.optional_spec(1);
  return y != nullptr ? ExpandAsInferSpmd(args.spec(0), *y)
                      : ExpandInferSpmd(args.spec(0), args.attr<IntArray>(0));
}

// As the op's gradient, reduce_as, with x first.
SpmdRule expand_as_grad(const RuleArgs& args) {
  const auto all = Factors::batch(args.spec(1).ndim());
  Factors rule;
  rule.input(args.spec(0), all, "").last_input_follows();
  return rule.input(args.spec(1), all, "").output_like(0);
}

// The operator lets dims of size 1 broadcast, the reference splits them as others.
SpmdRule tril(const RuleArgs& args) {
  const auto names = distributed::dim_names(args.spec(0).ndim());
  PHI_CHECK(names.size() >= 2, errors::InvalidArgument("x is {}; 2 dims or more are needed.",
                                                       args.spec(0).shape.to_string()));
  return Factors().input(args.spec(0), names).output(names).whole(names.substr(names.size() - 2));
}

// For any op: the first dim of tensors is `first_dim`, the others are not looked at.
SpmdRule any_op(const RuleArgs& args, char first_dim) {
  const auto names = [&](const TensorSpec& tensor) {
    distributed::Names result;
    for (int d = 0; d < tensor.ndim(); ++d) result.push_back(d == 0 ? first_dim : '_');
    return result;
  };
  Factors rule;
  if (first_dim != '_') rule.any_size({&first_dim, 1});
  for (const TensorSpec& x : args.list_spec(0)) rule.input(x, names(x));
  for (const TensorSpec& y : args.list_spec(1)) rule.output(names(y));
  return rule;
}

SpmdRule replicated(const RuleArgs& args) { return any_op(args, '_'); }

// A scalar output holds no batch, and how parts of it would be combined is not known.
SpmdRule data_parallel(const RuleArgs& args) {
  const auto outputs = args.list_spec(1);
  const bool scalar = std::any_of(outputs.begin(), outputs.end(),
                                  [](const TensorSpec& y) { return y.ndim() == 0; });
  return any_op(args, scalar ? '_' : 'b');
}

SpmdRule flatten(const RuleArgs& args) {
  return FlattenInferSpmd(args.spec(0), args.attr<int>(0), args.attr<int>(1));
}
SpmdRule stack(const RuleArgs& args) {
  return StackInferSpmd(args.list_spec(0), args.attr<Scalar>(0));
}
SpmdRule tile(const RuleArgs& args) { return TileInferSpmd(args.spec(0), args.attr<IntArray>(0)); }
SpmdRule cumsum(const RuleArgs& args) {
  return CumsumInferSpmd(args.spec(0), args.attr<Scalar>(0), args.attr<bool>(1), args.attr<bool>(2),
                         args.attr<bool>(3));
}

std::vector<OpRule> own_forms() {
  const auto axes = [](const char* name, RuleFunctions::Ask ask) {
    return OpRule(name, {"ReductionInferSpmd", ask})
        .tensor("x")
        .attribute(OpRule::required<IntArray>("axis"))
        .attribute(OpRule::required<bool>("keep_dim"));
  };
  const auto lists = [](const char* name, RuleFunctions::Ask ask) {
    return OpRule(name, {"", ask})
        .tensor("ins", TensorKind::kList)
        .tensor("outs", TensorKind::kList);
  };
  return {
      axes("all", reduced<ReduceKind::kAll>),
      axes("any", reduced<ReduceKind::kAny>),
      axes("min", reduced<ReduceKind::kMin>),
      axes("prod", reduced<ReduceKind::kProd>),
      axes("reduce_base", reduce_base).attribute(OpRule::required<int>("reduce_type")),
      OpRule("mean_all_grad", {"", mean_all_grad}).tensor("x").tensor("out_grad"),
      OpRule("expand_as", {"", expand_as})
          .tensor("x")
          .tensor("y", TensorKind::kOptional)
          .attribute(OpRule::required<IntArray>("target_shape")),
      OpRule("expand_as_grad", {"", expand_as_grad})
          .tensor("x")
          .tensor("out_grad")
          .attribute(OpRule::required<IntArray>("target_shape")),
      OpRule("tril", {"", tril}).tensor("x").attribute(OpRule::required<int>("diagonal")),
      lists("data_parallel", data_parallel),
      lists("replicated", replicated),
      OpRule("flatten", {"", flatten})
          .tensor("x")
          .attribute(OpRule::required<int>("start_axis"))
          .attribute(OpRule::required<int>("stop_axis")),
      OpRule("stack", {"", stack})
          .tensor("x", TensorKind::kList)
          .attribute(OpRule::required<Scalar>("axis")),
      OpRule("tile", {"", tile}).tensor("x").attribute(OpRule::required<IntArray>("repeat_times")),
      OpRule("cumsum", {"", cumsum})
          .tensor("x")
          .attribute(OpRule::required<Scalar>("axis"))
          .attribute(OpRule::required<bool>("flatten"))
          .attribute(OpRule::required<bool>("exclusive"))
          .attribute(OpRule::required<bool>("reverse")),
  };
}

// ---- what the reference refuses ----

const char* narrow_condition(const RuleArgs& args, Direction) {
  const int ndim = std::max(args.spec(1).ndim(), args.spec(2).ndim());
  return args.spec(0).ndim() < ndim ? "condition has fewer dims than x or y." : nullptr;
}
const char* scalar_index(const RuleArgs& args, Direction direction) {
  return direction == Direction::kForward && args.spec(1).ndim() == 0 ? "index is a scalar."
                                                                      : nullptr;
}
const char* missing_weights(const RuleArgs& args, Direction direction) {
  const bool both = args.optional_spec(1) != nullptr && args.optional_spec(2) != nullptr;
  return direction == Direction::kForward && !both ? "scale and bias need one dim each." : nullptr;
}
const char* vector_operand(const RuleArgs& args, Direction direction) {
  const bool vector = args.spec(0).ndim() == 1 || args.spec(1).ndim() == 1;
  return direction == Direction::kBackward && vector
             ? "an operand is a vector, whose output has lost a dim."
             : nullptr;
}
const char* decreased_axis(const RuleArgs& args, Direction direction) {
  return direction == Direction::kBackward && !args.attr<std::vector<int64_t>>(4).empty()
             ? "decrease_axis drops dims of the output."
             : nullptr;
}
const char* split_vocabulary(const RuleArgs& args, Direction direction) {
  const bool special = args.attr<int64_t>(0) >= 0 || args.attr<bool>(1);
  return direction == Direction::kForward && special && !Sharding::of(args.spec(1)).dims[0].empty()
             ? "the vocabulary is split, which padding_idx and sparse do not go with."
             : nullptr;
}
const char* split_classes(const RuleArgs& args, Direction direction) {
  const TensorSpec& x = args.spec(0);
  const bool soft = args.attr<bool>(0);
  const bool use_softmax = args.attr<bool>(1);
  const int classes = distributed::normal_axis(args.attr<int>(4), x.ndim());
  if (direction != Direction::kForward || (!soft && use_softmax && classes == x.ndim() - 1)) {
    return nullptr;
  }
  const Sharding logits = Sharding::of(x);
  uint32_t split = logits.dims[classes].mask();
  if (soft) split |= Sharding::of(args.spec(1)).dims[classes].mask() & ~logits.shard_mask();
  return split != 0 ? "the classes are split, which needs index labels, use_softmax and classes in "
                      "the last dim."
                    : nullptr;
}
bool without_softmax(const RuleArgs& args) { return !args.attr<bool>(1); }

// ---- the table ----

struct Row {
  std::string_view names;  // separated by blanks
  const char* rule;        // an operator or a form above; "": the names are operators
  Policies policies = {};
  std::vector<Reference::Renamed> renamed = {};
  const char* grad = nullptr;
};

// Where a name is no operator of ours, or the reference answers otherwise than it.
std::vector<Row> rows() {
  const Policies as_given = {.backward_outputs = BackwardOutputs::kAsGiven};
  const Policies binary = {.backward_outputs = BackwardOutputs::kAsGivenWhole};
  const Policies matmul = {.backward_outputs = BackwardOutputs::kAsGiven,
                           .refusal = vector_operand};
  const Policies embedding = {.backward_outputs = BackwardOutputs::kAsGiven,
                              .refusal = split_vocabulary,
                              .refuses_shared_mesh_dims = true};
  const Policies cross_entropy = {.refusal = split_classes,
                                  .keeps_partial = true,
                                  .last_output_first = true,
                                  .lacks_first_output = without_softmax};
  return {
      {"gelu", "", {}, {}, "gelu_grad"},
      {"elementwise_unary", "exp"},
      {"add subtract divide maximum multiply", "", binary},
      {"elementwise_binary", "add", binary},
      {"argmin", "argmax"},
      {"log_softmax", "softmax"},
      {"reshape2", "reshape"},
      {"transpose2", "transpose"},
      {"unsqueeze2", "unsqueeze"},
      {"fused_rms_norm", "rms_norm"},
      {"tril_triu triu", "tril", {}, {{"lower", ""}}},
      {"where", "", {.refusal = narrow_condition}},
      {"gather", "", {.backward_outputs = BackwardOutputs::kAsGiven, .refusal = scalar_index}},
      {"slice", "", {.refusal = decreased_axis}},
      {"layer_norm", "", {.refusal = missing_weights, .keeps_partial = true}},
      {"flash_attention", "", {.scalars_are_absent = 0b1010}},
      {"matmul matmul_v2",
       "matmul",
       matmul,
       {{"trans_x", "transpose_x"}, {"trans_y", "transpose_y"}}},
      {"embedding lookup_table_v2", "embedding", embedding},
      {"cross_entropy_with_softmax softmax_with_cross_entropy", "cross_entropy_with_softmax",
       cross_entropy},
      {"sum reduce_sum squared_l2_norm", "sum", as_given, {{"keep_dim", "keepdim"}}},
      {"max amax reduce_max", "max", as_given, {{"keep_dim", "keepdim"}}},
      {"min amin", "min", as_given},
      {"all", "all", as_given},
      {"any", "any", as_given},
      {"prod", "prod", as_given},
      {"reduce_base", "reduce_base", as_given},
      {"mean_all", "mean", {}, {}, "mean_all_grad"},
      {"expand_as expand_as_v2", "expand_as", {}, {}, "expand_as_grad"},
      {"default_ default_data_parallel", "data_parallel"},
      {"replicated", "replicated"},
      {"flatten", "flatten"},
      {"stack", "stack"},
      {"tile", "tile"},
      {"cumsum", "cumsum"},
  };
}

// A form above, or an operator.
const OpRule* rule_named(std::string_view name) {
  static const auto& forms = *new std::vector<OpRule>(own_forms());
  const auto it = std::find_if(forms.begin(), forms.end(),
                               [&](const OpRule& form) { return form.name() == name; });
  return it != forms.end() ? &*it : &rules::find(name);
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

const std::vector<Reference>& table() {
  static const auto& references = *[] {
    auto* list = new std::vector<Reference>;
    for (const Row& row : rows()) {
      for (const std::string& name : words(row.names)) {
        const std::string_view rule = *row.rule != '\0' ? std::string_view(row.rule) : name;
        const OpRule* grad = row.grad != nullptr ? rule_named(row.grad) : nullptr;
        list->push_back({name, rule_named(rule), grad, row.renamed, row.policies});
      }
    }
    for (const OpRule& rule : rules::all()) {
      const bool listed = std::any_of(list->begin(), list->end(), [&](const Reference& reference) {
        return reference.name == rule.name();
      });
      if (!listed) list->push_back({std::string(rule.name()), &rule, nullptr, {}, {}});
    }
    return list;
  }();
  return references;
}

}  // namespace

const OpRule::Attribute* Reference::attribute(const std::string& recorded,
                                              Direction direction) const {
  std::vector<std::string> names;
  std::string ours = recorded;
  for (const Renamed& entry : renamed) {
    names.push_back(entry.recorded);
    if (entry.recorded != recorded) continue;
    if (entry.ours.empty()) return nullptr;
    ours = entry.ours;
  }
  for (const OpRule::Attribute& attribute : of(direction).attributes()) {
    if (attribute.name == ours) return &attribute;
    names.emplace_back(attribute.name);
  }
  throw errors::InvalidArgument("the rule has no attribute '{}'; it has: {}.", recorded,
                                fmt::join(names, ", "));
}

const Reference& find_reference(std::string_view name) {
  std::vector<std::string> names;
  for (const Reference& reference : table()) {
    if (reference.name == name) return reference;
    names.push_back(reference.name);
  }
  throw errors::NotFound("there is no recorded rule '{}'{}", name,
                         names.empty() ? "." : did_you_mean(name, names));
}

}  // namespace phi::spmd_tool
