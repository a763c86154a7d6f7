// The end of a save, at which all files are on the disk under temporary names.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "distributed/checkpoint/format/index.h"

namespace phi::distributed::checkpoint {

/// Writes the index, gives it and all files of `index.headers` their names, and removes what older
/// saves have left (`old_names`: what their index named). `on_valid` is called when the index has
/// its name: from then on the save is valid, and no file that it counts on may go. Errors:
/// Unavailable naming the file; nothing has changed then, unless on_valid was called.
void commit_save(const std::string& folder, const Index& index,
                 const std::set<std::string>& old_names, const std::function<void()>& on_valid);

}  // namespace phi::distributed::checkpoint
