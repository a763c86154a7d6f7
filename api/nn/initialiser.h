// Initialisers: initial values of parameters, as deferred tensors.
//
//   Initialiser init = nn::normal(0.02);
//   Tensor w = init({64, 256}, DataType::FLOAT32, nn::seed_for("up.weight", 1));   // no bytes yet
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "api/tensor/tensor.h"

namespace phi::nn {

/// Returns a deferred tensor of a shape and dtype. Random values depend on the seed and the
/// element's global index, so every sharding holds parts of the same value.
using Initialiser = std::function<Tensor(const Dims& shape, DataType dtype, uint64_t seed)>;

Initialiser constant(double value);
Initialiser normal(double std, double mean = 0.0);
/// Values in [min, max).
Initialiser uniform(double min, double max);

// The initialisers below need matrices [in, out] and throw InvalidArgument for other shapes.

/// Variance 2 / (in + out) (Glorot & Bengio 2010).
Initialiser xavier_normal();
Initialiser xavier_uniform();
/// Variance 2 / in (He et al. 2015).
Initialiser kaiming_normal();
Initialiser kaiming_uniform();

/// The seed for the random numbers of `name` (FNV-1a of the name and the seed).
uint64_t seed_for(std::string_view name, uint64_t seed);

}  // namespace phi::nn
