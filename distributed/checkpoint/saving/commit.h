// The commit of a save, after all files are on disk under temporary names.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "distributed/checkpoint/format/index.h"

namespace phi::distributed::checkpoint {

/// Writes the index, renames it and all files of `index.headers`, and removes the files of older
/// saves (`old_names`: those that the previous index named). Calls `on_valid` when the index has
/// its name: the save is then valid, and none of its files may be removed. Errors: Unavailable that
/// names the file; nothing has changed then, unless on_valid was called.
void commit_save(const std::string& folder, const Index& index,
                 const std::set<std::string>& old_names, const std::function<void()>& on_valid);

}  // namespace phi::distributed::checkpoint
