// Looks for machine files in the folder of shared data next to the library.
#include "distributed/simulator/find_machine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "distributed/simulator/machine_yaml.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::distributed::simulator {
namespace {

namespace fs = std::filesystem;

// The folder of machine files: PREFIX/share/autophi/machines for a library or program in PREFIX/lib
// or PREFIX/bin, also in the build tree; `machines` next to the library in the Python package.
std::optional<fs::path> machine_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&machine_names), &info) == 0 || !info.dli_fname)
    return std::nullopt;
  std::error_code ignored;
  const fs::path own = fs::weakly_canonical(info.dli_fname, ignored).parent_path();
  for (fs::path at = own; at.has_relative_path(); at = at.parent_path()) {
    const fs::path shared = at / "share/autophi/machines";
    if (fs::is_directory(shared, ignored)) return shared;
    if (at == own && fs::is_directory(own / "machines", ignored)) return own / "machines";
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  const auto folder = machine_folder();
  if (!folder) return names;
  for (const fs::directory_entry& file : fs::directory_iterator(*folder)) {
    if (file.path().extension() == ".yaml") names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string machine_path(const std::string& name_or_path) {
  const std::vector<std::string> names = machine_names();
  if (std::ranges::binary_search(names, name_or_path))
    return (*machine_folder() / (name_or_path + ".yaml")).string();
  std::error_code ignored;
  const bool is_path = name_or_path.find_first_of("./") != std::string::npos;
  if (is_path || fs::exists(name_or_path, ignored)) return name_or_path;
  throw errors::NotFound(
      "there is no machine '{}'{}; {} the path of a machine file, which autophi calibrate "
      "writes.",
      name_or_path, did_you_mean(name_or_path, names),
      names.empty() ? "no names are installed; pass"
                    : fmt::format("pass one of {}, or", fmt::join(names, ", ")));
}

MachineModel find_machine(const std::string& name_or_path) {
  return read_machine(machine_path(name_or_path));
}

}  // namespace phi::distributed::simulator
