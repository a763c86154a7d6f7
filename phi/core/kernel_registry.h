// Kernels by name, backend and dtype.
//
// The generator writes a signature per kernel (phi/generated/kernel_signatures.h):
//   namespace phi::kernels { using matmul = KernelSignature<const DenseTensor&, const DenseTensor&,
//                                                           bool, bool, DenseTensor*>; }
// and a kernel file registers its template, checked against that signature by the compiler:
//   PHI_REGISTER_KERNEL(matmul, CPU, MatmulKernel, float, double, bfloat16, float16);
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "phi/common/dtype.h"
#include "phi/common/place.h"
#include "phi/core/device_context.h"

namespace phi {

template <typename... Args>
struct KernelSignature {
  template <typename Context>
  using Function = void (*)(const Context&, Args...);
};

/// The kernels of one name: a table of function pointers by backend and dtype.
class Kernel {
 public:
  using Erased = void (*)();

  explicit Kernel(std::string name) : name_(std::move(name)) {}

  /// The kernel of this name, made empty on first mention; stable for the life of the process.
  static Kernel& named(std::string_view name);
  static std::vector<std::string> names();

  const std::string& name() const { return name_; }
  void add(DeviceKind kind, DataType dtype, Erased function) {
    table_[static_cast<int>(kind)][static_cast<int>(dtype)] = function;
  }
  /// Null if there is none.
  Erased find(DeviceKind kind, DataType dtype) const {
    return table_[static_cast<int>(kind)][static_cast<int>(dtype)];
  }
  /// What stands for the kernel in a dry run, where most have nothing to do: the kernels that
  /// communicate count their messages. Null if there is none.
  void add_dry(DataType dtype, Erased function) { dry_[static_cast<int>(dtype)] = function; }
  Erased find_dry(DataType dtype) const { return dry_[static_cast<int>(dtype)]; }
  /// Errors: Unimplemented, listing the dtypes and backends that the kernel has.
  template <typename Signature, typename Context>
  typename Signature::template Function<Context> select(DeviceKind kind, DataType dtype) const {
    const Erased function = find(kind, dtype);
    if (!function) [[unlikely]]
      throw_missing(kind, dtype);
    return reinterpret_cast<typename Signature::template Function<Context>>(function);
  }

 private:
  [[noreturn]] void throw_missing(DeviceKind kind, DataType dtype) const;

  std::string name_;
  std::array<std::array<Erased, kNumDataTypes>, kNumDeviceKinds> table_{};
  std::array<Erased, kNumDataTypes> dry_{};
};

namespace detail {

template <DeviceKind kKind>
struct ContextOf;
template <>
struct ContextOf<DeviceKind::CPU> {
  using type = CpuContext;
};

template <typename Signature, DeviceKind kKind, typename T>
bool register_kernel(
    const char* name,
    typename Signature::template Function<typename ContextOf<kKind>::type> function) {
  Kernel::named(name).add(kKind, dtype_of<T>(), reinterpret_cast<Kernel::Erased>(function));
  return true;
}

template <typename Signature, typename T>
bool register_dry_kernel(const char* name,
                         typename Signature::template Function<CpuContext> function) {
  Kernel::named(name).add_dry(dtype_of<T>(), reinterpret_cast<Kernel::Erased>(function));
  return true;
}

}  // namespace detail
}  // namespace phi

#define PHI_REGISTER_ONE_DRY_(name, backend, function, T)                                 \
  [[maybe_unused]] static const bool PHI_CONCAT_(phi_registered_##name##_, __COUNTER__) = \
      ::phi::detail::register_dry_kernel<::phi::kernels::name, T>(#name, &function<T>);
#define PHI_REGISTER_ONE_(name, backend, function, T)                                      \
  [[maybe_unused]] static const bool PHI_CONCAT_(phi_registered_##name##_, __COUNTER__) =  \
      ::phi::detail::register_kernel<::phi::kernels::name, ::phi::DeviceKind::backend, T>( \
          #name, &function<T>);
#define PHI_CONCAT_INNER_(a, b) a##b
#define PHI_CONCAT_(a, b) PHI_CONCAT_INNER_(a, b)
#define PHI_EACH_1_(m, n, b, f, t) m(n, b, f, t)
#define PHI_EACH_2_(m, n, b, f, t, ...) m(n, b, f, t) PHI_EACH_1_(m, n, b, f, __VA_ARGS__)
#define PHI_EACH_3_(m, n, b, f, t, ...) m(n, b, f, t) PHI_EACH_2_(m, n, b, f, __VA_ARGS__)
#define PHI_EACH_4_(m, n, b, f, t, ...) m(n, b, f, t) PHI_EACH_3_(m, n, b, f, __VA_ARGS__)
#define PHI_EACH_5_(m, n, b, f, t, ...) m(n, b, f, t) PHI_EACH_4_(m, n, b, f, __VA_ARGS__)
#define PHI_EACH_6_(m, n, b, f, t, ...) m(n, b, f, t) PHI_EACH_5_(m, n, b, f, __VA_ARGS__)
#define PHI_EACH_7_(m, n, b, f, t, ...) m(n, b, f, t) PHI_EACH_6_(m, n, b, f, __VA_ARGS__)
#define PHI_EACH_8_(m, n, b, f, t, ...) m(n, b, f, t) PHI_EACH_7_(m, n, b, f, __VA_ARGS__)
#define PHI_PICK_(_1, _2, _3, _4, _5, _6, _7, _8, name, ...) name
/// One line per kernel, at namespace scope: name, backend (CPU), function template, dtypes.
#define PHI_REGISTER_KERNEL(name, backend, function, ...)                                 \
  PHI_PICK_(__VA_ARGS__, PHI_EACH_8_, PHI_EACH_7_, PHI_EACH_6_, PHI_EACH_5_, PHI_EACH_4_, \
            PHI_EACH_3_, PHI_EACH_2_, PHI_EACH_1_)                                        \
  (PHI_REGISTER_ONE_, name, backend, function, __VA_ARGS__) static_assert(true)
/// The same for what a kernel does in a dry run: its messages. Arrays have no bytes then.
#define PHI_REGISTER_DRY_KERNEL(name, function, ...)                                      \
  PHI_PICK_(__VA_ARGS__, PHI_EACH_8_, PHI_EACH_7_, PHI_EACH_6_, PHI_EACH_5_, PHI_EACH_4_, \
            PHI_EACH_3_, PHI_EACH_2_, PHI_EACH_1_)                                        \
  (PHI_REGISTER_ONE_DRY_, name, CPU, function, __VA_ARGS__) static_assert(true)
