// Lists a checkpoint's files for the hash.
#include "distributed/checkpoint/content_hash.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "phi/common/errors.h"
#include "phi/common/sampled_hash.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string extension = it->path().extension().string();
    std::error_code ignored;
    const bool is_part = extension == ".safetensors" || extension == ".json";
    if (is_part && it->is_regular_file(ignored)) files.push_back(it->path().string());
  }
  PHI_CHECK(!failed,
            errors::NotFound("the folder '{}' cannot be read: {}.", folder, failed.message()));
  std::ranges::sort(files);
  return files;
}

}  // namespace

uint64_t content_hash(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return sampled_hash_of(files_in(path));
  const std::vector<std::string> file = {path};
  return sampled_hash_of(file);
}

}  // namespace phi::distributed::checkpoint
