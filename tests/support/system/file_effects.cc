// Stands in front of the calls of libc that change files. The program's own definition of such a
// name wins over libc's, also for calls from libstdc++; each hands on to the system itself.
#include "support/system/file_effects.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace phi::testing {
namespace {

using Kind = FileEffect::Kind;

struct OpenFile {
  std::string path;
  bool is_folder = false;
};

std::mutex mutex;                    // an effect and its place in the order are one
std::atomic<FileEffects*> recorder;  // null: calls are handed on
std::map<int, OpenFile> open_files;  // of files below the folder that is looked at

}  // namespace

// What the calls below have in common.
class Interposer {
 public:
  static bool sees(const char* path) {
    const FileEffects* effects = recorder.load();
    if (effects == nullptr || path == nullptr) return false;
    const std::string_view folder = effects->folder_;
    const std::string_view name = path;
    return name == folder || (name.starts_with(folder) && name[folder.size()] == '/');
  }

  /// Does `call` and records it, unless the test makes it fail.
  template <typename F>
  static auto effect(FileEffect effect, const F& call) -> decltype(call()) {
    FileEffects& effects = *recorder.load();
    size_t index = 0;
    {
      const std::lock_guard lock(mutex);
      index = effects.tried_++;
    }
    if (const int error = effects.before_ ? effects.before_(index, effect.kind) : 0) {
      errno = error;
      return -1;
    }
    const std::lock_guard lock(mutex);
    const auto result = call();
    if (result >= 0) effects.seen_.push_back(std::move(effect));
    return result;
  }

  static const OpenFile* find(int fd) {
    if (recorder.load() == nullptr) return nullptr;
    const std::lock_guard lock(mutex);
    const auto found = open_files.find(fd);
    return found == open_files.end() ? nullptr : &found->second;
  }
};

namespace {

int system_open(const char* path, int flags, mode_t mode) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int open_seen(const char* path, int flags, mode_t mode) {
  if (!Interposer::sees(path)) return system_open(path, flags, mode);
  struct stat status {};
  const bool is_there = stat(path, &status) == 0;
  const bool changes = (flags & O_CREAT && !is_there) || (flags & O_TRUNC && is_there);
  const int fd = changes ? Interposer::effect({Kind::kCreate, path, {}, {}},
                                              [&] { return system_open(path, flags, mode); })
                         : system_open(path, flags, mode);
  if (fd < 0) return fd;
  const std::lock_guard lock(mutex);
  open_files[fd] = {path, is_there && S_ISDIR(status.st_mode)};
  return fd;
}

mode_t mode_argument(int flags, va_list arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

ssize_t write_seen(int fd, const void* data, size_t count) {
  const auto write = [&] { return static_cast<ssize_t>(syscall(SYS_write, fd, data, count)); };
  const OpenFile* file = Interposer::find(fd);
  if (!file) return write();
  const auto offset = static_cast<size_t>(lseek(fd, 0, SEEK_CUR));
  const std::string bytes(static_cast<const char*>(data), count);
  return Interposer::effect({Kind::kWrite, file->path, {}, bytes, offset}, write);
}

int sync_seen(int fd, long number) {
  const OpenFile* file = Interposer::find(fd);
  if (!file) return static_cast<int>(syscall(number, fd));
  const Kind kind = file->is_folder ? Kind::kSyncFolder : Kind::kSync;
  return Interposer::effect({kind, file->path, {}, {}}, [] { return 0; });
}

int unlink_seen(const char* path) {
  const auto unlink = [&] { return static_cast<int>(syscall(SYS_unlink, path)); };
  if (!Interposer::sees(path)) return unlink();
  return Interposer::effect({Kind::kUnlink, path, {}, {}}, unlink);
}

}  // namespace

std::string FileEffect::to_string() const {
  constexpr std::array kNames = {"create", "write", "sync",       "rename",
                                 "unlink", "mkdir", "sync folder"};
  std::string text = std::string(kNames[static_cast<size_t>(kind)]) + " " + path;
  if (kind == Kind::kRename) text += " to " + to;
  if (kind == Kind::kWrite) text += " [" + std::to_string(bytes.size()) + " bytes]";
  return text;
}

FileEffects::FileEffects(std::string folder, Before before)
    : folder_(std::move(folder)), before_(std::move(before)) {
  FileEffects* none = nullptr;
  if (!recorder.compare_exchange_strong(none, this)) std::abort();  // one at a time
}

FileEffects::~FileEffects() {
  recorder = nullptr;
  open_files.clear();
}

}  // namespace phi::testing

using phi::testing::FileEffect;
using phi::testing::Interposer;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = phi::testing::mode_argument(flags, arguments);
  va_end(arguments);
  return phi::testing::open_seen(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = phi::testing::mode_argument(flags, arguments);
  va_end(arguments);
  return phi::testing::open_seen(path, flags, mode);
}

int close(int fd) {
  if (Interposer::find(fd)) {
    const std::lock_guard lock(phi::testing::mutex);
    phi::testing::open_files.erase(fd);
  }
  return static_cast<int>(syscall(SYS_close, fd));
}

ssize_t write(int fd, const void* data, size_t count) {
  return phi::testing::write_seen(fd, data, count);
}

int fsync(int fd) { return phi::testing::sync_seen(fd, SYS_fsync); }
int fdatasync(int fd) { return phi::testing::sync_seen(fd, SYS_fdatasync); }

int rename(const char* from, const char* to) noexcept {
  const auto rename = [&] { return static_cast<int>(syscall(SYS_rename, from, to)); };
  if (!Interposer::sees(from)) return rename();
  return Interposer::effect({FileEffect::Kind::kRename, from, to, {}}, rename);
}

int unlink(const char* path) noexcept { return phi::testing::unlink_seen(path); }
int remove(const char* path) noexcept {
  const int result = phi::testing::unlink_seen(path);
  return result != 0 && errno == EISDIR ? rmdir(path) : result;
}

int mkdir(const char* path, mode_t mode) noexcept {
  const auto mkdir = [&] { return static_cast<int>(syscall(SYS_mkdir, path, mode)); };
  if (!Interposer::sees(path)) return mkdir();
  return Interposer::effect({FileEffect::Kind::kMakeFolder, path, {}, {}}, mkdir);
}

}  // extern "C"
