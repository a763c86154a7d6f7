// Resolves paths in both folders.
#include "api/data/resolve_path.h"

#include "phi/common/errors.h"

namespace fs = std::filesystem;

namespace phi::data {

fs::path resolve_path(const std::string& path, const std::string& base) {
  PHI_CHECK(!path.empty(),
            errors::InvalidArgument("a path is empty; use a file or folder, or '.'."));
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path;
  fs::path in_base = fs::path(base) / path;
  if (!base.empty() && fs::exists(in_base, ignored)) return in_base;
  const std::string here = fs::current_path(ignored).string();
  if (fs::path(path).is_absolute()) throw errors::NotFound("no file or folder '{}'.", path);
  if (base.empty() || fs::equivalent(base, here, ignored))
    throw errors::NotFound("no file or folder '{}' in '{}'.", path, here);
  throw errors::NotFound("no file or folder '{}', neither in '{}' nor in '{}'.", path, here, base);
}

}  // namespace phi::data
