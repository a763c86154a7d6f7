// cudaLaunchKernelEx with the toolkit's signature. Arguments are converted to the kernel's
// parameter types and stored by value until the kernel runs. Templates here are compiled for each
// of several thousand kernels, so they are small.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace cuda_on_cpu {

/// An argument, converted to its parameter's type.
struct Argument {
  const void* address;
  size_t size;
  size_t alignment;
  bool is_pointer;  // pointer to data
};

/// Calls a kernel with the arguments at these addresses.
using Call = void (*)(const void* kernel, const void* const* arguments);

/// Queues a kernel on the stream of `config`, with copies of the arguments. Fails the test if a
/// pointer is neither null nor to memory that a kernel may access.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, Call call,
                   std::span<const Argument> arguments);

template <class T>
Argument argument(const T& value) {
  return {&value, sizeof(T), alignof(T),
          std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>};
}

template <class... Parameters>
struct KernelOf {
  using Pointer = void (*)(Parameters...);

  static void call(const void* kernel, const void* const* arguments) {
    call(reinterpret_cast<Pointer>(const_cast<void*>(kernel)), arguments,
         std::index_sequence_for<Parameters...>());
  }
  template <size_t... i>
  static void call(Pointer kernel, const void* const* arguments, std::index_sequence<i...>) {
    kernel(*static_cast<const Parameters*>(arguments[i])...);
  }
  static cudaError_t launch(const cudaLaunchConfig_t& config, Pointer kernel,
                            const Parameters&... parameters) {
    const std::array<Argument, sizeof...(Parameters)> arguments{argument(parameters)...};
    return cuda_on_cpu::launch(config, reinterpret_cast<const void*>(kernel), &call, arguments);
  }
};

}  // namespace cuda_on_cpu

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "a kernel's parameters are copied to the GPU byte by byte");
  static_assert(
      (sizeof(Parameters) + ... + 0) <= 32764,
      "kernel parameters take at most 32764 bytes, as CUDA has it from 12.1 and sm_70 on");
  return cuda_on_cpu::KernelOf<Parameters...>::launch(*config, kernel,
                                                      std::forward<Arguments>(arguments)...);
}
