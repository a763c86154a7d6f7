// The error for invalid parameters of distributions.
#include "phi/kernels/random_parameters.h"

#include "phi/common/errors.h"

namespace phi {

void throw_no_parameter(const char* name, double x, const char* range) {
  throw errors::InvalidArgument("{} holds {}, but a parameter of this distribution is {}.", name, x,
                                range);
}

}  // namespace phi
