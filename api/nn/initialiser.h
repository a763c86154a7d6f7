// Initialisers: the values of a parameter before training, as deferred tensors.
//
//   Initialiser init = nn::normal(0.02);
//   Tensor w = init({64, 256}, DataType::FLOAT32, nn::seed_for("up.weight", 1));   // no bytes yet
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "api/tensor/tensor.h"

namespace phi::nn {

/// Makes a deferred tensor of a shape and dtype; random values follow the seed and an element's
/// place in the whole tensor, so that every sharding sees parts of one value.
using Initialiser = std::function<Tensor(const Dims& shape, DataType dtype, uint64_t seed)>;

Initialiser constant(double value);
Initialiser normal(double std, double mean = 0.0);
/// Values in [min, max).
Initialiser uniform(double min, double max);

// For matrices [in, out]; errors of what they return: InvalidArgument for a tensor that is not one.

/// Variance 2 / (in + out) (Glorot & Bengio 2010).
Initialiser xavier_normal();
Initialiser xavier_uniform();
/// Variance 2 / in (He et al. 2015).
Initialiser kaiming_normal();
Initialiser kaiming_uniform();

/// The seed of random numbers that belong to `name` (FNV-1a of the name and the seed).
uint64_t seed_for(std::string_view name, uint64_t seed);

}  // namespace phi::nn
