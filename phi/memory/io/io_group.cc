// Splits pieces into requests, waits for them, and formats their errors.
#include "phi/memory/io/io_group.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "phi/common/process/yield_point.h"

namespace phi::memory {
namespace {

// Large enough for a disk's full bandwidth, small enough that several are in flight.
constexpr size_t kRequestBytes = size_t{1} << 20;

const char* remedy_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free space there, or name a folder on another disk";
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f), or use smaller files";
    case EIO:
      return "the disk fails (see dmesg); name a folder on another one";
    default:
      return "check that the file is complete and its disk works";
  }
}

bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

}  // namespace

IoGroup::IoGroup(std::shared_ptr<const IoTarget> target, IoRequest::Kind kind,
                 std::span<const FilePiece> pieces, uint64_t file_size, AsyncFile::Check check)
    : target_(std::move(target)), check_(std::move(check)) {
  for (const FilePiece& piece : pieces) {
    for (size_t at = 0; at < piece.bytes.size(); at += kRequestBytes) {
      add({.kind = kind,
           .offset = piece.offset + at,
           .data = piece.bytes.data() + at,
           .nbytes = std::min(kRequestBytes, piece.bytes.size() - at)},
          file_size);
    }
  }
  pending_ = requests_.size();
}

void IoGroup::add(IoRequest request, uint64_t file_size) {
  request.fd = target_->fd;
  request.direct = target_->direct;
  request.group = this;
  request.required = request.nbytes;
  if (request.kind == IoRequest::Kind::kRead) {
    const uint64_t there = file_size > request.offset ? file_size - request.offset : 0;
    request.required = std::min<uint64_t>(request.nbytes, there);
  }
  requests_.push_back(request);
}

void IoGroup::start() {
  std::vector<IoRequest*> all;
  all.reserve(requests_.size());
  for (IoRequest& request : requests_) all.push_back(&request);
  target_->engine->start(all);
}

bool IoGroup::done() const {
  const std::lock_guard lock(mutex_);
  return pending_ == 0;
}

void IoGroup::join() const {
  yield_point("io_group.join.unlocked");
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return pending_ == 0; });
}

void IoGroup::wait() const {
  join();
  if (failure_) throw error();
}

void IoGroup::end(const IoRequest& request, int error) {
  std::optional<std::string> damage;
  if (error == 0 && check_ && request.kind == IoRequest::Kind::kRead) {
    damage = check_({request.offset, {request.data, request.nbytes}});
  }
  yield_point("io_group.end.unlocked");
  // Notifies under the lock, because the waiter may delete the group as soon as it has the lock.
  const std::lock_guard lock(mutex_);
  if ((error != 0 || damage) && !failure_) {
    failure_ = Failure{request, error, damage.value_or("")};
  }
  yield_point("io_group.end.pending");
  if (--pending_ == 0) ended_.notify_all();
}

Error IoGroup::error() const {
  const auto& [request, error, damage] = *failure_;
  const bool reads = request.kind == IoRequest::Kind::kRead;
  const std::string what =
      fmt::format("{} bytes [{}, {}) of {}", reads ? "reading" : "writing", request.offset,
                  request.offset + request.nbytes, target_->name);
  if (!damage.empty()) return errors::Unavailable("{}: {}", what, damage);
  if (error == kEndedEarly) {
    return errors::Unavailable(
        "{} ended after {} bytes: the {}; {}.", what, request.moved,
        reads ? "file has become shorter or its disk fails" : "disk accepts no more data",
        remedy_of(error));
  }
  const std::string text =
      fmt::format("{} failed after {} bytes: {} (errno {}); {}.", what, request.moved,
                  std::strerror(error), error, remedy_of(error));
  return is_full(error) ? errors::ResourceExhausted("{}", text) : errors::Unavailable("{}", text);
}

}  // namespace phi::memory
