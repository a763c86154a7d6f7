// The search on a GPU for parameters that a distribution has not.
#pragma once

#include "phi/kernels/gpu/refuse.h"
#include "phi/kernels/random_parameters.h"

namespace phi::gpu {

template <typename T, typename Good>
struct IsBad {
  PHI_HD bool operator()(T x) const { return !Good()(static_cast<double>(x)); }
};
template <typename Good>
[[noreturn]] void throw_bad(const Misfit& found) {
  throw_no_parameter(found.argument, found.number, Good::kRange);
}

/// The error rises where the host waits next. What is drawn meanwhile must end.
template <typename Good, typename T>
void check_parameters(const GpuContext& ctx, const DenseTensor& x, const char* name) {
  refuse_elements<T>(ctx, x, IsBad<T, Good>(), {.argument = name, .raise = throw_bad<Good>});
}

}  // namespace phi::gpu
