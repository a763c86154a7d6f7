// Loads shared libraries and looks up their functions.
#include "phi/gpu/library_file.h"

#include <dlfcn.h>

#include <utility>

#include "phi/common/errors.h"

namespace phi::gpu {

LibraryFile::LibraryFile(LibrarySpec library) : library_(std::move(library)) {
  handle_ = dlopen(library_.name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_) return;
  const std::string first = dlerror();
  handle_ = dlopen(library_.known_place.c_str(), RTLD_NOW | RTLD_LOCAL);
  PHI_CHECK(
      handle_,
      errors::Unavailable(
          "{}, and it cannot be loaded: {}; {}. {}, or add the folder of {} to LD_LIBRARY_PATH.",
          library_.purpose, first, dlerror(), library_.advice, library_.name));
}

void* LibraryFile::address(const char* name) const {
  void* const found = dlsym(handle_, name);
  PHI_CHECK(found, errors::Unavailable("{} lacks the function {}. {}.", library_.name, name,
                                       library_.advice));
  return found;
}

}  // namespace phi::gpu
