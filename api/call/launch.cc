// Launches of the signatures that most operators have.
#include "api/call/launch.h"

namespace phi::detail {

template struct Launch<KernelSignature<const DenseTensor&, DenseTensor*>>;
template struct Launch<KernelSignature<const DenseTensor&, const DenseTensor&, DenseTensor*>>;
template struct Launch<KernelSignature<const DenseTensor&, const IntArray&, DenseTensor*>>;

}  // namespace phi::detail
