// check_elements: the CPU's check for elements that an operator does not accept.
#pragma once

#include <algorithm>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_assertion.h"
#include "phi/core/device/device_context.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

/// Errors   `assertion.raise`'s, for the first element of x for which `wrong` returns true.
template <typename T, typename Wrong>
void check_elements(const CpuContext&, const DenseTensor& x, const Wrong& wrong,
                    DeviceAssertion assertion) {
  const T* const begin = x.data<T>();
  const T* const end = begin + x.numel();
  const T* const found = std::find_if(begin, end, wrong);
  if (found == end) return;
  assertion.meta = x.meta();
  assertion.value = convert_value<int64_t>(*found);
  assertion.number = convert_value<double>(*found);
  assertion.at = found - begin;
  assertion.raise(assertion);
}

}  // namespace phi
