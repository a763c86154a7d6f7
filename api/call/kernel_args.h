// KernelArgs: goes through the arrays among a kernel's arguments, as a launch gives them.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "phi/core/dense_tensor.h"

namespace phi::detail {

/// Takes a kernel's arguments one by one, also those that are not tensors, and calls
/// `f(position, x)` for the arrays that it reads and `g(x)` for those that it writes. The position
/// counts the kernel's tensor arguments.
template <typename Read, typename Written>
class KernelArgs {
 public:
  KernelArgs(Read read, Written written) : read_(read), written_(written) {}

  template <typename Arg>
  void add(const Arg& arg) {
    if constexpr (std::is_same_v<Arg, DenseTensor>) {
      read_(position_++, arg);
    } else if constexpr (std::is_convertible_v<Arg, std::span<DenseTensor* const>>) {
      for (DenseTensor* x : std::span<DenseTensor* const>(arg)) write(x);
    } else if constexpr (std::is_convertible_v<Arg, std::span<const DenseTensor* const>>) {
      for (const DenseTensor* x : std::span<const DenseTensor* const>(arg)) {
        if (x) read_(position_, *x);
      }
      ++position_;
    } else if constexpr (std::is_convertible_v<Arg, DenseTensor*>) {
      write(arg);
    } else if constexpr (std::is_convertible_v<Arg, const DenseTensor*>) {
      if (arg) read_(position_, *arg);
      ++position_;
    }
  }

 private:
  void write(DenseTensor* x) {
    if (x) written_(*x);
  }

  Read read_;
  Written written_;
  size_t position_ = 0;
};

}  // namespace phi::detail
