// Writes a temporary file next to the target and renames it.
#include "tools/job/output/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include "phi/common/errors.h"
#include "tools/job/output/write_all.h"

namespace phi::job {
namespace {

// Creates a new file with the permissions of the umask, and returns its name.
int make_temporary(const std::string& path, std::string* name) {
  std::random_device random;
  while (true) {
    *name = fmt::format("{}.{:08x}{:08x}.part", path, random(), random());
    const int fd = open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

}  // namespace

AtomicFile::AtomicFile(std::string path, std::string what)
    : path_(std::move(path)), what_(std::move(what)), destination_(destination_of(path_, what_)) {
  if (destination_.kind != Destination::Kind::kFile) {
    fd_ = open_stream(destination_, what_);
    return;
  }
  fd_ = make_temporary(destination_.path, &temporary_);
  if (fd_ < 0) {
    temporary_.clear();
    throw_failed(errno);
  }
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view text) {
  if (const int reason = write_all(fd_, text)) throw_failed(reason);
}

void AtomicFile::finish() {
  if (const int reason = close_checked(std::exchange(fd_, -1))) throw_failed(reason);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), destination_.path.c_str()) != 0) throw_failed(errno);
  temporary_.clear();
}

void check_writable(const std::string& path, const std::string& what) {
  const Destination destination = destination_of(path, what);
  if (destination.kind == Destination::Kind::kFile) {
    const AtomicFile never_finished(path, what);
  } else if (destination.kind == Destination::Kind::kStream && access(path.c_str(), W_OK) != 0) {
    throw_unwritable(what, path, errno);  // not opened, because a pipe's reader would see its end
  }
}

bool is_file_or_nothing(const std::string& path) {
  try {
    return destination_of(path, "file").kind == Destination::Kind::kFile;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace phi::job
