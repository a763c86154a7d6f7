// Copies of a kernel's arguments, as a launch stores them.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "cuda_on_cpu/launch.h"

namespace cuda_on_cpu {

class Arguments {
 public:
  explicit Arguments(std::span<const Argument> given);

  std::span<const Argument> each() const { return each_; }
  const void* const* addresses() const { return addresses_.data(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete (memory, std::align_val_t{kAlignment});
    }
  };
  static constexpr size_t kAlignment = 64;  // largest alignment of a parameter

  std::unique_ptr<std::byte, Free> memory_;
  std::vector<Argument> each_;
  std::vector<const void*> addresses_;
};

}  // namespace cuda_on_cpu
