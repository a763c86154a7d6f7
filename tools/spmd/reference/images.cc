// The reference's operators on images.
//
// Its convolutions give the spatial dims of image and kernel the same letters and allow splits of
// them; the operators' rules do not.
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

// Factors of a convolution, and the letters of the channels of input and filter.
struct ConvolutionLetters {
  FactorNames input;
  FactorNames filter;
  FactorNames output;
  int input_channel;
  int filter_channel;
};

enum class ConvolutionKind { kPlain, kTransposed, kDepthwise };

ConvolutionLetters letters(std::string_view spatial, ConvolutionKind kind,
                           const std::string& data_format) {
  const bool last = !data_format.empty() && data_format.back() == 'C';
  const char c = kind == ConvolutionKind::kDepthwise ? '1' : 'c';
  const auto with_spatial = [&](std::string_view front) {
    FactorNames names(front);
    for (char letter : spatial) names.push_back(letter);
    return names;
  };
  const char first[] = {'n', c};
  ConvolutionLetters result{with_spatial({first, last ? size_t{1} : size_t{2}}),
                            {},
                            with_spatial("nm"),
                            last ? static_cast<int>(spatial.size()) + 1 : 1,
                            1};
  if (last) result.input.push_back(c);
  const char filter[] = {'m', c};
  result.filter =
      with_spatial(kind == ConvolutionKind::kTransposed ? "cm" : std::string_view(filter, 2));
  if (kind == ConvolutionKind::kTransposed) result.filter_channel = 0;
  return result;
}

const distributed::MeshDims split_of(const TensorSpec& tensor, int d) {
  return Sharding::of(tensor).dims[static_cast<size_t>(d)];
}

Factors forward(const ConvolutionLetters& names, const TensorSpec& input,
                const TensorSpec& filter) {
  Factors rule;
  rule.any_size("ncmdhw").input(input, names.input).input(filter, names.filter);
  return rule.output(names.output);
}

// Refuses channels that input and filter split differently, in the forward direction.
const char* unlike_channels(const RuleArgs& args, const ConvolutionLetters& names) {
  return split_of(args.spec(0), names.input_channel) == split_of(args.spec(1), names.filter_channel)
             ? nullptr
             : "the channels of input and filter are split differently.";
}

template <int kSpatial, ConvolutionKind kKind>
ConvolutionLetters letters_of(const RuleArgs& args) {
  // conv2d is recorded without attributes; in the others, data_format is the last one.
  constexpr int kFormat = kKind == ConvolutionKind::kTransposed ? 7 : 5;
  const bool plain = kSpatial == 2 && kKind == ConvolutionKind::kPlain;
  return letters(kSpatial == 2 ? "hw" : "dhw", kKind,
                 plain ? "NCHW" : args.attr<std::string>(kFormat));
}

template <int kSpatial, ConvolutionKind kKind>
SpmdRule convolution(const RuleArgs& args) {
  return forward(letters_of<kSpatial, kKind>(args), args.spec(0), args.spec(1));
}

template <int kSpatial, ConvolutionKind kKind>
const char* refused(const RuleArgs& args, Direction direction) {
  if (direction != Direction::kForward) return nullptr;
  if (kKind != ConvolutionKind::kDepthwise)
    return unlike_channels(args, letters_of<kSpatial, kKind>(args));
  return split_of(args.spec(1), 1).empty() ? nullptr : "the filter's channels are split.";
}

// Each gradient is a convolution of out_grad with the other tensor, with its own factors.
template <int kSpatial, ConvolutionKind kKind>
SpmdResult gradient(const RuleArgs& args) {
  const TensorSpec &input = args.spec(0), &filter = args.spec(1), &out_grad = args.spec(2);
  const ConvolutionLetters names = letters_of<kSpatial, kKind>(args);
  Factors of_input, of_filter, of_all;
  of_input.any_size("ncmdhw").input(filter, names.filter).input(out_grad, names.output);
  of_filter.any_size("ncmdhw").input(input, names.input).input(out_grad, names.output);
  of_all.any_size("ncmdhw").input(input, names.input).input(filter, names.filter);
  of_all.input(out_grad, names.output);
  if (kKind == ConvolutionKind::kDepthwise) {
    of_input.combined("nmhw");
    of_filter.combined("nmhw");
  }
  const SpmdResult for_input = resolved_result(of_input.output(names.input));
  const SpmdResult for_filter = resolved_result(of_filter.output(names.filter));
  SpmdResult result;
  result.inputs.push_back(for_filter.inputs[0]);
  result.inputs.push_back(for_input.inputs[0]);
  result.inputs.push_back(resolved_result(of_all).inputs[2]);
  result.outputs.push_back(for_input.outputs[0]);
  result.outputs.push_back(for_filter.outputs[0]);
  return result;
}

// Batch norm: the channels of x determine those of the running statistics; weights are replicated.
SpmdRule batch_norm(const TensorSpec& x, const TensorSpec& mean, const TensorSpec& variance,
                    const TensorSpec& scale, const TensorSpec& bias) {
  PHI_CHECK(x.ndim() >= 2, errors::InvalidArgument("x has fewer than 2 dims."));
  FactorNames names(std::string_view("_________").substr(0, static_cast<size_t>(x.ndim())));
  names[1] = 'c';
  Factors rule;
  rule.input(x, names).input(mean, "c").last_input_follows();
  rule.input(variance, "c").last_input_follows().input(scale, "_").input(bias, "_");
  rule.output(names).output("c").output("c").output("c").output("c").output("_");
  return rule.combined("c");
}

// Group and instance norm: `names` are the letters of x's first dims; weights are replicated.
FactorNames image(const TensorSpec& x, std::string_view names) {
  FactorNames result(names);
  while (result.size() < x.ndim()) {
    result.push_back(names.size() < 4 ? '_' : distributed::dim_names(x.ndim())[result.size()]);
  }
  return result;
}

SpmdRule group_norm(const TensorSpec& x, const TensorSpec& scale, const TensorSpec& bias) {
  return Factors()
      .input(x, image(x, "n_"))
      .input(scale, "_")
      .input(bias, "_")
      .output(image(x, "n_"))
      .output("n_")
      .output("n_");
}

// Only the first two spatial dims must not be split.
SpmdRule instance_norm(const TensorSpec& x, const TensorSpec& scale, const TensorSpec& bias,
                       double) {
  const FactorNames names = image(x, "nx__");
  Factors rule;
  rule.input(x, names).input(scale, "_").input(bias, "_");
  rule.output(names).output("nx").output("nx");
  return rule.combined("cdefghi");
}

SpmdResult instance_norm_grad(const RuleArgs& args) {
  const TensorSpec& x = args.spec(0);
  const FactorNames names = image(x, "nx__");
  Factors rule;
  rule.input(x, names).input(args.spec(1), "_");
  for (int i : {3, 4}) rule.input(args.spec(i), "nx").last_input_follows();
  rule.input(args.spec(5), names).last_input_follows();
  rule.combined("cdefghi");
  return resolved_result(rule.output(names).output("_").output("_"));
}

}  // namespace

ReferenceRules image_reference_rules() {
  using namespace distributed;
  constexpr std::string_view kConv =
      "strides: ints, paddings: ints, padding_algorithm: string, groups: int, dilations: ints, "
      "data_format: string";
  constexpr std::string_view kTransposed =
      "strides: ints, paddings: ints, output_padding: ints, output_size: ints, "
      "padding_algorithm: string, groups: int, dilations: ints, data_format: string";
  constexpr std::string_view kRegions =
      "pooled_height: int, pooled_width: int, spatial_scale: float, sampling_ratio: int, aligned: "
      "bool";
  constexpr std::string_view kTensors = "input, filter";
  constexpr std::string_view kGradTensors = "input, filter, output_grad";
  constexpr auto kPlain = ConvolutionKind::kPlain;
  return {
      {rule_variant("conv2d", {"", convolution<2, kPlain>}, kTensors),
       rule_variant("conv3d", {"", convolution<3, kPlain>}, kTensors, kConv),
       rule_variant("conv3d_grad", {"", composed<gradient<3, kPlain>>}, kGradTensors, kConv),
       rule_variant("depthwise_conv2d", {"", convolution<2, ConvolutionKind::kDepthwise>}, kTensors,
                    kConv),
       rule_variant("depthwise_conv2d_grad",
                    {"", composed<gradient<2, ConvolutionKind::kDepthwise>>}, kGradTensors, kConv),
       rule_variant("conv2d_transpose", {"", convolution<2, ConvolutionKind::kTransposed>},
                    kTensors, kTransposed),
       rule_variant("conv2d_transpose_grad",
                    {"", composed<gradient<2, ConvolutionKind::kTransposed>>}, kGradTensors,
                    kTransposed),
       rule_variant("roi_align", {"", infer_rule<RoiAlignInferSpmd>}, "x, boxes, boxes_num?",
                    kRegions),
       rule_variant("roi_align_grad", {"", infer_rule<RoiAlignGradInferSpmd>},
                    "x, boxes, boxes_num?, out_grad", kRegions),
       rule_variant("batch_norm", {"", infer_rule<batch_norm>}, "x, mean, variance, scale, bias"),
       rule_variant("group_norm", {"", infer_rule<group_norm>}, "x, scale, bias"),
       rule_variant("instance_norm", {"", infer_rule<instance_norm>}, "x, scale, bias",
                    "epsilon: float"),
       rule_variant("instance_norm_grad", {"", composed<instance_norm_grad>},
                    "x, scale, bias, saved_mean, saved_variance, y_grad", "epsilon: float")},
      {{"conv2d",
        "conv2d",
        {.backward_outputs = BackwardOutputs::kAsGiven, .refusal = refused<2, kPlain>}},
       {"conv3d", "conv3d", {.refusal = refused<3, kPlain>}, {}, "conv3d_grad"},
       {"depthwise_conv2d",
        "depthwise_conv2d",
        {.refusal = refused<2, ConvolutionKind::kDepthwise>},
        {},
        "depthwise_conv2d_grad"},
       {"conv2d_transpose",
        "conv2d_transpose",
        {.refusal = refused<2, ConvolutionKind::kTransposed>},
        {},
        "conv2d_transpose_grad"},
       {"roi_align", "roi_align", {}, {}, "roi_align_grad"},
       {"batch_norm", "batch_norm"},
       {"group_norm", "group_norm"},
       {"instance_norm", "instance_norm", {}, {}, "instance_norm_grad"}}};
}

}  // namespace phi::spmd_tool
