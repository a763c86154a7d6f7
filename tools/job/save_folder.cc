// A file that is tried, and the room that the file system tells of.
#include "tools/job/save_folder.h"

#include <filesystem>

#include "phi/common/errors.h"
#include "tools/job/output/whole_file.h"

namespace phi::job {

void check_save_folder(const std::string& folder, int64_t bytes) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::create_directories(folder, failed);
  PHI_CHECK(!failed, errors::Unavailable("run.save: the folder '{}' cannot be made: {}.", folder,
                                         failed.message()));
  check_writable((fs::path(folder) / "model.safetensors").string(), "weights of run.save");
  const fs::space_info space = fs::space(folder, failed);
  PHI_CHECK(failed || space.available >= static_cast<uintmax_t>(bytes),
            errors::ResourceExhausted("run.save: the weights take {} bytes and the file system of "
                                      "'{}' has {} left. Make room, or save elsewhere.",
                                      bytes, folder, space.available));
}

}  // namespace phi::job
