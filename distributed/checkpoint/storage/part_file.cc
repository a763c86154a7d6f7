// System calls for temporary files.
#include "distributed/checkpoint/storage/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>
#include <vector>

#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {

std::string part_path(const std::string& path, std::string_view id) {
  return fmt::format("{}.{}.part", path, id);
}

void commit_part(const std::string& path, std::string_view id) {
  const std::string part = part_path(path, id);
  PHI_CHECK(std::rename(part.c_str(), path.c_str()) == 0,
            errors::Unavailable("'{}' cannot be renamed: {}.", part, std::strerror(errno)));
}

PartFile::PartFile(std::string path, std::string_view id)
    : path_(std::move(path)), id_(id), part_(part_path(path_, id)) {
  fd_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) throw_failed("created");
}

PartFile::~PartFile() {
  if (fd_ >= 0) close(fd_);
}

void PartFile::throw_failed(const char* what) const {
  throw errors::Unavailable("'{}' cannot be {}: {}.", part_, what, std::strerror(errno));
}

void PartFile::write(std::span<const std::byte> bytes) {
  constexpr size_t kMaxWrite = 1 << 30;  // Linux writes at most 2 GiB in a call
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxWrite));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_failed("written");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void PartFile::finish() {
  if (fsync(fd_) != 0) throw_failed("written to the disk");
  if (close(std::exchange(fd_, -1)) != 0) throw_failed("closed");
}

void PartFile::commit() { commit_part(path_, id_); }

void PartFile::discard() noexcept { unlink(part_.c_str()); }

std::string random_save_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

void write_text(const std::string& path, std::string_view text) {
  PartFile part(path, random_save_id());
  try {
    part.write(std::as_bytes(std::span(text)));
    part.finish();
    part.commit();
  } catch (...) {
    part.discard();
    throw;
  }
  sync_folder(std::filesystem::absolute(path).parent_path().string());
}

void make_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::vector<fs::path> parents;  // parents of created folders, whose entries must be durable too
  for (fs::path path = fs::absolute(folder); !fs::exists(path, failed); path = path.parent_path()) {
    parents.push_back(path.parent_path());
  }
  fs::create_directories(folder, failed);
  PHI_CHECK(!failed && fs::is_directory(folder, failed),
            errors::Unavailable("the folder '{}' cannot be created: {}.", folder,
                                failed ? failed.message() : "a file of that name exists"));
  for (const fs::path& parent : parents) sync_folder(parent.string());
}

void sync_folder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Some file systems reject fsync of a folder (EINVAL), because they do not need it.
  const bool synced = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
  const int reason = errno;
  if (fd >= 0) close(fd);
  PHI_CHECK(synced, errors::Unavailable("the folder '{}' cannot be written to the disk: {}.",
                                        folder, std::strerror(reason)));
}

}  // namespace phi::distributed::checkpoint
