// The table of kernels by name.
#include "phi/core/kernel_registry.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/kernel_library.h"

namespace phi {
namespace {

struct KernelTable {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
};
KernelTable& kernel_table() {
  static auto& instance = *new KernelTable;
  return instance;
}

thread_local KernelClashes* innermost_clashes = nullptr;

}  // namespace

KernelClashes::KernelClashes() : outer_(innermost_clashes) { innermost_clashes = this; }
KernelClashes::~KernelClashes() { innermost_clashes = outer_; }

void KernelClashes::settle() {
  for (const Waiting& each : std::exchange(waiting_, {})) {
    innermost_clashes = nullptr;  // the kernel library's own registrations are no clashes
    try {
      each.kernel->load_libraries();
    } catch (const Error&) {  // the library cannot be loaded, so its kernels do not clash
    }
    innermost_clashes = this;
    each.kernel->enter_now(each.kind, each.dtype, each.function);
  }
}

void Kernel::enter(DeviceKind kind, DataType dtype, Erased function) {
  if (innermost_clashes != nullptr && is_in_library_.load()) {
    innermost_clashes->waiting_.push_back({this, kind, dtype, function});
    return;
  }
  enter_now(kind, dtype, function);
}

void Kernel::enter_now(DeviceKind kind, DataType dtype, Erased function) {
  if (entry(kind, dtype).load() == nullptr) return add(kind, dtype, function);
  std::string what = fmt::format("kernel '{}' for {} on {}", name_, phi::name_of(dtype),
                                 Place{kind, 0}.to_string());
  if (innermost_clashes != nullptr) {
    innermost_clashes->found_.push_back(std::move(what));
    return;
  }
  // Static objects register kernels before main, where an exception cannot be caught.
  std::fprintf(stderr, "autophi: %s is registered twice; rename one of them.\n", what.c_str());
  std::abort();
}

Kernel& Kernel::named(std::string_view name) {
  const std::lock_guard lock(kernel_table().mutex);
  auto it = kernel_table().kernels.find(name);
  yield_point("kernel_registry.named.looked_up");
  if (it == kernel_table().kernels.end()) {
    it = kernel_table()
             .kernels.emplace(std::string(name), std::make_unique<Kernel>(std::string(name)))
             .first;
  }
  return *it->second;
}

std::vector<std::string> Kernel::names() {
  const std::lock_guard lock(kernel_table().mutex);
  std::vector<std::string> names;
  for (const auto& [name, kernel] : kernel_table().kernels) names.push_back(name);
  return names;
}

void Kernel::add_library(const char* library) {
  libraries_.push_back(library);
  is_in_library_.store(true, std::memory_order_release);
}

void Kernel::load_libraries() const {
  for (const char* library : libraries_) load_kernel_library(library);
  is_in_library_.store(false, std::memory_order_release);
}

Kernel::Erased Kernel::find_in_libraries(DeviceKind kind, DataType dtype) const {
  try {
    load_libraries();
  } catch (Error& error) {
    error.note(fmt::format("looking for kernel '{}' for {}", name_, phi::name_of(dtype)));
    throw;
  }
  return entry(kind, dtype).load(std::memory_order_acquire);
}

void Kernel::throw_missing(DeviceKind kind, DataType dtype) const {
  PHI_CHECK(is_registered(),
            errors::Unimplemented("kernel '{}' is not registered: it is declared only. Implement "
                                  "it, and add PHI_REGISTER_KERNEL({}, CPU, <function>, <types>).",
                                  name_, name_));
  std::string there;
  for (int t = 1; t < kNumDataTypes; ++t) {
    if (!find(kind, static_cast<DataType>(t))) continue;
    there += (there.empty() ? "" : ", ") + std::string(phi::name_of(static_cast<DataType>(t)));
  }
  throw errors::Unimplemented("kernel '{}' is not registered for {} on {}; {}.", name_,
                              phi::name_of(dtype), Place{kind, 0}.to_string(),
                              there.empty() ? "it has no kernel on that place at all"
                                            : "it supports " + there + ", cast the input");
}

}  // namespace phi
