// Parameters and inputs that a program in another language can make too: sines of their places.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "api/nn/module.h"

namespace phi::nn::models {

/// Element i is centre + spread sin(12.9898 (i + 1) + 78.233 (k + 1)), in double until it is
/// stored.
inline Tensor made_up(const Dims& shape, int k, double spread, double centre = 0.0) {
  std::vector<float> values(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i) {
    const double angle = 12.9898 * static_cast<double>(i + 1) + 78.233 * static_cast<double>(k + 1);
    values[i] = static_cast<float>(centre + spread * std::sin(angle));
  }
  return Tensor::from(std::move(values), shape);
}

/// Parameter k of a model: norms' scales about 1, other vectors small, matrices and more by fan-in.
inline void make_up_parameters(Module& model) {
  int k = 0;
  model.fill([&k](const std::string& name, const Tensor& now) {
    const Dims& shape = now.shape();
    if (name.ends_with("scale")) return made_up(shape, k++, 0.1, 1.0);
    return made_up(shape, k++, shape.ndim() == 1 ? 0.05 : 0.2);
  });
}

}  // namespace phi::nn::models
