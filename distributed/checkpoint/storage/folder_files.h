// Ownership of the files in a save's folder: files of this library are replaced, others are never
// touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace phi::distributed::checkpoint {

/// model.safetensors for one process, otherwise model-00003-of-00008.safetensors.
std::string file_of_rank(int64_t rank, int64_t world_size);

/// Whether the file exists, or the system does not say (a loop of links, a folder without
/// permission). Opening it then reports the reason.
bool may_exist(const std::filesystem::path& path);

/// Whether the folder has a file with a name that a save uses for data.
bool has_data_file(const std::string& folder);

/// Returns the files that the folder's index names, which a save may replace. Errors: AlreadyExists
/// that names a foreign file, such as another tool's weights, which a save would replace or hide;
/// InvalidArgument for an index that cannot be read.
std::set<std::string> replaceable_files(const std::string& folder);

/// Removes the files of older saves: those that their index named, files that identify themselves
/// as such, and temporary files; not those in `kept`. A failed removal is only logged, because
/// leftover files are harmless.
void remove_old_files(const std::string& folder, const std::set<std::string>& old_names,
                      const std::set<std::string>& kept);

/// Creates the folder and checks in advance for errors that a save would only meet at its end.
/// Writes a test file and removes it. `bytes_needed` is the size of the tensors to be saved, in
/// addition to the existing files.
///
/// Errors   Unavailable with the system's reason. ResourceExhausted with the needed and the free
///          bytes. Those of replaceable_files and FolderLock.
void check_folder(const std::string& folder, int64_t bytes_needed);

}  // namespace phi::distributed::checkpoint
