// One weight at a time.
#include "support/oracle/update.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace oracle {

double rate_at(const Rates& rates, int64_t step) {
  const auto s = static_cast<double>(step);
  const auto warmup = static_cast<double>(rates.warmup_steps);
  if (step <= rates.warmup_steps) return rates.lr * s / warmup;
  if (rates.kind == "constant") return rates.lr;
  if (rates.kind == "step") {
    double rate = rates.lr;
    for (const int64_t milestone : rates.milestones) {
      if (milestone < step) rate *= rates.gamma;
    }
    return rate;
  }
  if (rates.kind != "cosine") throw std::runtime_error("no schedule " + rates.kind);
  const double progress = (s - warmup) / (static_cast<double>(rates.steps) - warmup);
  const double wave = (1.0 + std::cos(std::numbers::pi * progress)) / 2;
  return rates.lr * (rates.min_ratio + (1.0 - rates.min_ratio) * wave);
}

void LossScale::count(bool applied) {
  if (!scales_) return;
  applied_ = applied ? applied_ + 1 : 0;
  if (!applied) value_ = std::max(1.0, value_ / 2);
  if (applied_ == 2000) {
    value_ *= 2;
    applied_ = 0;
  }
}

double gradient_norm(const Parameters& parameters) {
  double squares = 0.0;
  for (const auto& [name, parameter] : parameters) {
    for (const double g : parameter.gradient.values) squares += g * g;
  }
  return std::sqrt(squares);
}

void Optimizer::update(Parameters* parameters, double rate, double norm) {
  ++updates_;
  const double clip = rule_.grad_clip;
  const double divisor = clip > 0.0 ? std::max(1.0, (norm + 1e-6) / clip) : 1.0;
  for (auto& [name, parameter] : *parameters) {
    const double decay = parameter.is_matrix ? rule_.weight_decay : 0.0;
    const Matrix zeros(parameter.value.rows, parameter.value.columns);
    Moments& moments = moments_.try_emplace(name, Moments{zeros, zeros}).first->second;
    for (size_t e = 0; e < zeros.values.size(); ++e) {
      double& w = parameter.value.values[e];
      w -= rate * direction(w, parameter.gradient.values[e] / divisor, decay,
                            &moments.first.values[e], &moments.second.values[e]);
    }
  }
}

double Optimizer::direction(double w, double g, double decay, double* first, double* second) const {
  if (rule_.kind == "sgd") return g + decay * w;
  if (rule_.kind == "momentum") {
    const double pull = g + decay * w;
    *first = rule_.momentum * *first + pull;
    return rule_.nesterov ? pull + rule_.momentum * *first : *first;
  }
  if (rule_.kind != "adamw") throw std::runtime_error("no optimizer " + rule_.kind);
  const auto t = static_cast<double>(updates_);
  *first = rule_.beta1 * *first + (1.0 - rule_.beta1) * g;
  *second = rule_.beta2 * *second + (1.0 - rule_.beta2) * g * g;
  const double mean = *first / (1.0 - std::pow(rule_.beta1, t));
  const double square = *second / (1.0 - std::pow(rule_.beta2, t));
  return decay * w + mean / (std::sqrt(square) + rule_.eps);
}

}  // namespace oracle
