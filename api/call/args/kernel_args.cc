// Collects the arrays among a kernel's arguments.
#include "api/call/args/kernel_args.h"

namespace phi::detail {

void KernelArrays::read(const DenseTensor* x) {
  if (x) arrays_.push_back({x, position_, false});
}

void KernelArrays::add(const DenseTensor* x) {
  read(x);
  ++position_;
}

void KernelArrays::add(std::span<const DenseTensor* const> list) {
  for (const DenseTensor* x : list) read(x);
  ++position_;
}

void KernelArrays::add(DenseTensor* x) { add(std::span<DenseTensor* const>(&x, 1)); }

void KernelArrays::add(std::span<DenseTensor* const> list) {
  for (DenseTensor* x : list) {
    if (x) arrays_.push_back({x, position_, true});
  }
  ++position_;
}

}  // namespace phi::detail
