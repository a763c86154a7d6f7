// All copies of one launch share one block of memory.
#include "support/cuda_on_cpu/arguments.h"

#include <cstring>

#include "support/cuda_on_cpu/failure.h"

namespace cuda_on_cpu {
namespace {

size_t place_behind(size_t end, const Argument& argument) {
  return (end + argument.alignment - 1) / argument.alignment * argument.alignment;
}

}  // namespace

Arguments::Arguments(std::span<const Argument> given) : each_(given.begin(), given.end()) {
  size_t size = 0;
  for (const Argument& argument : given) {
    if (argument.alignment > kAlignment)
      fail("a kernel's parameter requires too large an alignment");
    size = place_behind(size, argument) + argument.size;
  }
  memory_.reset(static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlignment})));
  size_t end = 0;
  for (Argument& argument : each_) {
    const size_t begin = place_behind(end, argument);
    std::memcpy(memory_.get() + begin, argument.address, argument.size);
    argument.address = memory_.get() + begin;
    addresses_.push_back(argument.address);
    end = begin + argument.size;
  }
}

}  // namespace cuda_on_cpu
