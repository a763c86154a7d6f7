// refuse_elements: the CPU's check for elements that an operator does not accept.
#pragma once

#include <algorithm>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/core/device/misfit.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

/// Errors   `misfit.raise`'s, for the first element of x for which `wrong` returns true.
template <typename T, typename Wrong>
void refuse_elements(const CpuContext&, const DenseTensor& x, const Wrong& wrong, Misfit misfit) {
  const T* const begin = x.data<T>();
  const T* const end = begin + x.numel();
  const T* const found = std::find_if(begin, end, wrong);
  if (found == end) return;
  misfit.meta = x.meta();
  misfit.value = convert_value<int64_t>(*found);
  misfit.number = convert_value<double>(*found);
  misfit.at = found - begin;
  misfit.raise(misfit);
}

}  // namespace phi
