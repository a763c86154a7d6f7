// OpenBLAS's kernels on processors that are younger than it. Those it does not know get the ones of
// a Prescott (SSE3): the Emerald Rapids with 0.3.21, Debian 12's, which multiplied doubles at a
// quarter of the speed. When the library is loaded, it has OpenBLAS take better ones.
#pragma once

#include <string_view>

namespace phi {

/// The core, by OpenBLAS's names, whose kernels suit this processor better than those of `chosen`,
/// which OpenBLAS took by itself; null for none. `named` is OPENBLAS_CORETYPE, by which the user
/// chooses, or null.
const char* better_openblas_core(std::string_view chosen, const char* named);

/// From now on OpenBLAS computes with the kernels of `core`. Nothing may compute with it meanwhile.
/// Where OpenBLAS was built for one core, nothing happens.
void take_openblas_core(const char* core);

}  // namespace phi
