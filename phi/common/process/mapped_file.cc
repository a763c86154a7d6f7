// Maps files, and jumps out of a copy that raises SIGBUS.
#include "phi/common/process/mapped_file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "phi/common/errors.h"
#include "phi/common/memory_advice.h"
#include "phi/common/process/yield_point.h"

namespace phi {
namespace {

// The thread's current access. A SIGBUS at an address in [begin, end) jumps to `way_out`.
struct Guard {
  const std::byte* begin;
  const std::byte* end;
  sigjmp_buf way_out;
};
thread_local Guard* current_guard = nullptr;

// Global, because signal handlers belong to the process.
struct sigaction previous_action;

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto* address = static_cast<const std::byte*>(info->si_addr);
  if (current_guard && address >= current_guard->begin && address < current_guard->end) {
    siglongjmp(current_guard->way_out, 1);
  }
  if (previous_action.sa_flags & SA_SIGINFO) {
    previous_action.sa_sigaction(signal, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
  } else {
    sigaction(SIGBUS, &previous_action,
              nullptr);  // the access is tried again, and ends the process
  }
}

// Called at every open, because other libraries (MPI, glog) may install handlers in between.
void ensure_handler() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  struct sigaction now {};
  sigaction(SIGBUS, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == &on_bus_error) return;
  previous_action = now;
  yield_point("mapped_file.handler.unset");
  struct sigaction ours {};
  ours.sa_sigaction = &on_bus_error;
  // SA_NODEFER, because the handler ends by a jump, which does not restore the signal mask.
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGBUS, &ours, nullptr);
}

// Returns false if a SIGBUS ended the call. A separate function, because a jump must not skip
// destructors.
[[gnu::noinline]] bool guarded(Guard* guard, void (*call)(const std::byte*, const void*),
                               const void* copy) {
  Guard* const outer = current_guard;
  if (sigsetjmp(guard->way_out, 0) != 0) {
    current_guard = outer;
    return false;
  }
  current_guard = guard;
  yield_point("mapped_file.guarded");
  call(guard->begin, copy);
  current_guard = outer;
  return true;
}

Error cannot_open(const std::string& path, int reason) {
  if (reason == ENOENT || reason == ENOTDIR)
    return errors::NotFound("there is no file '{}'.", path);
  if (reason == EACCES || reason == EPERM) {
    return errors::PermissionDenied("'{}' may not be read: {}.", path, std::strerror(reason));
  }
  if (reason == ENOMEM) {
    return errors::ResourceExhausted("'{}' cannot be read: there is no more memory. {}", path,
                                     kMoreMemoryAdvice);
  }
  return errors::Unavailable("'{}' cannot be read: {}.", path, std::strerror(reason));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path, AccessPattern access) {
  // O_NONBLOCK, so that opening a pipe does not block before it is refused.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) throw cannot_open(path, errno);
  PHI_CHECK(S_ISREG(status.st_mode),
            errors::InvalidArgument("'{}' is not a regular file; pass a file's path.", path));
  std::shared_ptr<MappedFile> out(new MappedFile);
  out->path_ = path;
  out->size_ = static_cast<size_t>(status.st_size);
  out->device_ = status.st_dev;
  out->inode_ = status.st_ino;
  if (out->size_ == 0) return out;
  void* data = mmap(nullptr, out->size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) throw cannot_open(path, errno);
  out->data_ = static_cast<std::byte*>(data);
  if (access == AccessPattern::kRandom) madvise(data, out->size_, MADV_RANDOM);
  ensure_handler();
  return out;
}

MappedFile::~MappedFile() {
  if (data_) munmap(data_, size_);
}

void MappedFile::run_guarded(size_t begin, size_t end, void (*call)(const std::byte*, const void*),
                             const void* copy) const {
  PHI_CHECK(begin <= end && end <= size_,
            errors::OutOfRange("bytes [{}, {}) of '{}', which has {}.", begin, end, path_, size_));
  if (begin == end) return;
  Guard guard;
  guard.begin = data_;
  guard.end = data_ + size_;
  PHI_CHECK(
      guarded(&guard, call, copy),
      errors::Unavailable("'{}' has become shorter than {} bytes, or its disk fails.", path_, end));
  check_still_long(end);
}

// Needed because bytes after the end of a truncated file, on its last page, read as 0 and raise no
// signal. Does nothing if the path refers to another file by now: the mapping keeps the opened one.
void MappedFile::check_still_long(size_t end) const {
  struct stat now {};
  if (stat(path_.c_str(), &now) != 0 || now.st_dev != device_ || now.st_ino != inode_) return;
  PHI_CHECK(static_cast<size_t>(now.st_size) >= end,
            errors::Unavailable("'{}' has become shorter than {} bytes: it has {}.", path_, end,
                                now.st_size));
}

void MappedFile::read(size_t offset, std::span<std::byte> out) const {
  PHI_CHECK(offset <= size_ && out.size() <= size_ - offset,
            errors::OutOfRange("bytes [{}, {}) of '{}', which has {}.", offset, offset + out.size(),
                               path_, size_));
  access(offset, offset + out.size(),
         [&](const std::byte* file) { std::memcpy(out.data(), file + offset, out.size()); });
}

}  // namespace phi
