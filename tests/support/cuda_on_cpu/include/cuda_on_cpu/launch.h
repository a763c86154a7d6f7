// cudaLaunchKernelEx with the toolkit's signature. Arguments are converted to the kernel's types
// and kept by value until the kernel runs.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cuda_on_cpu {

/// A copy of an argument, of its parameter's type.
struct Argument {
  const void* address;
  size_t size;
};
/// Puts a kernel into the stream of `config`; `body` is one of its threads, and holds the
/// arguments.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, std::function<void()> body,
                   std::vector<Argument> arguments);
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
  static_assert(
      (sizeof(Parameters) + ... + 0) <= 32764,
      "kernel parameters take at most 32764 bytes, as CUDA has it from 12.1 and sm_70 on");
  return [&](Parameters... given) {
    const void* address = reinterpret_cast<const void*>(kernel);
    [[maybe_unused]] int index = 0;
    (cuda_on_cpu::check_argument_of(address, ++index, given), ...);
    const auto held = std::make_shared<const std::tuple<Parameters...>>(given...);
    std::vector<cuda_on_cpu::Argument> copies = std::apply(
        [](const Parameters&... copy) {
          return std::vector<cuda_on_cpu::Argument>{{&copy, sizeof(copy)}...};
        },
        *held);
    return cuda_on_cpu::launch(
        *config, address, [kernel, held] { std::apply(kernel, *held); }, std::move(copies));
  }(std::forward<Arguments>(arguments)...);
}
