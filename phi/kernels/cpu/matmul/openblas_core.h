// Selects OpenBLAS's kernels on processors that are newer than OpenBLAS. OpenBLAS uses the kernels
// of a Prescott (SSE3) on processors that it does not know, which are slow. Loading this library
// replaces them.
#pragma once

#include <string_view>

namespace phi {

/// Returns the OpenBLAS name of the core whose kernels suit this processor better than those of
/// `chosen`, the core that OpenBLAS selected; null if there is none. `named` is the value of
/// OPENBLAS_CORETYPE, by which users select a core, or null.
const char* better_openblas_core(std::string_view chosen, const char* named);

/// Makes OpenBLAS use the kernels of `core`. No thread may compute with OpenBLAS during the call.
/// Has no effect if OpenBLAS was built for one core.
void take_openblas_core(const char* core);

}  // namespace phi
