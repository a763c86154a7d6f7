// Stands in front of the calls of libc that change files. The program's own definition of such a
// name wins over libc's, also for calls from libstdc++; each hands on to the system itself.
#include "support/system/file_effects.h"

#include <fcntl.h>
#include <sys/mman.h>
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

  /// What the test wants of an effect: 0, an error number or kShort.
  static int fate_of(Kind kind) {
    FileEffects& effects = *recorder.load();
    size_t index = 0;
    {
      const std::lock_guard lock(mutex);
      index = effects.tried_++;
    }
    return effects.before_ ? effects.before_(index, kind) : 0;
  }

  /// Does `call` and records it, unless the test makes it fail. `shorten` is called before if it is
  /// to do half of it.
  template <typename F>
  static auto effect(FileEffect effect, const F& call, void (*shorten)(FileEffect*) = nullptr) {
    const int fate = fate_of(effect.kind);
    if (fate > 0) {
      errno = fate;
      return decltype(call(effect))(-1);
    }
    if (fate == FileEffects::kShort && shorten) shorten(&effect);
    FileEffects& effects = *recorder.load();
    const std::lock_guard lock(mutex);
    const auto result = call(effect);
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
  const auto create = [&](const FileEffect&) { return system_open(path, flags, mode); };
  const int fd = changes ? Interposer::effect({Kind::kCreate, path, {}, {}}, create)
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
  const OpenFile* file = Interposer::find(fd);
  if (!file) return static_cast<ssize_t>(syscall(SYS_write, fd, data, count));
  const auto write = [&](const FileEffect& effect) {
    return static_cast<ssize_t>(syscall(SYS_write, fd, data, effect.bytes.size()));
  };
  const auto offset = static_cast<size_t>(lseek(fd, 0, SEEK_CUR));
  const std::string bytes(static_cast<const char*>(data), count);
  return Interposer::effect(
      {Kind::kWrite, file->path, {}, bytes, offset}, write,
      [](FileEffect* effect) { effect->bytes.resize((effect->bytes.size() + 1) / 2); });
}

int sync_seen(int fd, long number) {
  const OpenFile* file = Interposer::find(fd);
  if (!file) return static_cast<int>(syscall(number, fd));
  const Kind kind = file->is_folder ? Kind::kSyncFolder : Kind::kSync;
  return Interposer::effect({kind, file->path, {}, {}}, [](const FileEffect&) { return 0; });
}

int unlink_seen(const char* path) {
  const FileEffect effect{Kind::kUnlink, path, {}, {}};
  const auto unlink = [&](const FileEffect&) {
    return static_cast<int>(syscall(SYS_unlink, path));
  };
  return Interposer::sees(path) ? Interposer::effect(effect, unlink) : unlink(effect);
}

// A file of no bytes in place of the one that cannot be read: a touch is a SIGBUS.
void* map_seen(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  int mapped = fd;
  int empty = -1;
  if (Interposer::find(fd) && Interposer::fate_of(Kind::kMap) > 0) {
    mapped = empty = memfd_create("unreadable", MFD_CLOEXEC);
  }
  void* const result =
      reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, mapped, offset));
  if (empty >= 0) close(empty);
  return result;
}

}  // namespace

std::string FileEffect::to_string() const {
  constexpr std::array kNames = {"create", "write", "sync",        "rename",
                                 "unlink", "mkdir", "sync folder", "map"};
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
  const FileEffect effect{FileEffect::Kind::kRename, from, to, {}};
  const auto rename = [&](const FileEffect&) {
    return static_cast<int>(syscall(SYS_rename, from, to));
  };
  return Interposer::sees(from) ? Interposer::effect(effect, rename) : rename(effect);
}

int unlink(const char* path) noexcept { return phi::testing::unlink_seen(path); }
int remove(const char* path) noexcept {
  const int result = phi::testing::unlink_seen(path);
  return result != 0 && errno == EISDIR ? rmdir(path) : result;
}

int mkdir(const char* path, mode_t mode) noexcept {
  const FileEffect effect{FileEffect::Kind::kMakeFolder, path, {}, {}};
  const auto mkdir = [&](const FileEffect&) {
    return static_cast<int>(syscall(SYS_mkdir, path, mode));
  };
  return Interposer::sees(path) ? Interposer::effect(effect, mkdir) : mkdir(effect);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  return phi::testing::map_seen(address, bytes, protection, flags, fd, offset);
}

}  // extern "C"
