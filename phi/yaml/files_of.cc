// Lists the YAML files of folders.
#include "phi/yaml/files_of.h"

#include <algorithm>
#include <filesystem>

#include "phi/common/errors.h"

namespace phi::yaml {

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const auto& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".yaml") found.push_back(entry.path().string());
    }
    PHI_CHECK(!found.empty(), errors::NotFound("{}: the folder has no .yaml file.", path));
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace phi::yaml
