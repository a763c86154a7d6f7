// PartFile: a file that is written under a temporary name next to its final one, until it is
// complete on disk.
//
//   PartFile part("ckpt/model.safetensors", "5f0c...");   // ckpt/model.safetensors.5f0c....part
//   part.write(bytes);  part.finish();  part.commit();
//
// Errors of all calls: Unavailable naming the file and the system's reason.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace phi::distributed::checkpoint {

/// The temporary name of `path` in save `id`.
std::string part_path(const std::string& path, std::string_view id);
/// Like PartFile::commit, for a file that another process has finished.
void commit_part(const std::string& path, std::string_view id);

class PartFile {
 public:
  PartFile(std::string path, std::string_view id);
  /// Leaves the temporary file as it is.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void write(std::span<const std::byte> bytes);
  /// Syncs the file; all its bytes are on disk on return.
  void finish();
  /// Renames the file to its final name; an existing file is replaced atomically.
  void commit();
  /// Removes the temporary file.
  void discard() noexcept;

 private:
  [[noreturn]] void throw_failed(const char* what) const;

  std::string path_;
  std::string id_;
  std::string part_;
  int fd_ = -1;
};

/// Returns 16 random hexadecimal digits, unique per save.
std::string random_save_id();

/// Writes a file with this text, which atomically replaces an existing one and is on disk on
/// return.
void write_text(const std::string& path, std::string_view text);

/// Creates the folder and its missing parents, durably.
void make_folder(const std::string& folder);

/// Makes renames in this folder durable.
void sync_folder(const std::string& folder);

}  // namespace phi::distributed::checkpoint
