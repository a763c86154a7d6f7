// Device-side assertions for invalid parameters of distributions.
#pragma once

#include "phi/kernels/gpu/check_elements.h"
#include "phi/kernels/random_parameters.h"

namespace phi::gpu {

template <typename T, typename Good>
struct IsInvalidParameter {
  PHI_HD bool operator()(T x) const { return !Good()(static_cast<double>(x)); }
};
template <typename Good>
[[noreturn]] void throw_invalid_parameter(const DeviceAssertion& found) {
  throw_no_parameter(found.argument, found.number, Good::kRange);
}

/// Checks that all elements of x are valid parameters. The error is thrown at the next host
/// synchronisation, so the sampling kernel must terminate for invalid parameters too.
template <typename Good, typename T>
void check_parameters(const GpuContext& ctx, const DenseTensor& x, const char* name) {
  check_elements<T>(ctx, x, IsInvalidParameter<T, Good>(),
                    {.argument = name, .raise = throw_invalid_parameter<Good>});
}

}  // namespace phi::gpu
