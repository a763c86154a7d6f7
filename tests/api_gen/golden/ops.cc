// The operators by number and by name.
// Generated from ops.yaml. Do not edit; change the YAML and build.
#include "phi/generated/ops.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "phi/common/errors.h"

namespace phi::ops {
namespace {

constexpr const char* kMatmulInputs[] = {"x", "y"};
constexpr const char* kMatmulOutputs[] = {"out"};
constexpr const char* kReluInputs[] = {"x"};
constexpr const char* kReluOutputs[] = {"out"};
constexpr const char* kSplitInputs[] = {"x"};
constexpr const char* kSplitOutputs[] = {"out"};
constexpr const char* kConcatInputs[] = {"x"};
constexpr const char* kConcatOutputs[] = {"out"};
constexpr const char* kNormInputs[] = {"x", "scale"};
constexpr const char* kNormOutputs[] = {"out", "mean"};
constexpr const char* kNonzeroInputs[] = {"condition"};
constexpr const char* kNonzeroOutputs[] = {"out"};
constexpr const char* kReshapeInputs[] = {"x"};
constexpr const char* kReshapeOutputs[] = {"out"};
constexpr const char* kFullOutputs[] = {"out"};
constexpr const char* kMomentum_Inputs[] = {"param", "grad", "velocity"};
constexpr const char* kMomentum_Outputs[] = {"param_out", "velocity_out"};
constexpr const char* kBmmInputs[] = {"x", "y"};
constexpr const char* kBmmOutputs[] = {"out"};

}  // namespace

const OpDef matmul = {0, "matmul", "MatmulInferSpmd", kMatmulInputs, kMatmulOutputs, "ops.yaml:2",
                      Kernel::named("matmul")};
const OpDef relu = {1, "relu", "ElementwiseUnaryInferSpmd", kReluInputs, kReluOutputs, "ops.yaml:9",
                    Kernel::named("relu")};
const OpDef split = {2, "split", "SplitInferSpmd", kSplitInputs, kSplitOutputs, "ops.yaml:16",
                     Kernel::named("split")};
const OpDef concat = {3, "concat", "", kConcatInputs, kConcatOutputs, "ops.yaml:22",
                      Kernel::named("concat")};
const OpDef norm = {4, "norm", "NormInferSpmd", kNormInputs, kNormOutputs, "ops.yaml:28",
                    Kernel::named("norm")};
const OpDef nonzero = {5, "nonzero", "NonZeroInferSpmd", kNonzeroInputs, kNonzeroOutputs,
                       "ops.yaml:36", Kernel::named("nonzero")};
const OpDef reshape = {6, "reshape", "ReshapeInferSpmd", kReshapeInputs, kReshapeOutputs,
                       "ops.yaml:43", Kernel::named("reshape")};
const OpDef full = {7, "full", "", {}, kFullOutputs, "ops.yaml:51", Kernel::named("full")};
const OpDef momentum_ = {8, "momentum_", "1, 1, 1 -> 1, 1", kMomentum_Inputs, kMomentum_Outputs,
                         "ops.yaml:62", Kernel::named("momentum")};
const OpDef bmm = {9, "bmm", "... m k, ... k n -> ... m n", kBmmInputs, kBmmOutputs, "ops.yaml:73",
                   Kernel::named("bmm")};

std::span<const OpDef* const> all() {
  static constexpr std::array<const OpDef*, 10> list = {
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
