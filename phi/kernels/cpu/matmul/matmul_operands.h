// Operand arrays of matmuls on the CPU.
#pragma once

#include <memory>

#include "phi/common/dtype.h"
#include "phi/core/dense_tensor.h"
#include "phi/kernels/templates/matmul/operands.h"

namespace phi {

/// The elements of x; if they are complex, a conjugated copy.
template <typename T>
class Conjugated {
 public:
  explicit Conjugated(const DenseTensor& x) : data_(x.data<T>()) {
    if constexpr (kIsComplex<T>) {
      copy_ = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(x.numel()));
      for (int64_t i = 0; i < x.numel(); ++i) copy_[i] = conj(data_[i]);
      data_ = copy_.get();
    }
  }
  const T* data() const { return data_; }

 private:
  const T* data_;
  std::unique_ptr<T[]> copy_;
};

}  // namespace phi
