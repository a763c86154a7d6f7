// Initialisers in terms of deferred tensors.
#include "api/nn/initialiser.h"

#include <cmath>

#include "api/tensor/deferred.h"
#include "phi/common/errors.h"

namespace phi::nn {
namespace {

using Variance = double (*)(double in, double out);

double variance_of(const Dims& shape, Variance variance) {
  PHI_CHECK(shape.ndim() == 2 && shape.numel() > 0,
            errors::InvalidArgument("an initialiser by fan needs a matrix [in, out], got {}; use "
                                    "normal() or uniform() with explicit parameters.",
                                    TensorMeta{shape, DataType::FLOAT32}.to_string()));
  return variance(static_cast<double>(shape[0]), static_cast<double>(shape[1]));
}

Initialiser normal_of(Variance variance) {
  return [variance](const Dims& shape, DataType dtype, uint64_t seed) {
    return normal(std::sqrt(variance_of(shape, variance)))(shape, dtype, seed);
  };
}

// Uniform in [-a, a) has variance a^2 / 3.
Initialiser uniform_of(Variance variance) {
  return [variance](const Dims& shape, DataType dtype, uint64_t seed) {
    const double bound = std::sqrt(3.0 * variance_of(shape, variance));
    return uniform(-bound, bound)(shape, dtype, seed);
  };
}

double xavier(double in, double out) { return 2.0 / (in + out); }
double kaiming(double in, double) { return 2.0 / in; }

}  // namespace

Initialiser constant(double value) {
  return [value](const Dims& shape, DataType dtype, uint64_t) {
    return deferred_full(shape, value, dtype);
  };
}

Initialiser normal(double std, double mean) {
  return [std, mean](const Dims& shape, DataType dtype, uint64_t seed) {
    return deferred_gaussian(shape, static_cast<float>(mean), static_cast<float>(std), seed, dtype);
  };
}

Initialiser uniform(double min, double max) {
  return [min, max](const Dims& shape, DataType dtype, uint64_t seed) {
    return deferred_uniform(shape, min, max, seed, dtype);
  };
}

Initialiser xavier_normal() { return normal_of(xavier); }
Initialiser xavier_uniform() { return uniform_of(xavier); }
Initialiser kaiming_normal() { return normal_of(kaiming); }
Initialiser kaiming_uniform() { return uniform_of(kaiming); }

uint64_t seed_for(std::string_view name, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace phi::nn
