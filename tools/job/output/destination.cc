// Determines what a path leads to.
#include "tools/job/output/destination.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "phi/common/errors.h"

namespace phi::job {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// The descriptor of standard output or error if it refers to this file; else -1.
int own_descriptor(const struct stat& there) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (fstat(fd, &status) == 0 && is_same_file(status, there)) return fd;
  }
  return -1;
}

}  // namespace

void throw_unwritable(const std::string& what, const std::string& path, int reason) {
  const char* words = reason == ENXIO ? "no process reads it" : std::strerror(reason);
  throw errors::Unavailable("cannot write the {} '{}': {}.", what, path, words);
}

Destination destination_of(const std::string& path, const std::string& what) {
  struct stat there {};
  if (stat(path.c_str(), &there) != 0) {
    if (errno != ENOENT) throw_unwritable(what, path, errno);
    // No file yet; a symbolic link may name its place.
    std::error_code failed;
    fs::path end = path;
    for (int links = 0; fs::is_symlink(end, failed) && links < 40; ++links) {
      const fs::path to = fs::read_symlink(end, failed);
      end = to.is_absolute() ? to : end.parent_path() / to;
    }
    return {Destination::Kind::kFile, end.string()};
  }
  PHI_CHECK(!S_ISDIR(there.st_mode),
            errors::Unavailable("cannot write the {} '{}': it is a folder.", what, path));
  if (const int fd = own_descriptor(there); fd >= 0) return {Destination::Kind::kOwn, path, fd};
  if (!S_ISREG(there.st_mode)) return {Destination::Kind::kStream, path};
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  return {Destination::Kind::kFile, failed ? path : real.string()};
}

int open_stream(const Destination& destination, const std::string& what) {
  if (destination.kind == Destination::Kind::kOwn) {
    const int fd = fcntl(destination.descriptor, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) throw_unwritable(what, destination.path, errno);
    return fd;
  }
  const int fd = open(destination.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) throw_unwritable(what, destination.path, errno);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

}  // namespace phi::job
