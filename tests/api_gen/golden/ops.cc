// The operators, in YAML order and by name.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#include "api/generated/ops.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/work.h"

namespace phi::ops {
namespace {

constexpr const char* kMatmulInputs[] = {"x", "y"};
constexpr int kMatmulTaken[] = {0, 1};
constexpr AttributeDef kMatmulAttributes[] = {{"transpose_x", AttributeKind::kBool, true},
                                              {"transpose_y", AttributeKind::kBool, true}};
constexpr const char* kMatmulOutputs[] = {"out"};
double kMatmulFlops(std::span<const Dims> shapes) {
  return 2.0 * work::elements(shapes[2]) * work::extent(shapes[0], -1) * work::extent(
      shapes[0], -2) / work::divisor(work::extent(shapes[2], -2));
}
constexpr const char* kReluInputs[] = {"x"};
constexpr int kReluTaken[] = {0};
constexpr const char* kReluOutputs[] = {"out"};
constexpr const char* kSplitInputs[] = {"x"};
constexpr int kSplitTaken[] = {0};
constexpr AttributeDef kSplitAttributes[] = {{"sections", AttributeKind::kInts, true},
                                             {"axis", AttributeKind::kNumber, true}};
constexpr const char* kSplitOutputs[] = {"out"};
constexpr const char* kConcatInputs[] = {"x"};
constexpr int kConcatTaken[] = {0};
constexpr AttributeDef kConcatAttributes[] = {{"axis", AttributeKind::kNumber, true}};
constexpr const char* kConcatOutputs[] = {"out"};
constexpr const char* kNormInputs[] = {"x", "scale"};
constexpr int kNormTaken[] = {0, 1};
constexpr AttributeDef kNormAttributes[] = {{"epsilon", AttributeKind::kFloat, true}};
constexpr const char* kNormOutputs[] = {"out", "mean"};
constexpr const char* kNonzeroInputs[] = {"condition"};
constexpr int kNonzeroTaken[] = {0};
constexpr const char* kNonzeroOutputs[] = {"out"};
constexpr const char* kReshapeInputs[] = {"x"};
constexpr int kReshapeTaken[] = {0};
constexpr AttributeDef kReshapeAttributes[] = {{"shape", AttributeKind::kInts, true}};
constexpr const char* kReshapeOutputs[] = {"out"};
constexpr AttributeDef kFullAttributes[] = {
    {"shape", AttributeKind::kInts, true}, {"value", AttributeKind::kNumber, false},
    {"dtype", AttributeKind::kDataType, true}, {"place", AttributeKind::kPlace, false}};
constexpr const char* kFullOutputs[] = {"out"};
constexpr const char* kMomentum_Inputs[] = {"param", "grad", "velocity", "master_param"};
constexpr int kMomentum_Taken[] = {0, 1, 2, 3};
constexpr AttributeDef kMomentum_Attributes[] = {{"mu", AttributeKind::kFloat, false}};
constexpr const char* kMomentum_Outputs[] = {"param_out", "velocity_out", "master_param_out"};
constexpr const char* kBmmInputs[] = {"x", "y"};
constexpr int kBmmTaken[] = {0, 1};
constexpr const char* kBmmOutputs[] = {"out"};
constexpr const char* kMatmulGradInputs[] = {"x", "y", "out_grad"};
constexpr int kMatmulGradTaken[] = {0, 1, 2};
constexpr AttributeDef kMatmulGradAttributes[] = {{"transpose_x", AttributeKind::kBool, true},
                                                  {"transpose_y", AttributeKind::kBool, true}};
constexpr const char* kMatmulGradOutputs[] = {"x_grad", "y_grad"};
constexpr const char* kReluGradInputs[] = {"out", "out_grad"};
constexpr int kReluGradTaken[] = {0, 1};
constexpr const char* kReluGradOutputs[] = {"x_grad"};
constexpr const char* kReluDoubleGradInputs[] = {"out", "grad_x_grad"};
constexpr int kReluDoubleGradTaken[] = {0, 1};
constexpr const char* kReluDoubleGradOutputs[] = {"grad_out_grad"};
constexpr const char* kNormGradInputs[] = {"x", "scale", "mean", "out_grad"};
constexpr int kNormGradTaken[] = {0, 1, 2, 3};
constexpr AttributeDef kNormGradAttributes[] = {{"epsilon", AttributeKind::kFloat, false},
                                                {"centered", AttributeKind::kBool, false}};
constexpr const char* kNormGradOutputs[] = {"x_grad", "scale_grad"};

}  // namespace

const OpDef matmul = {"matmul", rules::of::matmul, kMatmulInputs, kMatmulOutputs, kMatmulAttributes,
                      kMatmulTaken, 0, Kernel::named("matmul"), kMatmulFlops};
const OpDef relu = {"relu", rules::of::relu, kReluInputs, kReluOutputs, {}, kReluTaken, 0,
                    Kernel::named("relu"), nullptr};
const OpDef split = {"split", rules::of::split, kSplitInputs, kSplitOutputs, kSplitAttributes,
                     kSplitTaken, 0, Kernel::named("split"), nullptr};
const OpDef concat = {"concat", rules::of::concat, kConcatInputs, kConcatOutputs, kConcatAttributes,
                      kConcatTaken, 0, Kernel::named("concat"), nullptr};
const OpDef norm = {"norm", rules::of::norm, kNormInputs, kNormOutputs, kNormAttributes, kNormTaken,
                    0, Kernel::named("norm"), nullptr};
const OpDef nonzero = {"nonzero", rules::of::nonzero, kNonzeroInputs, kNonzeroOutputs, {},
                       kNonzeroTaken, 0, Kernel::named("nonzero"), nullptr};
const OpDef reshape = {"reshape", rules::of::reshape, kReshapeInputs, kReshapeOutputs,
                       kReshapeAttributes, kReshapeTaken, 0, Kernel::named("reshape"), nullptr};
const OpDef full = {"full", rules::of::full, {}, kFullOutputs, kFullAttributes, {}, 0,
                    Kernel::named("full"), nullptr};
const OpDef momentum_ = {"momentum_", rules::of::momentum_, kMomentum_Inputs, kMomentum_Outputs,
                         kMomentum_Attributes, kMomentum_Taken, 0, Kernel::named("momentum"),
                         nullptr};
const OpDef bmm = {"bmm", rules::of::bmm, kBmmInputs, kBmmOutputs, {}, kBmmTaken, 0,
                   Kernel::named("bmm"), nullptr};
const OpDef matmul_grad = {"matmul_grad", rules::of::matmul_grad, kMatmulGradInputs,
                           kMatmulGradOutputs, kMatmulGradAttributes, kMatmulGradTaken, 0,
                           Kernel::named("matmul_grad"), nullptr};
const OpDef relu_grad = {"relu_grad", rules::of::relu_grad, kReluGradInputs, kReluGradOutputs, {},
                         kReluGradTaken, 0, Kernel::named("relu_grad"), nullptr};
const OpDef relu_double_grad = {"relu_double_grad", rules::of::relu_double_grad,
                                kReluDoubleGradInputs, kReluDoubleGradOutputs, {},
                                kReluDoubleGradTaken, 0, Kernel::named("relu_grad"), nullptr};
const OpDef norm_grad = {"norm_grad", rules::of::norm_grad, kNormGradInputs, kNormGradOutputs,
                         kNormGradAttributes, kNormGradTaken, 0, Kernel::named("norm_grad"),
                         nullptr};

std::span<const OpDef* const> all() {
  static constexpr std::array<const OpDef*, 14> list = {
      &matmul,
      &relu,
      &split,
      &concat,
      &norm,
      &nonzero,
      &reshape,
      &full,
      &momentum_,
      &bmm,
      &matmul_grad,
      &relu_grad,
      &relu_double_grad,
      &norm_grad,
  };
  return list;
}

namespace {

// Edits (insert, remove, replace one character) that make `b` of `a`.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string nearest_names(std::string_view name) {
  std::vector<std::pair<size_t, std::string_view>> near;
  for (const OpDef* op : all()) near.emplace_back(distance(name, op->name), op->name);
  const size_t count = std::min<size_t>(3, near.size());
  std::partial_sort(near.begin(), near.begin() + count, near.end());
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i ? ", " : "") + std::string(near[i].second);
  return text;
}

}  // namespace

const OpDef& find(std::string_view name) {
  for (const OpDef* op : all()) {
    if (name == op->name) return *op;
  }
  throw errors::NotFound("there is no operator '{}'; the nearest are {}.", name,
                         nearest_names(name));
}

}  // namespace phi::ops
