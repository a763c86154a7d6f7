// KernelArrays: the arrays among a kernel's arguments, for any signature. The rare parts of a
// launch (traces, captures, errors) use it.
#pragma once

#include <cstddef>
#include <span>

#include "phi/common/inline_vector.h"
#include "phi/core/dense_tensor.h"

namespace phi::detail {

struct KernelArray {
  const DenseTensor* array;
  size_t position;  // its index among the tensor arguments of the kernel: inputs, then outputs
  bool is_written;
};

/// Receives a kernel's arguments one by one. Ignores absent ones and those that are not tensors.
class KernelArrays {
 public:
  void add(const DenseTensor& x) { add(&x); }
  void add(const DenseTensor* x);
  void add(std::span<const DenseTensor* const> list);
  void add(DenseTensor* x);
  void add(std::span<DenseTensor* const> list);
  template <typename Attribute>
  void add(const Attribute&) {}

  const KernelArray* begin() const { return arrays_.begin(); }
  const KernelArray* end() const { return arrays_.end(); }

 private:
  void read(const DenseTensor* x);

  InlineVector<KernelArray, 12> arrays_;
  size_t position_ = 0;
};

}  // namespace phi::detail
