// PartFile: a file written under a temporary name beside its own, until all of it is on the disk.
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

/// The temporary name of `path` in the save `id`.
std::string part_path(const std::string& path, std::string_view id);
/// As PartFile::commit, of a file that another process has finished.
void commit_part(const std::string& path, std::string_view id);

class PartFile {
 public:
  PartFile(std::string path, std::string_view id);
  /// The temporary file stays as it is.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void write(std::span<const std::byte> bytes);
  /// All bytes are on the disk when this returns.
  void finish();
  /// The file takes its own name, in place of one that has it, in one step.
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

/// 16 hexadecimal digits that no other save has.
std::string draw_id();

/// A file with this text, in place of one that has the name, in one step; it is on the disk then.
void write_text(const std::string& path, std::string_view text);

/// Makes the folder and those above it that are not there, for good.
void make_folder(const std::string& folder);

/// Makes renames in this folder last.
void sync_folder(const std::string& folder);

}  // namespace phi::distributed::checkpoint
