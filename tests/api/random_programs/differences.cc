// Directions, and slopes along them.
#include "differences.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>

namespace phi::testing::programs {
namespace {

constexpr double kStep = 1e-6;
constexpr double kTolerance = 2e-6;

double inner_product(const Tensor& a, const Tensor& b) {
  const auto x = a.values<double>();
  const auto y = b.values<double>();
  double total = 0;
  for (size_t i = 0; i < x.size(); ++i) total += x[i] * y[i];
  return total;
}

}  // namespace

Differences::Differences(TensorList given) : given_(std::move(given)) {
  for (const Tensor& x : given_) {
    const int seed = 500 + static_cast<int>(directions_.size());
    directions_.push_back(
        x.requires_grad() ? gaussian(x.shape(), 0.0f, 1.0f, seed, DataType::FLOAT64) : Tensor());
  }
}

TensorList Differences::begin(int which) {
  which_ = which;
  next_fixed_ = next_asked_ = 0;
  ended_ = false;
  now_.clear();
  const NoGrad no_grad;
  const double step = which == 0 ? 0 : which == 1 ? kStep : -kStep;
  for (size_t i = 0; i < given_.size(); ++i) {
    const bool is_leaf = directions_[i].defined();
    now_.push_back(is_leaf ? add(given_[i], scale(directions_[i], step)) : assign(given_[i]));
    if (is_leaf) now_.back().set_requires_grad();
  }
  return now_;
}

Tensor Differences::fixed(const Tensor& x) {
  if (!is_moved()) {
    fixed_.push_back(Tensor(x.dense().clone()));
    return x;
  }
  const Tensor& value = fixed_[next_fixed_++];
  Tensor out = x;
  std::memcpy(out.dense().mutable_raw_data(), value.dense().raw_data(), value.dense().nbytes());
  return out;
}

void Differences::note(const TensorList& losses) {
  double loss = 0;
  for (const Tensor& x : losses) loss += x.item();
  if (ended_) return;
  if (is_moved()) {
    asked_[next_asked_++].loss[static_cast<size_t>(which_)] = loss;
    return;
  }
  TensorList leaves;
  TensorList directions;
  for (size_t i = 0; i < now_.size(); ++i) {
    if (!directions_[i].defined()) continue;
    leaves.push_back(now_[i]);
    directions.push_back(directions_[i]);
  }
  Asked asked;
  asked.loss[0] = loss;
  try {
    const TensorList grads = grad(losses, leaves, {}, /*retain_graph=*/true);
    for (size_t i = 0; i < grads.size(); ++i) {
      if (grads[i].defined()) asked.slope += inner_product(grads[i], directions[i]);
    }
  } catch (const Error& error) {
    // Not all leaves are asked for, and the way to others has been used up.
    if (error.code() != ErrorCode::kPreconditionNotMet) throw;
    asked.is_known = false;
  }
  asked_.push_back(asked);
}

std::string Differences::disagreement() const {
  for (size_t i = 0; i < asked_.size(); ++i) {
    const Asked& asked = asked_[i];
    if (!asked.is_known) continue;
    const double expected = (asked.loss[1] - asked.loss[2]) / (2 * kStep);
    const double scale = std::max({1.0, std::abs(expected), std::abs(asked.loss[0])});
    if (std::abs(asked.slope - expected) <= kTolerance * scale) continue;
    return fmt::format("gradient {} gives a slope of {:.12g}, finite differences {:.12g}", i,
                       asked.slope, expected);
  }
  return {};
}

}  // namespace phi::testing::programs
