// cudaLaunchKernelEx with the toolkit's signature. Arguments are converted to the kernel's types
// and kept by value until the kernel runs.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cuda_on_cpu {

/// Puts a kernel into the stream of `config`; `body` is one of its threads.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   std::function<void()> body);
/// Ends the test unless argument number `index` lies where a kernel may read or is null.
void check_argument(const void* kernel, int index, const void* pointer);

template <class T>
void check_argument_of(const void* kernel, int index, const T& argument) {
  if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
    check_argument(kernel, index, argument);
  }
}

}  // namespace cuda_on_cpu

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "a kernel's parameters are copied to the GPU byte by byte");
  static_assert((sizeof(Parameters) + ... + 0) <= 32764,
                "kernel parameters take at most 32764 bytes, as CUDA has it from 12.1 and sm_70 on");
  return [&](Parameters... given) {
    const void* address = reinterpret_cast<const void*>(kernel);
    [[maybe_unused]] int index = 0;
    (cuda_on_cpu::check_argument_of(address, ++index, given), ...);
    return cuda_on_cpu::launch(
        *config, address,
        [kernel, held = std::tuple<Parameters...>(given...)] { std::apply(kernel, held); });
  }(std::forward<Arguments>(arguments)...);
}
