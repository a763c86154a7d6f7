// Messages over MPI. Each begins with a header that says what it belongs to and how long it is, in
// one piece with its bytes if these are few. Whatever comes first fits into what waits for it; room
// for the rest is given to MPI only when the header has been found to be the expected one, so that
// a receiver never has less room than is sent.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "distributed/comm/hang_report.h"
#include "distributed/comm/messages.h"
#include "distributed/comm/mpi/watchdog.h"
#include "distributed/comm/plain_call.h"
#include "distributed/comm/world.h"

namespace phi::distributed {

class MpiMessages;

/// What all messages of one rank have in common.
struct MpiLink {
  const World& world;
  Watchdog& watchdog;
  SeeRank see{};
  MPI_Comm headers = MPI_COMM_NULL;  // tags: of groups
  MPI_Comm rests = MPI_COMM_NULL;    // tags: as the header says
  uint64_t tag_limit = 32767;
  std::vector<bool> is_here{};         // by rank: on this machine
  bool copies_once = true;             // messages within the machine
  bool is_crowded = false;             // more ranks than cores on this machine
  std::vector<uint64_t> rests_sent{};  // by rank
  /// Those that wait for the header of a message whose rest must be asked for then.
  std::vector<MpiMessages*> waiting_for_headers{};
  /// Of messages that were dropped before they were done, what MPI may still read or write.
  std::vector<std::unique_ptr<std::byte[]>> kept{};

  int tag_of(const Group& group) const { return static_cast<int>(group.hash() % tag_limit); }
  int next_rest_tag(int64_t peer) {
    return static_cast<int>(rests_sent[static_cast<size_t>(peer)]++ % tag_limit);
  }
  /// Of a message to this rank; the receiver is told.
  size_t piece_bytes(int64_t peer) const;
  /// Asks for the rests of messages whose headers have come, but for those of `own`: also what
  /// nobody waits for at the moment moves on.
  void move_others(const MpiMessages* own);
};

class MpiMessages final : public Messages {
 public:
  explicit MpiMessages(MpiLink& link) : link_(link) {}
  /// Of what is left, receives are taken back; MPI has no way to take back a send.
  ~MpiMessages() override;

  void post(const Call& call, std::span<const Send> sends, std::span<const Recv> recvs) override;
  bool done(const Call& call) override;
  void wait(const Call& call) override;

 private:
  friend struct MpiLink;
  struct Header;
  // A request's purpose: the header of a message to be received, a piece of its rest, or to send.
  struct Purpose {
    enum class Kind : uint8_t { kHeader, kPiece, kSend };
    Kind kind;
    size_t recv;  // in recvs_
    int bytes;
  };

  void take_slots(size_t count);
  std::byte* slot(size_t i) { return slots_.get() + i * kSlotBytes; }
  MPI_Request* new_request(Purpose purpose);
  void send(const Send& send, std::byte* slot, int tag);
  void send_rest(const Send& send, size_t piece, int tag);
  void receive_rest(size_t recv, const Header& header);
  bool look();
  void look_quietly();
  void arrived(const Purpose& purpose, const MPI_Status& status);
  void header_arrived(size_t recv, int bytes);
  void stop_waiting_for_headers();
  [[noreturn]] void throw_failed(int code, int finished) const;

  static constexpr size_t kSlotBytes = 3968;

  MpiLink& link_;
  Call call_;
  PlainCall plain_{};
  std::exception_ptr error_;  // found while nobody waited
  std::vector<Recv> recvs_;
  size_t headers_left_ = 0;             // of recvs_
  std::unique_ptr<std::byte[]> slots_;  // of recvs_, then of the messages to send
  size_t slots_taken_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<Purpose> purposes_;  // of the same
  size_t left_ = 0;
  std::vector<int> finished_;  // of the last look
  std::vector<MPI_Status> statuses_;
};

/// Errors: Unavailable with what MPI says of the code.
void check_mpi(int code, const char* what);

}  // namespace phi::distributed
