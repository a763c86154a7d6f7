// The order of renames and syncs in a commit.
#include "distributed/checkpoint/saving/commit.h"

#include <filesystem>
#include <span>

#include "distributed/checkpoint/storage/folder_files.h"
#include "distributed/checkpoint/storage/part_file.h"

namespace phi::distributed::checkpoint {

namespace fs = std::filesystem;

void commit_save(const std::string& folder, const Index& index,
                 const std::set<std::string>& old_names, const std::function<void()>& on_valid) {
  PartFile part((fs::path(folder) / kIndexFile).string(), index.save_id);
  try {
    const std::string text = index.encode();
    part.write(std::as_bytes(std::span(text)));
    part.finish();
    sync_folder(folder);
    part.commit();
  } catch (...) {
    part.discard();
    throw;
  }
  on_valid();
  // A rename may replace a file that the old index names, so the new index must be on disk first.
  sync_folder(folder);
  std::set<std::string> names = {kIndexFile};
  for (const auto& [file, header] : index.headers) {
    names.insert(file);
    commit_part((fs::path(folder) / file).string(), index.save_id);
  }
  sync_folder(folder);
  remove_old_files(folder, old_names, names);
}

}  // namespace phi::distributed::checkpoint
