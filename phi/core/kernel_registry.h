// Registers and finds kernels by name, kind of device and dtype.
//
// A kernel is a template on its element type and the context of its device. From the operator's
// YAML entry the generator writes the kernel's signature as a type (phi/generated/kernels/<the YAML
// file>.h):
//   struct relu {
//     using Signature = KernelSignature<const DenseTensor&, DenseTensor*>;
//     using Parameters = KernelParameters<"x", "out">;
//     static constexpr const char* kName = "relu";
//   };
// At the registration the compiler compares the definition with this signature, parameter by
// parameter:
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
  /// Type of the function that a launch calls, for every kind of device.
  using Function = void (*)(const KernelContext&, Args...);
};

/// A string literal as a template argument.
template <size_t kSize>
struct FixedString {
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is one.
  consteval FixedString(const char (&literal)[kSize]) { std::ranges::copy(literal, text); }
  char text[kSize];
};

namespace detail {
template <FixedString kName, typename InKernel, typename InEntry>
struct MatchedParameter {
  static_assert(std::is_same_v<InKernel, InEntry>,
                "a kernel's parameter differs in type from its YAML entry; see "
                "MatchedParameter<name, type in the kernel, type by the entry>");
};
}  // namespace detail

/// Names of a kernel's inputs and outputs in its YAML entry, for the compiler's error messages.
template <FixedString... kNames>
struct KernelParameters {
  template <typename... InKernel, typename... InEntry>
  static consteval bool match(TypeList<InKernel...>, TypeList<InEntry...>) {
    return (sizeof(detail::MatchedParameter<kNames, InKernel, InEntry>) + ... + 0) >= 0;
  }
};

/// All kernels of one name: a table of function pointers, indexed by kind of device and dtype.
class Kernel {
 public:
  using Erased = void (*)();

  explicit Kernel(std::string name) : name_(std::move(name)) {}

  /// Returns the table for `name`, and creates an empty one at the first call. The reference stays
  /// valid for the life of the process.
  static Kernel& named(std::string_view name);
  static std::vector<std::string> names();

  const std::string& name() const { return name_; }
  void add(DeviceKind kind, DataType dtype, Erased function) {
    entry(kind, dtype).store(function, std::memory_order_release);
    is_registered_.store(true, std::memory_order_release);
  }
  /// Declares that `library` (kernel_library.h) has this kernel for some dtypes. find() loads the
  /// library when it needs one of them. Call this before any launch.
  void add_library(const char* library);
  std::span<const char* const> libraries() const { return libraries_; }
  /// Whether the kernel is registered; loads no library.
  bool is_here(DeviceKind kind, DataType dtype) const {
    return entry(kind, dtype).load(std::memory_order_acquire) != nullptr;
  }
  /// Registers a function; PHI_REGISTER_KERNEL calls this. If one is already registered, it stays:
  /// the process aborts with a message, or an active KernelClashes collects the clash.
  void enter(DeviceKind kind, DataType dtype, Erased function);
  /// Whether there is a function for any dtype on any kind of device, here or in a kernel library.
  /// If not, operators with this kernel are only declared and run only dry.
  bool is_registered() const {
    return is_registered_.load(std::memory_order_acquire) ||
           is_in_library_.load(std::memory_order_acquire);
  }
  /// Returns the function, or null if there is none. Loads a kernel library if needed. Errors:
  /// those of load_kernel_library.
  Erased find(DeviceKind kind, DataType dtype) const {
    const Erased found = entry(kind, dtype).load(std::memory_order_acquire);
    if (found == nullptr && is_in_library_.load(std::memory_order_acquire)) [[unlikely]]
      return find_in_libraries(kind, dtype);
    return found;
  }
  /// Registers the function that a dry run calls instead of the kernel. Kernels that communicate
  /// have one, which counts their messages. find_dry returns null if there is none.
  void add_dry(DataType dtype, Erased function) { dry_[static_cast<int>(dtype)] = function; }
  Erased find_dry(DataType dtype) const { return dry_[static_cast<int>(dtype)]; }
  /// Registers the statement of the CPU kernel's scratch memory (device/scratch_context.h), which a
  /// dry run calls. find_scratch returns null if there is none.
  void add_scratch(DataType dtype, Erased function) {
    scratch_[static_cast<int>(dtype)] = function;
  }
  Erased find_scratch(DataType dtype) const { return scratch_[static_cast<int>(dtype)]; }
  /// Errors: those of select.
  void check_has(DeviceKind kind, DataType dtype) const {
    if (!find(kind, dtype)) [[unlikely]]
      throw_missing(kind, dtype);
  }
  /// Returns the function, typed. Errors: Unimplemented if there is none, listing the dtypes that
  /// the kernel accepts on this kind of device; those of find.
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
  /// Loads the kernel libraries that have this kernel for some dtypes.
  void load_libraries() const;
  Erased find_in_libraries(DeviceKind kind, DataType dtype) const;
  [[noreturn]] void throw_missing(DeviceKind kind, DataType dtype) const;

  std::string name_;
  // Atomic: one thread may load a library while others launch.
  std::array<std::array<Entry, kNumDataTypes>, kNumDeviceKinds> table_{};
  std::array<Erased, kNumDataTypes> dry_{};
  std::array<Erased, kNumDataTypes> scratch_{};
  std::vector<const char*> libraries_;
  std::atomic<bool> is_registered_ = false;
  mutable std::atomic<bool> is_in_library_ = false;
};

/// Scope that collects the duplicate registrations of the calling thread instead of aborting. It is
/// used while a library is loaded.
class KernelClashes {
 public:
  KernelClashes();
  ~KernelClashes();
  KernelClashes(const KernelClashes&) = delete;
  KernelClashes& operator=(const KernelClashes&) = delete;
  /// Completes the registrations of kernels that a kernel library may have too. They are deferred,
  /// because that library has to be loaded first to detect a clash, and no library can be loaded
  /// while another one is being loaded.
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

/// `Kernel` is the type of the address of a kernel's definition.
template <typename Kernel, typename Context, typename Names, typename Signature>
struct CheckedKernel {
  static_assert(!std::is_same_v<Kernel, Kernel>,
                "a kernel must return void and accept its device context first");
};
template <typename Context, typename... InKernel, typename Names, typename... InEntry>
struct CheckedKernel<void (*)(const Context&, InKernel...), Context, Names,
                     KernelSignature<InEntry...>> {
  static_assert(sizeof...(InKernel) == sizeof...(InEntry),
                "a kernel has more or fewer parameters than its YAML entry");
  static constexpr bool kIsRight = Names::match(TypeList<InKernel...>(), TypeList<InEntry...>());
};

/// `Definitions` is a captureless lambda that returns the address of the kernel for <T, Context>.
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

/// `Name` is a type of phi::kernels.
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
/// Registers a kernel. Arguments: name, kind of device, function template, TypeList<...>. One line
/// per kernel, in namespace phi.
#define PHI_REGISTER_KERNEL(name, kind, function, ...)                               \
  [[maybe_unused]] static const bool PHI_CONCAT_(phi_registered_, __COUNTER__) =     \
      ::phi::detail::register_kernel<::phi::kernels::name, ::phi::DeviceKind::kind>( \
          __VA_ARGS__{}, PHI_DEFINITIONS_(function))
/// Registers the function that a dry run calls instead of a kernel, on any kind of device. It only
/// counts messages: the arrays have no bytes.
#define PHI_REGISTER_DRY_KERNEL(name, function, ...)                             \
  [[maybe_unused]] static const bool PHI_CONCAT_(phi_registered_, __COUNTER__) = \
      ::phi::detail::register_dry_kernel<::phi::kernels::name>(__VA_ARGS__{},    \
                                                               PHI_DEFINITIONS_(function))
