// Shape functions and rules of ops.yaml.
#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/meta.h"

namespace phi {

std::tuple<std::vector<TensorMeta>, std::vector<TensorMeta>, TensorMeta> SpreadInferMeta(
    const TensorMeta& x, std::span<const TensorMeta> scales);
std::tuple<TensorMeta, std::vector<TensorMeta>> SpreadGradInferMeta(
    const TensorMeta& x, std::span<const TensorMeta> scales);
std::tuple<std::vector<TensorMeta>, std::vector<TensorMeta>> TwoListsInferMeta(
    std::span<const TensorMeta> xs, std::span<const TensorMeta> ys);
std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, TensorMeta> RunningInferMeta(
    const TensorMeta& x, const TensorMeta& mean, const TensorMeta* variance);
/// x with a last dim of 1, and x.
std::tuple<TensorMeta, TensorMeta> ColumnInferMeta(const TensorMeta& x);
TensorMeta SpinInferMeta(const TensorMeta& x);
TensorMeta RealPartOfInferMeta(const TensorMeta& x);
TensorMeta PickInferMeta(const TensorMeta& x, const std::optional<DataType>& dtype);

namespace distributed {

SpmdRule SpreadInferSpmd(const TensorSpec& x, std::span<const TensorSpec> scales);
SpmdRule SpreadGradInferSpmd(const TensorSpec& x, std::span<const TensorSpec> scales,
                             std::span<const TensorSpec> products_grad,
                             std::span<const TensorSpec> sums_grad, const TensorSpec& total_grad);
SpmdRule TwoListsInferSpmd(std::span<const TensorSpec> xs, std::span<const TensorSpec> ys);
/// The last dim of x is that of mean and variance, which are alike wherever the first one is split.
SpmdRule RunningInferSpmd(const TensorSpec& x, const TensorSpec& mean, const TensorSpec* variance);
SpmdRule ColumnInferSpmd(const TensorSpec& x);

}  // namespace distributed
}  // namespace phi
