// Waiting is a loop of MPI_Testsome with a deadline that yields the core, because ranks may
// outnumber cores. Any call of MPI progresses all messages, also those of other calls.
#include "distributed/comm/mpi/mpi_messages.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/process/interruption.h"

namespace phi::distributed {
namespace {

using Clock = std::chrono::steady_clock;

// MPI counts are of type int.
constexpr size_t kLongestPiece = size_t{1} << 30;
// Without single copy MPI moves a message in small fragments, a few of them at a time. A poll
// therefore moves little of one message, but several times as much of several.
constexpr size_t kPieceToBeCopiedTwice = size_t{1} << 18;
constexpr uint32_t kMagic = 0x41503031;

std::string mpi_error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<size_t>(length)};
}

// Between two polls of a waiting call: yields the core, and after some turns sleeps briefly.
class WaitLoop {
 public:
  WaitLoop(const MpiLink& link, const CollectiveCall& call) : link_(link), call_(call) {
    link.watchdog.set_deadline(link.transport.deadline());
  }
  /// `moved`: the last poll completed a request.
  void look_again(bool moved);

 private:
  void check_ranks_left(Clock::time_point now);

  const MpiLink& link_;
  const CollectiveCall& call_;
  int64_t turn_ = 0;  // polls since a request completed
  std::chrono::milliseconds start_{-1};
  Clock::time_point still_since_{};
  Clock::time_point next_check_{};  // for ranks that have left the job
};

void WaitLoop::check_ranks_left(Clock::time_point now) {
  using namespace std::chrono_literals;
  if (now < next_check_) return;
  next_check_ = now + 500ms;
  if (std::ranges::none_of(call_.group->ranks(), link_.has_left)) return;
  const std::string report = left_report(call_, link_.rank_status);
  PHI_CHECK(report.empty(), errors::Unavailable("{}", report));
}

void WaitLoop::look_again(bool moved) {
  using namespace std::chrono_literals;
  if (moved) turn_ = 0;
  const int spins = link_.is_crowded ? 8 : 2000;
  if (++turn_ <= spins) return;
  const auto now = Clock::now();
  if (turn_ == spins + 1) still_since_ = now;
  const auto run_time = link_.watchdog.run_time();
  if (start_ < 0ms) start_ = run_time;
  if (run_time - start_ >= link_.transport.deadline()) {
    throw errors::ExecutionTimeout(
        "{}", late_report(call_, link_.transport.deadline(), link_.rank_status));
  }
  const auto still = now - still_since_;
  if (still < 2ms) {
    sched_yield();
  } else {
    poll_interruption();
    if (still >= 200ms) check_ranks_left(now);
    std::this_thread::sleep_for(still < 20ms ? 20us : 200us);
  }
}

template <typename F>
void for_each_piece(size_t bytes, size_t piece, F f) {
  for (size_t offset = 0; offset < bytes; offset += piece) {
    f(offset, static_cast<int>(std::min(piece, bytes - offset)));
  }
}

}  // namespace

struct MpiMessages::MessageHeader {
  uint32_t magic;
  int32_t rest_tag;
  uint64_t bytes;  // of the message; they follow here if they fit
  uint64_t piece;  // otherwise they come in pieces of this size; the last may be shorter
  // A packed CallHeader follows.

  static constexpr size_t kMostInline = kSlotBytes - sizeof(CallHeader) - 24;
  bool has_rest() const { return bytes > kMostInline; }
};

void check_mpi(int code, const char* what) {
  PHI_CHECK(code == MPI_SUCCESS, errors::Unavailable("{}: {}", what, mpi_error_text(code)));
}

size_t MpiLink::piece_bytes(int64_t peer) const {
  return is_here[static_cast<size_t>(peer)] && !copies_once ? kPieceToBeCopiedTwice : kLongestPiece;
}

// Iterates from the end, because an object without missing headers removes itself from the list.
void MpiLink::move_others(const MpiMessages* own) {
  for (size_t i = waiting_for_headers.size(); i-- > 0;) {
    if (waiting_for_headers[i] != own) waiting_for_headers[i]->look_quietly();
  }
}

MpiMessages::~MpiMessages() {
  stop_waiting_for_headers();
  bool is_used = false;
  for (size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    is_used = true;
    if (purposes_[i].kind != Purpose::Kind::kSend) MPI_Cancel(&requests_[i]);
    MPI_Request_free(&requests_[i]);
  }
  if (is_used) link_.kept.push_back(std::move(slots_));
}

void MpiMessages::post(const CollectiveCall& call, std::span<const Send> sends,
                       std::span<const Recv> recvs) {
  const Watchdog::MpiCallScope inside(link_.watchdog, "MPI_Isend");
  static_assert(sizeof(MessageHeader) + sizeof(CallHeader) + MessageHeader::kMostInline ==
                kSlotBytes);
  const int tag = link_.tag_of(*call.group);
  call_ = call;
  call_header_ = CallHeader::of(call);
  error_ = nullptr;
  recvs_.assign(recvs.begin(), recvs.end());
  requests_.clear();
  purposes_.clear();
  left_ = 0;
  take_slots(recvs.size() + sends.size());
  for (size_t i = 0; i < recvs.size(); ++i) {
    check_mpi(MPI_Irecv(slot(i), kSlotBytes, MPI_BYTE, static_cast<int>(recvs[i].peer), tag,
                        link_.headers, new_request({Purpose::Kind::kHeader, i, 0})),
              "MPI_Irecv");
  }
  headers_left_ = recvs.size();
  const auto is_long = [](const Recv& recv) { return recv.bytes > MessageHeader::kMostInline; };
  if (std::ranges::any_of(recvs, is_long)) link_.waiting_for_headers.push_back(this);
  for (size_t i = 0; i < sends.size(); ++i) send(sends[i], slot(recvs.size() + i), tag);
}

// Slots are reused by later calls without clearing.
void MpiMessages::take_slots(size_t count) {
  if (count <= slots_taken_) return;
  slots_.reset(new std::byte[count * kSlotBytes]);
  slots_taken_ = count;
}

MPI_Request* MpiMessages::new_request(Purpose purpose) {
  purposes_.push_back(purpose);
  ++left_;
  return &requests_.emplace_back(MPI_REQUEST_NULL);
}

void MpiMessages::send(const Send& send, std::byte* slot, int tag) {
  MessageHeader header{kMagic, 0, send.bytes, 0};
  const size_t inlined = header.has_rest() ? 0 : send.bytes;
  if (header.has_rest()) {
    header.rest_tag = link_.next_rest_tag(send.peer);
    header.piece = link_.piece_bytes(send.peer);
  }
  std::memcpy(slot, &header, sizeof(header));
  const size_t said = sizeof(header) + call_header_.pack(slot + sizeof(header));
  if (inlined > 0) std::memcpy(slot + said, send.data, inlined);
  check_mpi(MPI_Isend(slot, static_cast<int>(said + inlined), MPI_BYTE, static_cast<int>(send.peer),
                      tag, link_.headers, new_request({Purpose::Kind::kSend, 0, 0})),
            "MPI_Isend");
  if (header.has_rest()) send_rest(send, header.piece, header.rest_tag);
}

void MpiMessages::send_rest(const Send& send, size_t piece, int tag) {
  for_each_piece(send.bytes, piece, [&](size_t offset, int bytes) {
    check_mpi(MPI_Isend(static_cast<const std::byte*>(send.data) + offset, bytes, MPI_BYTE,
                        static_cast<int>(send.peer), tag, link_.rests,
                        new_request({Purpose::Kind::kSend, 0, bytes})),
              "MPI_Isend");
  });
}

void MpiMessages::receive_rest(size_t recv, const MessageHeader& header) {
  const Recv& into = recvs_[recv];
  for_each_piece(into.bytes, header.piece, [&](size_t offset, int bytes) {
    check_mpi(MPI_Irecv(static_cast<std::byte*>(into.data) + offset, bytes, MPI_BYTE,
                        static_cast<int>(into.peer), header.rest_tag, link_.rests,
                        new_request({Purpose::Kind::kPiece, recv, bytes})),
              "MPI_Irecv");
  });
}

bool MpiMessages::done(const CollectiveCall& /*call*/) {
  look();
  return left_ == 0;
}

void MpiMessages::wait(const CollectiveCall& call) {
  WaitLoop patience(link_, call);
  for (bool moved = look(); left_ > 0; moved = look()) {
    if (!moved) link_.move_others(this);
    patience.look_again(moved);
  }
}

// Polls, makes progress, and returns whether any request has completed.
bool MpiMessages::look() {
  if (error_) std::rethrow_exception(error_);
  if (left_ == 0) return false;
  finished_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int finished = 0;
  int code = MPI_SUCCESS;
  {
    const Watchdog::MpiCallScope inside(link_.watchdog, "MPI_Testsome");
    code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &finished,
                        finished_.data(), statuses_.data());
  }
  if (finished == MPI_UNDEFINED) finished = 0;
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_failed(code, finished);
  left_ -= static_cast<size_t>(finished);
  for (int i = 0; i < finished; ++i) {
    const Purpose purpose = purposes_[static_cast<size_t>(finished_[i])];
    arrived(purpose, statuses_[i]);
  }
  return finished > 0;
}

void MpiMessages::look_quietly() {
  try {
    look();
  } catch (...) {
    error_ = std::current_exception();
    stop_waiting_for_headers();
  }
}

void MpiMessages::arrived(const Purpose& purpose, const MPI_Status& status) {
  if (purpose.kind == Purpose::Kind::kSend) return;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (purpose.kind == Purpose::Kind::kHeader) return header_arrived(purpose.recv, bytes);
  PHI_CHECK(bytes == purpose.bytes,
            errors::Internal(
                "received a piece of {} bytes from rank {}, but its header announced {}, in {}.",
                bytes, recvs_[purpose.recv].peer, purpose.bytes, call_.to_string()));
}

void MpiMessages::header_arrived(size_t recv, int bytes) {
  if (--headers_left_ == 0) stop_waiting_for_headers();
  const Recv& into = recvs_[recv];
  const std::span<const std::byte> come(slot(recv), static_cast<size_t>(bytes));
  MessageHeader header{};
  CallHeader theirs{};
  size_t said = 0;
  if (come.size() >= sizeof(header)) {
    std::memcpy(&header, come.data(), sizeof(header));
    said = CallHeader::unpack(come.subspan(sizeof(header)), &theirs);
  }
  const size_t inlined = come.size() - sizeof(header) - said;
  PHI_CHECK(header.magic == kMagic && said > 0 && inlined == (header.has_rest() ? 0 : header.bytes),
            errors::InvalidArgument("the message from rank {} to rank {} in {} has no header of "
                                    "this version; start the same binary on all ranks.",
                                    into.peer, link_.transport.rank(), call_.to_string()));
  const std::string wrong = mismatch({call_.group->name(),
                                      {link_.transport.rank(), call_header_},
                                      into.bytes,
                                      {into.peer, theirs},
                                      header.bytes},
                                     link_.transport.is_strict());
  PHI_CHECK(wrong.empty(),
            errors::InvalidArgument("{}", mismatch_report(call_, wrong, link_.rank_status)));
  if (header.has_rest()) return receive_rest(recv, header);
  if (into.bytes > 0) std::memcpy(into.data, come.data() + sizeof(header) + said, into.bytes);
}

void MpiMessages::stop_waiting_for_headers() { std::erase(link_.waiting_for_headers, this); }

void MpiMessages::throw_failed(int code, int finished) const {
  std::string text = mpi_error_text(code);
  for (int i = 0; i < finished && code == MPI_ERR_IN_STATUS; ++i) {
    const int error = statuses_[i].MPI_ERROR;
    if (error != MPI_SUCCESS && error != MPI_ERR_PENDING) text = mpi_error_text(error);
  }
  throw errors::Unavailable("{} failed at rank {}: {}", call_.to_string(), link_.transport.rank(),
                            text);
}

}  // namespace phi::distributed
