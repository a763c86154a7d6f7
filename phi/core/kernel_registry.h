// Kernels by name, kind of device and dtype.
//
// A kernel is a template on its element type and the context of its device. What its YAML entry
// says that it takes, the generator writes as a type (phi/generated/kernels/<the YAML file>.h):
//   struct relu {
//     using Signature = KernelSignature<const DenseTensor&, DenseTensor*>;
//     using Parameters = KernelParameters<"x", "out">;
//     static constexpr const char* kName = "relu";
//   };
// and the compiler checks the definition against it, parameter by parameter, where it is
// registered:
//   PHI_REGISTER_KERNEL(relu, CPU, ReluKernel, Numbers);
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "phi/common/dtype.h"
#include "phi/common/place.h"
#include "phi/core/device/device_context.h"

namespace phi {

template <typename... Args>
struct KernelSignature {
  /// As launches call it, whatever the device.
  using Function = void (*)(const KernelContext&, Args...);
};

/// A text that is an argument of a template.
template <size_t kSize>
struct FixedString {
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is one.
  consteval FixedString(const char (&literal)[kSize]) { std::ranges::copy(literal, text); }
  char text[kSize];
};

namespace detail {
template <FixedString kName, typename InKernel, typename InEntry>
struct Parameter {
  static_assert(std::is_same_v<InKernel, InEntry>,
                "a kernel's parameter has another type than its YAML entry says; which one is in "
                "Parameter<name, type in the kernel, type by the entry>");
};
}  // namespace detail

/// The names in the YAML entry of what a kernel takes and gives, for the compiler's errors.
template <FixedString... kNames>
struct KernelParameters {
  template <typename... InKernel, typename... InEntry>
  static consteval bool match(TypeList<InKernel...>, TypeList<InEntry...>) {
    return (sizeof(detail::Parameter<kNames, InKernel, InEntry>) + ... + 0) >= 0;
  }
};

/// The kernels of one name: a table of function pointers by kind of device and dtype.
class Kernel {
 public:
  using Erased = void (*)();

  explicit Kernel(std::string name) : name_(std::move(name)) {}

  /// The kernel of this name, made empty on first mention; stable for the life of the process.
  static Kernel& named(std::string_view name);
  static std::vector<std::string> names();

  const std::string& name() const { return name_; }
  void add(DeviceKind kind, DataType dtype, Erased function) {
    entry(kind, dtype).store(function, std::memory_order_release);
    is_registered_.store(true, std::memory_order_release);
  }
  /// Some of this kernel's dtypes are in this kernel library (kernel_library.h), which is loaded
  /// when one of them is looked for. Called before any launch.
  void add_home(const char* library);
  std::span<const char* const> homes() const { return homes_; }
  /// Whether it is there without loading a library.
  bool is_here(DeviceKind kind, DataType dtype) const {
    return entry(kind, dtype).load(std::memory_order_acquire) != nullptr;
  }
  /// What PHI_REGISTER_KERNEL does. One that is there already stays, and the program ends with a
  /// message, or hears of it (KernelClashes).
  void enter(DeviceKind kind, DataType dtype, Erased function);
  /// There is one for some dtype on some device. Where there is none, operators that name it are
  /// declared only: they run dry.
  bool is_registered() const {
    return is_registered_.load(std::memory_order_acquire) ||
           is_elsewhere_.load(std::memory_order_acquire);
  }
  /// Null if there is none. Errors: those of load_kernel_library, if the kernel is in a library
  /// that has yet to be loaded.
  Erased find(DeviceKind kind, DataType dtype) const {
    const Erased found = entry(kind, dtype).load(std::memory_order_acquire);
    if (found == nullptr && is_elsewhere_.load(std::memory_order_acquire)) [[unlikely]]
      return find_elsewhere(kind, dtype);
    return found;
  }
  /// What stands for the kernel in a dry run, where most have nothing to do: the kernels that
  /// communicate count their messages. Null if there is none.
  void add_dry(DataType dtype, Erased function) { dry_[static_cast<int>(dtype)] = function; }
  Erased find_dry(DataType dtype) const { return dry_[static_cast<int>(dtype)]; }
  /// Errors: those of select.
  void check_has(DeviceKind kind, DataType dtype) const {
    if (!find(kind, dtype)) [[unlikely]]
      throw_missing(kind, dtype);
  }
  /// Errors: Unimplemented, listing the dtypes that the kernel takes on this kind of device.
  template <typename Signature>
  typename Signature::Function select(DeviceKind kind, DataType dtype) const {
    check_has(kind, dtype);
    return reinterpret_cast<typename Signature::Function>(find(kind, dtype));
  }

 private:
  using Entry = std::atomic<Erased>;

  const Entry& entry(DeviceKind kind, DataType dtype) const {
    return table_[static_cast<int>(kind)][static_cast<int>(dtype)];
  }
  Entry& entry(DeviceKind kind, DataType dtype) {
    return table_[static_cast<int>(kind)][static_cast<int>(dtype)];
  }
  friend class KernelClashes;
  void enter_now(DeviceKind kind, DataType dtype, Erased function);
  /// Loads the kernel libraries that have some of this kernel.
  void load_homes() const;
  Erased find_elsewhere(DeviceKind kind, DataType dtype) const;
  [[noreturn]] void throw_missing(DeviceKind kind, DataType dtype) const;

  std::string name_;
  // Atomic: one thread may load a library while others launch.
  std::array<std::array<Entry, kNumDataTypes>, kNumDeviceKinds> table_{};
  std::array<Erased, kNumDataTypes> dry_{};
  std::vector<const char*> homes_;
  std::atomic<bool> is_registered_ = false;
  mutable std::atomic<bool> is_elsewhere_ = false;
};

/// While it lives it notes what the calling thread registers though it is there already: the
/// kernels of a library that is being loaded.
class KernelClashes {
 public:
  KernelClashes();
  ~KernelClashes();
  KernelClashes(const KernelClashes&) = delete;
  KernelClashes& operator=(const KernelClashes&) = delete;
  /// Registers what had to wait: a kernel that a kernel library may have. Loads that library first,
  /// which is not possible while another one is being loaded.
  void settle();
  /// "kernel 'relu' for float32 on cpu"
  const std::vector<std::string>& found() const { return found_; }

 private:
  friend class Kernel;
  struct Waiting {
    Kernel* kernel;
    DeviceKind kind;
    DataType dtype;
    Kernel::Erased function;
  };
  std::vector<std::string> found_;
  std::vector<Waiting> waiting_;
  KernelClashes* outer_;
};

namespace detail {

template <DeviceKind kKind>
struct ContextOf;
template <>
struct ContextOf<DeviceKind::CPU> {
  using type = CpuContext;
};
template <>
struct ContextOf<DeviceKind::GPU> {
  using type = GpuContext;
};

/// Kernel: the type of a definition's address.
template <typename Kernel, typename Context, typename Names, typename Signature>
struct CheckedKernel {
  static_assert(!std::is_same_v<Kernel, Kernel>,
                "a kernel returns nothing and takes the context of its device first");
};
template <typename Context, typename... InKernel, typename Names, typename... InEntry>
struct CheckedKernel<void (*)(const Context&, InKernel...), Context, Names,
                     KernelSignature<InEntry...>> {
  static_assert(sizeof...(InKernel) == sizeof...(InEntry),
                "a kernel has more or fewer parameters than its YAML entry says");
  static constexpr bool kIsRight = Names::match(TypeList<InKernel...>(), TypeList<InEntry...>());
};

/// Definitions: a lambda without captures that gives the address of the kernel for <T, Context>.
template <typename Definitions, typename Context, typename T, typename Name, typename Signature>
struct KernelEntry;
template <typename Definitions, typename Context, typename T, typename Name, typename... Args>
struct KernelEntry<Definitions, Context, T, Name, KernelSignature<Args...>> {
  static void run(const KernelContext& launch, Args... args) {
    constexpr auto kernel = Definitions{}.template operator()<T, Context>();
    static_assert(CheckedKernel<std::remove_cv_t<decltype(kernel)>, Context,
                                typename Name::Parameters, KernelSignature<Args...>>::kIsRight);
    kernel(Context(launch), args...);
  }
};

/// Name: of phi::kernels.
template <typename Name, DeviceKind kKind, typename... Ts, typename Definitions>
bool register_kernel(TypeList<Ts...>, Definitions) {
  using Context = typename ContextOf<kKind>::type;
  Kernel& kernel = Kernel::named(Name::kName);
  (kernel.enter(kKind, dtype_of<Ts>(),
                reinterpret_cast<Kernel::Erased>(
                    &KernelEntry<Definitions, Context, Ts, Name, typename Name::Signature>::run)),
   ...);
  return true;
}

template <typename Name, typename... Ts, typename Definitions>
bool register_dry_kernel(TypeList<Ts...>, Definitions) {
  Kernel& kernel = Kernel::named(Name::kName);
  (kernel.add_dry(
       dtype_of<Ts>(),
       reinterpret_cast<Kernel::Erased>(
           &KernelEntry<Definitions, KernelContext, Ts, Name, typename Name::Signature>::run)),
   ...);
  return true;
}

}  // namespace detail
}  // namespace phi

#define PHI_CONCAT_INNER_(a, b) a##b
#define PHI_CONCAT_(a, b) PHI_CONCAT_INNER_(a, b)
#define PHI_DEFINITIONS_(function) \
  []<typename T, typename Context>() consteval { return &function<T, Context>; }
/// One line per kernel, in namespace phi: name, kind of device, function template, TypeList<...>.
#define PHI_REGISTER_KERNEL(name, kind, function, ...)                               \
  [[maybe_unused]] static const bool PHI_CONCAT_(phi_registered_, __COUNTER__) =     \
      ::phi::detail::register_kernel<::phi::kernels::name, ::phi::DeviceKind::kind>( \
          __VA_ARGS__{}, PHI_DEFINITIONS_(function))
/// The same for what a kernel does in a dry run, on any device: its messages. Arrays have no bytes
/// then.
#define PHI_REGISTER_DRY_KERNEL(name, function, ...)                             \
  [[maybe_unused]] static const bool PHI_CONCAT_(phi_registered_, __COUNTER__) = \
      ::phi::detail::register_dry_kernel<::phi::kernels::name>(__VA_ARGS__{},    \
                                                               PHI_DEFINITIONS_(function))
