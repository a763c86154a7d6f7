// Messages over MPI. Each message begins with a header that contains its call and its length; the
// bytes follow in the same MPI message if they are few. The first receive always has room for any
// first MPI message. The rest is received only after the header has been checked, so a receive
// buffer is never smaller than what is sent into it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "distributed/comm/group.h"
#include "distributed/comm/messages.h"
#include "distributed/comm/mpi/watchdog.h"
#include "distributed/comm/report/call_header.h"
#include "distributed/comm/report/hang_report.h"
#include "distributed/comm/transport.h"

namespace phi::distributed {

class MpiMessages;

/// State shared by all messages of one rank.
struct MpiLink {
  const Transport& transport;
  Watchdog& watchdog;
  RankStatusQuery rank_status{};
  std::function<bool(int64_t rank)> has_left{};  // rank_status().has_left, at the cost of one load
  MPI_Comm headers = MPI_COMM_NULL;              // tags: by group
  MPI_Comm rests = MPI_COMM_NULL;                // tags: from the header
  uint64_t tag_limit = 32767;
  std::vector<bool> is_here{};         // by rank: whether it is on this machine
  bool copies_once = true;             // for messages within the machine
  bool is_crowded = false;             // whether this machine has more ranks than cores
  std::vector<uint64_t> rests_sent{};  // by rank
  /// Messages that wait for a header whose rest must then be requested.
  std::vector<MpiMessages*> waiting_for_headers{};
  /// Memory of messages dropped before they were done, which MPI may still read or write.
  std::vector<std::unique_ptr<std::byte[]>> kept{};

  int tag_of(const Group& group) const { return static_cast<int>(group.hash() % tag_limit); }
  int next_rest_tag(int64_t peer) {
    return static_cast<int>(rests_sent[static_cast<size_t>(peer)]++ % tag_limit);
  }
  /// Piece size of a message from this rank to `peer`; the header carries it to the receiver.
  size_t piece_bytes(int64_t peer) const;
  /// Requests the rests of messages whose headers have arrived, except those of `own`, so that
  /// messages progress even if this rank is not waiting for them.
  void move_others(const MpiMessages* own);
};

class MpiMessages final : public Messages {
 public:
  explicit MpiMessages(MpiLink& link) : link_(link) {}
  /// Cancels unfinished receives; MPI cannot cancel a send.
  ~MpiMessages() override;

  void post(const CollectiveCall& call, std::span<const Send> sends,
            std::span<const Recv> recvs) override;
  bool done(const CollectiveCall& call) override;
  void wait(const CollectiveCall& call) override;

 private:
  friend struct MpiLink;
  struct MessageHeader;
  // The purpose of a request: the header of a message, a piece of its rest, or a send.
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
  void receive_rest(size_t recv, const MessageHeader& header);
  bool look();
  void look_quietly();
  void arrived(const Purpose& purpose, const MPI_Status& status);
  void header_arrived(size_t recv, int bytes);
  void stop_waiting_for_headers();
  [[noreturn]] void throw_failed(int code, int finished) const;

  static constexpr size_t kSlotBytes = 3968;

  MpiLink& link_;
  CollectiveCall call_;
  CallHeader call_header_{};
  std::exception_ptr error_;  // found in a call that could not throw
  std::vector<Recv> recvs_;
  size_t headers_left_ = 0;             // number of recvs_ whose header is missing
  std::unique_ptr<std::byte[]> slots_;  // for recvs_, then for the messages to send
  size_t slots_taken_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<Purpose> purposes_;  // of requests_, in the same order
  size_t left_ = 0;
  std::vector<int> finished_;  // indices of the requests that the last poll found done
  std::vector<MPI_Status> statuses_;
};

/// Errors: Unavailable with MPI's text for the code.
void check_mpi(int code, const char* what);

}  // namespace phi::distributed
