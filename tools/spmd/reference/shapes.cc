// The reference's data movement operators, and its rules for any op.
#include <algorithm>

#include "distributed/spmd/rules.h"
#include "distributed/spmd/rules/factor_names.h"
#include "distributed/spmd/sharding.h"
#include "tools/spmd/reference/rule_variant.h"

namespace phi::spmd_tool {
namespace {

using distributed::FactorNames;
using distributed::Factors;
using distributed::SpmdResult;
using distributed::SpmdRule;
using distributed::TensorSpec;

// Expands to the shape of y, or to target_shape if y is absent.
SpmdRule expand_as(const TensorSpec& x, const TensorSpec* y, const IntArray& target_shape) {
  return y != nullptr ? distributed::ExpandAsInferSpmd(x, *y)
                      : distributed::ExpandInferSpmd(x, target_shape);
}

// Like the op's gradient reduce_as, with x as first argument.
SpmdRule expand_as_grad(const TensorSpec& x, const TensorSpec& out_grad, const IntArray&) {
  const auto all = Factors::batch(out_grad.ndim());
  Factors rule;
  rule.input(x, all, "").last_input_follows();
  return rule.input(out_grad, all, "").output_like(0);
}

// The operator broadcasts dims of size 1; the reference splits them like others.
SpmdRule tril(const TensorSpec& x, int) {
  const auto names = distributed::dim_names(x.ndim());
  PHI_CHECK(names.size() >= 2,
            errors::InvalidArgument("x is {}; 2 dims or more are needed.", x.shape.to_string()));
  return Factors().input(x, names).output(names).whole(names.substr(names.size() - 2));
}

// For any op: the first dim of tensors has the factor `first_dim`; others are ignored.
SpmdRule any_op(std::span<const TensorSpec> ins, std::span<const TensorSpec> outs, char first_dim) {
  const auto names = [&](const TensorSpec& tensor) {
    FactorNames result;
    for (int d = 0; d < tensor.ndim(); ++d) result.push_back(d == 0 ? first_dim : '_');
    return result;
  };
  Factors rule;
  if (first_dim != '_') rule.any_size({&first_dim, 1});
  for (const TensorSpec& x : ins) rule.input(x, names(x));
  for (const TensorSpec& y : outs) rule.output(names(y));
  return rule;
}

SpmdRule replicated(std::span<const TensorSpec> ins, std::span<const TensorSpec> outs) {
  return any_op(ins, outs, '_');
}

// A scalar output has no batch dim, and how its parts would be reduced is unknown.
SpmdRule data_parallel(std::span<const TensorSpec> ins, std::span<const TensorSpec> outs) {
  const bool scalar =
      std::any_of(outs.begin(), outs.end(), [](const TensorSpec& y) { return y.ndim() == 0; });
  return any_op(ins, outs, scalar ? '_' : 'b');
}

const char* decreased_axis(const RuleArgs& args, Direction direction) {
  return direction == Direction::kBackward && !args.attr<std::vector<int64_t>>(4).empty()
             ? "decrease_axis drops dims of the output."
             : nullptr;
}

// The reference allows a split of the last dim if only this dim is sliced and its parts contain
// whole steps, whatever start and end are.
SpmdRule strided_slice(const TensorSpec& x, const std::vector<int>& axes, const IntArray& starts,
                       const IntArray& ends, const IntArray& strides) {
  const int last = x.ndim() - 1;
  if (strides.size() == 1 && last >= 0 && axes.size() == 1 &&
      distributed::normal_axis(axes[0], x.ndim()) == last) {
    const distributed::Sharding given = distributed::Sharding::of(x);
    const auto& split = given.dims[static_cast<size_t>(last)];
    if (x.shape[last] / split.parts(x.attr->mesh()) % strides[0] == 0) {
      const auto names = distributed::dim_names(x.ndim());
      return Factors().input(x, names).output(names);
    }
  }
  return distributed::StridedSliceInferSpmd(x, axes, starts, ends, strides);
}

// Requirements on out_grad take precedence over those on x.
SpmdResult strided_slice_grad(const RuleArgs& args) {
  const TensorSpec& x = args.spec(0);
  FactorNames names(distributed::dim_names(x.ndim()));
  for (int axis : args.attr<std::vector<int>>(0)) {
    names[distributed::normal_axis(axis, x.ndim())] = '_';
  }
  SpmdResult result =
      resolved_result(Factors().input(args.spec(1), names).input(x, names).output(names));
  std::swap(result.inputs[0], result.inputs[1]);
  return result;
}

}  // namespace

ReferenceRules shape_reference_rules() {
  using namespace distributed;
  const Policies whole = {.reduces_partial = true};
  constexpr std::string_view kSteps = "axes: ints, starts: ints, ends: ints, strides: ints";
  const auto lists = [](const char* name, RuleFunctions::InferSpmd infer_spmd) {
    return rule_variant(name, {"", infer_spmd}, "[ins], [outs]");
  };
  return {
      {rule_variant("expand_as", {"", infer_rule<expand_as>}, "x, y?", "target_shape: ints"),
       rule_variant("expand_as_grad", {"", infer_rule<expand_as_grad>}, "x, out_grad",
                    "target_shape: ints"),
       rule_variant("tril", {"", infer_rule<tril>}, "x", "diagonal: int"),
       lists("data_parallel", infer_rule<data_parallel>),
       lists("replicated", infer_rule<replicated>),
       rule_variant("flatten", {"", infer_rule<FlattenInferSpmd>}, "x",
                    "start_axis: int, stop_axis: int"),
       rule_variant("stack", {"", infer_rule<StackInferSpmd>}, "[x]", "axis: number"),
       rule_variant("tile", {"", infer_rule<TileInferSpmd>}, "x", "repeat_times: ints"),
       rule_variant("cumsum", {"", infer_rule<CumsumInferSpmd>}, "x",
                    "axis: number, flatten: bool, exclusive: bool, reverse: bool"),
       rule_variant("pad", {"", infer_rule<PadInferSpmd>}, "x", "paddings: ints, pad_value: int"),
       rule_variant("roll", {"", infer_rule<RollInferSpmd>}, "x", "shifts: ints, axis: ints"),
       rule_variant("roll_grad", {"", infer_rule<RollGradInferSpmd>}, "x, out_grad",
                    "shifts: ints, axis: ints"),
       rule_variant("unbind", {"", infer_rule<UnbindInferSpmd>}, "x", "axis: int"),
       rule_variant("strided_slice", {"", infer_rule<strided_slice>}, "input", kSteps),
       rule_variant("strided_slice_grad", {"", composed<strided_slice_grad>}, "input, out_grad",
                    kSteps)},
      {{"reshape2", "reshape"},
       {"transpose2", "transpose"},
       {"split split_with_num squeeze", "", whole},
       {"unsqueeze unsqueeze2", "unsqueeze", whole},
       {"tril_triu triu", "tril", {}, {{"lower", ""}}},
       {"slice", "", {.refusal = decreased_axis, .reduces_partial = true}},
       {"expand_as expand_as_v2", "expand_as", whole, {}, "expand_as_grad"},
       {"default_ default_data_parallel", "data_parallel"},
       {"replicated", "replicated"},
       {"flatten", "flatten"},
       {"stack", "stack"},
       {"tile", "tile", whole},
       {"cumsum", "cumsum"},
       {"pad", "pad", {.reduces_partial = true, .one_mesh_dim = OneMeshDim::kOutputs}},
       {"roll", "roll", whole, {}, "roll_grad"},
       {"unbind", "unbind", whole},
       {"strided_slice", "strided_slice", whole, {}, "strided_slice_grad"}}};
}

}  // namespace phi::spmd_tool
