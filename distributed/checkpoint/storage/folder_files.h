// Whose the files of a folder are that is saved to: ours, to be replaced, or somebody else's, which
// are never touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace phi::distributed::checkpoint {

/// model.safetensors of one process, else model-00003-of-00008.safetensors.
std::string file_of_rank(int64_t rank, int64_t world_size);

/// Whether the file is there, or the system does not say (a loop of links, a folder without
/// rights): who opens it then is told why it cannot be had.
bool may_be_there(const std::filesystem::path& path);

/// Whether a file has the name that a save gives its files when its index is in place.
bool has_data_file(const std::string& folder);

/// The files that the index there names, which a save may replace.
/// Errors: AlreadyExists naming a file that a save would replace, or hide, and that is not ours:
/// weights of another tool, say; InvalidArgument for an index that cannot be read.
std::set<std::string> refuse_strangers(const std::string& folder);

/// Removes what older saves have left: the files that their index named and others that say so
/// themselves, and temporary ones; not those in `kept`. What is left over does no harm, so failing
/// to remove it is only told.
void remove_old_files(const std::string& folder, const std::set<std::string>& old_names,
                      const std::set<std::string>& kept);

/// Makes the folder, and finds out now what a save would find out at its end. Writes there and
/// removes it. `bytes_needed`: of the tensors that will be saved, beside what is there.
/// Errors: Unavailable with the system's reason; ResourceExhausted with what is needed and what is
/// free; as refuse_strangers and FolderLock.
void check_folder(const std::string& folder, int64_t bytes_needed);

}  // namespace phi::distributed::checkpoint
