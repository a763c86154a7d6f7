// Opens files for direct I/O, and turns calls into groups of requests.
#include "phi/memory/io/async_file.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"
#include "phi/memory/io/io_group.h"

namespace phi::memory {
namespace {

Error cannot_open(const std::string& path, int reason) {
  if (reason == ENOENT || reason == ENOTDIR) {
    return errors::NotFound("'{}' does not exist; pass the path of a file that exists.", path);
  }
  if (reason == EACCES || reason == EPERM || reason == EROFS) {
    return errors::PermissionDenied("'{}' may not be opened: {}; pass another path.", path,
                                    std::strerror(reason));
  }
  if (reason == EISDIR) {
    return errors::InvalidArgument("'{}' is a folder; pass a file's path.", path);
  }
  return errors::Unavailable("'{}' cannot be opened: {}.", path, std::strerror(reason));
}

constexpr mode_t kOwnerOnly = 0600;
constexpr mode_t kEveryone = 0666;

/// An open file descriptor.
struct Opened {
  int fd = -1;
  bool direct = false;
};

/// Opens a file, for direct I/O if requested and possible. On failure fd < 0 and errno is set.
Opened open_file(const std::string& path, int flags, mode_t mode, bool direct) {
  if (direct) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_DIRECT, mode);
    if (fd >= 0 || errno != EINVAL) return {fd, true};
    VLOG(1) << "no direct I/O on '" << path << "': through the page cache.";
  }
  return {::open(path.c_str(), flags | O_CLOEXEC, mode), false};
}

/// For file systems without O_TMPFILE: creates a file and unlinks its name at once.
Opened open_unlinked(const std::string& folder, bool direct) {
  std::string path = folder + "/autophi-swap-XXXXXX";
  Opened opened{mkostemp(path.data(), O_CLOEXEC | (direct ? O_DIRECT : 0)), direct};
  if (opened.fd < 0 && direct && errno == EINVAL) {
    path = folder + "/autophi-swap-XXXXXX";
    opened = {mkostemp(path.data(), O_CLOEXEC), false};
  }
  if (opened.fd >= 0) unlink(path.c_str());
  return opened;
}

void check_aligned(std::span<const FilePiece> pieces, const std::string& name) {
  for (const FilePiece& piece : pieces) {
    const auto address = reinterpret_cast<uintptr_t>(piece.bytes.data());
    PHI_CHECK(piece.offset % kPage == 0 && piece.bytes.size() % kPage == 0 && address % kPage == 0,
              errors::InvalidArgument(
                  "{} bytes at offset {} of {}, memory at {:#x}: all must be multiples of {}; use "
                  "an AlignedBuffer.",
                  piece.bytes.size(), piece.offset, name, address, kPage));
  }
}

}  // namespace

struct AsyncFile::Core : IoTarget {
  bool writable = true;
  std::atomic<uint64_t> size{0};
  std::atomic<bool> longer{false};  // the last page was written as a whole, beyond `size`

  ~Core() {
    // Removes the bytes that a write of the last page added after the file's size.
    if (longer && ftruncate(fd, static_cast<off_t>(size)) != 0) {
      LOG(WARNING) << name << " keeps zeros after its end: " << std::strerror(errno);
    }
    if (fd >= 0) close(fd);
  }
  void set_written_to(uint64_t end) {
    uint64_t known = size;
    yield_point("async_file.written_to.compared");
    while (end > round_to_pages(known) && !size.compare_exchange_weak(known, end)) {
    }
    if (end > size) longer = true;
  }
};

Ticket::Ticket() = default;
Ticket::Ticket(std::unique_ptr<IoGroup> group) : group_(std::move(group)) {}
Ticket::Ticket(Ticket&&) noexcept = default;
Ticket& Ticket::operator=(Ticket&& other) noexcept {
  Ticket old(std::move(*this));
  group_ = std::move(other.group_);
  return *this;
}

Ticket::~Ticket() {
  if (group_) group_->join();
}

bool Ticket::done() const {
  yield_point("ticket.done");
  return !group_ || group_->done();
}
void Ticket::wait() const {
  if (group_) group_->wait();
}

AsyncFile::AsyncFile(std::shared_ptr<Core> core) : core_(std::move(core)) {}
AsyncFile::~AsyncFile() = default;

std::shared_ptr<AsyncFile> AsyncFile::open_with(const std::string& path, int flags, uint64_t size,
                                                Options options) {
  // O_NONBLOCK, so that opening a pipe does not block before it is refused.
  const Opened opened = open_file(path, flags | O_NONBLOCK, kEveryone, options.direct);
  if (opened.fd < 0) throw cannot_open(path, errno);
  auto core = std::make_shared<Core>();
  core->fd = opened.fd;
  core->direct = opened.direct;
  core->name = "'" + path + "'";
  core->writable = (flags & O_ACCMODE) != O_RDONLY;
  struct stat status {};
  if (fstat(core->fd, &status) != 0) throw cannot_open(path, errno);
  PHI_CHECK(S_ISREG(status.st_mode),
            errors::InvalidArgument("'{}' is not a regular file; pass a file's path.", path));
  if (flags & O_CREAT) {
    if (ftruncate(core->fd, static_cast<off_t>(size)) != 0) throw cannot_open(path, errno);
    core->size = size;
  } else {
    core->size = static_cast<uint64_t>(status.st_size);
  }
  core->engine = options.engine ? std::move(options.engine) : make_io_engine();
  return std::shared_ptr<AsyncFile>(new AsyncFile(std::move(core)));
}

std::shared_ptr<AsyncFile> AsyncFile::open(const std::string& path, Options options) {
  return open_with(path, O_RDWR, 0, std::move(options));
}
std::shared_ptr<AsyncFile> AsyncFile::open_read_only(const std::string& path, Options options) {
  return open_with(path, O_RDONLY, 0, std::move(options));
}
std::shared_ptr<AsyncFile> AsyncFile::create(const std::string& path, uint64_t size,
                                             Options options) {
  return open_with(path, O_RDWR | O_CREAT | O_TRUNC, size, std::move(options));
}

std::shared_ptr<AsyncFile> AsyncFile::create_temporary(const std::string& folder, Options options) {
  Opened opened = open_file(folder, O_RDWR | O_TMPFILE | O_EXCL, kOwnerOnly, options.direct);
  if (opened.fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    opened = open_unlinked(folder, options.direct);
  }
  if (opened.fd < 0) throw cannot_open(folder, errno);
  auto core = std::make_shared<Core>();
  core->fd = opened.fd;
  core->direct = opened.direct;
  core->name = "the swap file in '" + folder + "'";
  core->engine = options.engine ? std::move(options.engine) : make_io_engine();
  return std::shared_ptr<AsyncFile>(new AsyncFile(std::move(core)));
}

Ticket AsyncFile::read(std::span<const FilePiece> pieces, Check check) {
  check_aligned(pieces, core_->name);
  const uint64_t size = core_->size;
  for (const FilePiece& piece : pieces) {
    PHI_CHECK(piece.offset + piece.bytes.size() <= round_to_pages(size),
              errors::OutOfRange("bytes [{}, {}) of {}, which has {}.", piece.offset,
                                 piece.offset + piece.bytes.size(), core_->name, size));
  }
  auto group =
      std::make_unique<IoGroup>(core_, IoRequest::Kind::kRead, pieces, size, std::move(check));
  group->start();
  return Ticket(std::move(group));
}

Ticket AsyncFile::read(uint64_t offset, std::span<std::byte> out) {
  const FilePiece piece{offset, out};
  return read({&piece, 1}, nullptr);
}

Ticket AsyncFile::write(std::span<const FilePiece> pieces) {
  check_aligned(pieces, core_->name);
  PHI_CHECK(core_->writable, errors::PermissionDenied("{} is open for reading only.", core_->name));
  for (const FilePiece& piece : pieces) core_->set_written_to(piece.offset + piece.bytes.size());
  auto group = std::make_unique<IoGroup>(core_, IoRequest::Kind::kWrite, pieces, 0, nullptr);
  group->start();
  return Ticket(std::move(group));
}

Ticket AsyncFile::write(uint64_t offset, std::span<const std::byte> bytes) {
  // FilePiece is used for both directions; a write does not modify the bytes.
  const FilePiece piece{offset, {const_cast<std::byte*>(bytes.data()), bytes.size()}};
  return write({&piece, 1});
}

void AsyncFile::reserve(uint64_t size) {
  const uint64_t known = core_->size;
  if (size <= known) return;
  if (fallocate(core_->fd, 0, static_cast<off_t>(known), static_cast<off_t>(size - known)) != 0) {
    PHI_CHECK(errno == EOPNOTSUPP || errno == ENOSYS,
              errors::ResourceExhausted(
                  "{} cannot grow from {} to {} bytes: {}; free space there, or name a folder on "
                  "another disk.",
                  core_->name, known, size, std::strerror(errno)));
    PHI_CHECK(ftruncate(core_->fd, static_cast<off_t>(size)) == 0,
              errors::ResourceExhausted("{} cannot grow to {} bytes: {}.", core_->name, size,
                                        std::strerror(errno)));
  }
  core_->size = size;
}

uint64_t AsyncFile::size() const { return core_->size; }
std::string AsyncFile::name() const { return core_->name; }
bool AsyncFile::direct() const { return core_->direct; }
const IoEngine& AsyncFile::engine() const { return *core_->engine; }

}  // namespace phi::memory
