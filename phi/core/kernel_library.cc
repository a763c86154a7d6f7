// Finds and loads kernel libraries.
#include "phi/core/kernel_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <set>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"

namespace phi {
namespace {

namespace fs = std::filesystem;

struct KernelLibraries {
  // Lock order: loading, then names. dlopen runs static objects that lock `names`.
  std::mutex loading;
  std::mutex names;
  std::set<std::string, std::less<>> known;
  std::set<std::string, std::less<>> loaded;
};
KernelLibraries& libraries() {
  static auto& instance = *new KernelLibraries;
  return instance;
}

// The folder of the shared library or program that contains this code.
fs::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&libraries), &info) == 0 || info.dli_fname == nullptr)
    return fs::current_path();
  std::error_code ignored;
  return fs::weakly_canonical(info.dli_fname, ignored).parent_path();
}

void open_kernel_library(const std::string& name) {
  const fs::path folder = own_folder();
  const fs::path file = folder / ("libautophi_" + name + ".so");
  std::error_code ignored;
  PHI_CHECK(
      fs::exists(file, ignored),
      errors::NotFound("the kernel library '{}' is not installed: there is no {}. Build it "
                       "(cmake --build build --target autophi_{}), or install all of autophi.",
                       name, file.string(), name));
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    const char* reason = dlerror();
    const std::string text = reason != nullptr ? reason : "no reason given";
    const bool is_other_build = text.find("undefined symbol: autophi_abi_") != std::string::npos;
    throw errors::InvalidArgument(
        "the kernel library {} cannot be loaded: {}. {}", file.string(), text,
        is_other_build ? "It was built with other headers than libautophi.so; build both again."
                       : "Build it again.");
  }
}

}  // namespace

void add_kernel_locations(std::span<const KernelLocation> homes) {
  for (const KernelLocation& home : homes) {
    Kernel::named(home.kernel).add_library(home.library);
    const std::lock_guard lock(libraries().names);
    libraries().known.emplace(home.library);
  }
}

KernelLibrary::KernelLibrary(const char* name, const char* /*abi*/) {
  const std::lock_guard lock(libraries().names);
  libraries().loaded.emplace(name);
}

std::vector<std::string> kernel_libraries() {
  const std::lock_guard lock(libraries().names);
  return {libraries().known.begin(), libraries().known.end()};
}

bool is_kernel_library_loaded(std::string_view name) {
  const std::lock_guard lock(libraries().names);
  return libraries().loaded.contains(name);
}

void load_kernel_library(std::string_view name) {
  const std::lock_guard lock(libraries().loading);
  if (is_kernel_library_loaded(name)) return;
  {
    const std::lock_guard names(libraries().names);
    PHI_CHECK(libraries().known.contains(name),
              errors::NotFound("there is no kernel library '{}'; known: {}.", name,
                               fmt::join(libraries().known, ", ")));
  }
  open_kernel_library(std::string(name));
  PHI_CHECK(
      is_kernel_library_loaded(name),
      errors::InvalidArgument(
          "libautophi_{}.so is not a kernel library: it defines no KernelLibrary of this name.",
          name));
}

void wait_for_kernel_libraries() { const std::lock_guard lock(libraries().loading); }

}  // namespace phi
