// Messages over MPI: MPI_Isend / MPI_Irecv on one communicator, told apart by a tag made of the
// group and the call's number, so that groups cost no communication to make. Waiting is a loop of
// MPI_Testsome with a deadline that gives the core away: ranks may outnumber cores. MPI carries all
// messages on within any such look, also those of other calls.
#include "distributed/comm/mpi/mpi_world.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "distributed/comm/call_ring.h"
#include "distributed/comm/hang_report.h"
#include "distributed/comm/mpi/single_copy.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

using Clock = std::chrono::steady_clock;

// MPI counts are int.
constexpr size_t kLongestPiece = size_t{1} << 30;
// Without single copy MPI passes a message on in small fragments, a few of which are on their way
// at once: each look at it moves little. Of several messages it moves several times as much.
constexpr size_t kPieceToBeCopiedTwice = size_t{1} << 18;

std::string mpi_error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<size_t>(length)};
}

void check_mpi(int code, const char* what) {
  PHI_CHECK(code == MPI_SUCCESS, errors::Unavailable("{}: {}", what, mpi_error_text(code)));
}

class MpiMessages;

class MpiWorld final : public World {
 public:
  MpiWorld(int64_t rank, int64_t size)
      : World(std::make_shared<RankContext>(rank, size)), ring_of_(size, nullptr) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    void* upper = nullptr;
    int found = 0;
    MPI_Comm_get_attr(comm_, MPI_TAG_UB, &upper, &found);
    if (found != 0) tag_limit_ = static_cast<uint64_t>(*static_cast<int*>(upper));
    meet_machine();
  }

  ~MpiWorld() override {
    abandon_transfers();
    MPI_Win_free(&window_);
    MPI_Comm_free(&machine_);
    MPI_Comm_free(&comm_);
    MPI_Finalize();
  }

  std::string_view backend() const override { return "mpi"; }

  // The first rank of a machine to fail prints and ends the job; the others let it.
  void fail(const std::string& message) override {
    if (board_->failed.exchange(1) == 0) {
      fmt::print(stderr, "rank {}: {}\n", rank(), message);
      std::fflush(nullptr);
    } else {
      std::this_thread::sleep_for(std::chrono::seconds(5));
    }
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  MPI_Comm comm() const { return comm_; }
  int tag_of(const Call& call) const {
    const uint64_t mixed = (call.group->hash() >> 8) * 1024 + call.sequence % 1024;
    return static_cast<int>(mixed % tag_limit_);
  }

  /// Of messages to and from this rank; the same on both sides.
  size_t piece_bytes(int64_t peer) const {
    return ring_of_[peer] && !copies_once_ ? kPieceToBeCopiedTwice : kLongestPiece;
  }

  // Between two looks at what a call waits for. The core is given to whoever wants it; later this
  // process sleeps, shortly.
  class Patience {
   public:
    Patience(const MpiWorld& world, const Call& call) : world_(world), call_(call) {}
    /// `moved`: the last look found that pieces of messages have come or gone.
    void look_again(bool moved);

   private:
    const MpiWorld& world_;
    const Call& call_;
    int64_t turn_ = 0;  // since something moved
    Clock::time_point start_{};
    Clock::time_point still_since_{};
  };

 protected:
  std::unique_ptr<Messages> new_messages() override;
  void note(const Call& call, CallState state) override { own_->note(call, state); }

 private:
  // What the ranks of one machine see of each other.
  struct Board {
    std::atomic<int32_t> failed;
    CallRing ring;  // of the rank whose board it is
  };

  void meet_machine() {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine_);
    void* own = nullptr;
    MPI_Win_allocate_shared(sizeof(Board), 1, MPI_INFO_NULL, machine_, &own, &window_);
    std::memset(own, 0, sizeof(Board));
    own_ = &static_cast<Board*>(own)->ring;
    int peers = 0;
    MPI_Comm_size(machine_, &peers);
    std::vector<int> world_ranks(static_cast<size_t>(peers));
    const int rank_in_world = static_cast<int>(rank());
    MPI_Allgather(&rank_in_world, 1, MPI_INT, world_ranks.data(), 1, MPI_INT, machine_);
    for (int peer = 0; peer < peers; ++peer) {
      MPI_Aint bytes = 0;
      int unit = 0;
      void* base = nullptr;
      MPI_Win_shared_query(window_, peer, &bytes, &unit, &base);
      auto* board = static_cast<Board*>(base);
      if (peer == 0) board_ = board;
      ring_of_[world_ranks[peer]] = &board->ring;
    }
    MPI_Barrier(machine_);
    int once = messages_are_copied_once() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &once, 1, MPI_INT, MPI_MIN, machine_);
    copies_once_ = once != 0;
    crowded_ = peers > static_cast<int>(std::thread::hardware_concurrency());
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm machine_ = MPI_COMM_NULL;  // the ranks of this machine
  MPI_Win window_ = MPI_WIN_NULL;
  Board* board_ = nullptr;  // the machine's first rank's: holds the machine's `failed`
  CallRing* own_ = nullptr;
  std::vector<const CallRing*> ring_of_;  // by rank; null: another machine
  uint64_t tag_limit_ = 32767;
  bool crowded_ = false;
  bool copies_once_ = true;  // messages within the machine
};

void MpiWorld::Patience::look_again(bool moved) {
  using namespace std::chrono_literals;
  if (moved) turn_ = 0;
  const int spins = world_.crowded_ ? 8 : 2000;
  if (++turn_ <= spins) return;
  const auto now = Clock::now();
  if (turn_ == spins + 1) still_since_ = now;
  if (start_ == Clock::time_point()) start_ = now;
  if (now - start_ >= world_.deadline()) {
    const auto see = [&](int64_t rank) { return SeenRank{world_.ring_of_[rank]}; };
    throw errors::ExecutionTimeout("{}", late_report(call_, world_.deadline(), see));
  }
  const auto still = now - still_since_;
  if (still < 2ms) {
    sched_yield();
  } else {
    std::this_thread::sleep_for(still < 20ms ? 20us : 200us);
  }
}

// A message goes as pieces of one size, the last of which is shorter, and may be empty: so a
// receiver notices whatever else is sent than it expects, by the first piece that is shorter or
// longer.
class MpiMessages final : public Messages {
 public:
  explicit MpiMessages(const MpiWorld& world) : world_(world) {}

  // Of what is left, receives are taken back; MPI has no way to take back a send.
  ~MpiMessages() override {
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      if (i < pieces_.size()) MPI_Cancel(&requests_[i]);
      MPI_Request_free(&requests_[i]);
    }
  }

  void post(const Call& call, std::span<const Send> sends, std::span<const Recv> recvs) override {
    const int tag = world_.tag_of(call);
    requests_.clear();
    pieces_.clear();
    for (const Recv& recv : recvs) {
      for_each_piece(recv, [&](size_t offset, int bytes) {
        std::byte* to = static_cast<std::byte*>(recv.data) + offset;
        pieces_.push_back({recv.peer, recv.bytes, offset, bytes});
        check_mpi(MPI_Irecv(to, bytes, MPI_BYTE, static_cast<int>(recv.peer), tag, world_.comm(),
                            &requests_.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Irecv");
      });
    }
    for (const Send& send : sends) {
      for_each_piece(send, [&](size_t offset, int bytes) {
        const std::byte* from = static_cast<const std::byte*>(send.data) + offset;
        check_mpi(MPI_Isend(from, bytes, MPI_BYTE, static_cast<int>(send.peer), tag, world_.comm(),
                            &requests_.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Isend");
      });
    }
    left_ = requests_.size();
    finished_.resize(left_);
    statuses_.resize(left_);
  }

  bool done(const Call& call) override {
    look(call);
    return left_ == 0;
  }

  void wait(const Call& call) override {
    MpiWorld::Patience patience(world_, call);
    for (bool moved = look(call); left_ > 0; moved = look(call)) patience.look_again(moved);
  }

 private:
  struct Piece {  // to be received
    int64_t peer;
    size_t whole;  // bytes of the message
    size_t offset;
    int bytes;
  };

  // Whether pieces have come or gone since the last look. Makes progress.
  bool look(const Call& call) {
    if (left_ == 0) return false;
    int finished = 0;
    const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &finished,
                                  finished_.data(), statuses_.data());
    if (finished == MPI_UNDEFINED) finished = 0;
    if (code != MPI_SUCCESS) [[unlikely]]
      throw_failed(call, code, finished);
    for (int i = 0; i < finished; ++i) check_size(call, finished_[i], statuses_[i]);
    left_ -= static_cast<size_t>(finished);
    return finished > 0;
  }

  template <typename Message, typename F>
  void for_each_piece(const Message& message, F f) const {
    const size_t most = world_.piece_bytes(message.peer);
    size_t offset = 0;
    for (; message.bytes - offset >= most; offset += most) f(offset, static_cast<int>(most));
    f(offset, static_cast<int>(message.bytes - offset));
  }

  void check_size(const Call& call, int request, const MPI_Status& status) const {
    if (static_cast<size_t>(request) >= pieces_.size()) return;
    const Piece& piece = pieces_[request];
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes != piece.bytes) [[unlikely]]
      throw_wrong_size(call, piece, fmt::format("{}", piece.offset + static_cast<size_t>(bytes)));
  }

  [[noreturn]] void throw_failed(const Call& call, int code, int finished) const {
    std::string text = mpi_error_text(code);
    for (int i = 0; i < finished && code == MPI_ERR_IN_STATUS; ++i) {
      const int error = statuses_[i].MPI_ERROR;
      if (error == MPI_SUCCESS || error == MPI_ERR_PENDING) continue;
      const auto request = static_cast<size_t>(finished_[i]);
      if (error == MPI_ERR_TRUNCATE && request < pieces_.size()) {
        throw_wrong_size(call, pieces_[request], "more");
      }
      text = mpi_error_text(error);
    }
    throw errors::Unavailable("{} failed at rank {}: {}", call.to_string(), world_.rank(), text);
  }

  [[noreturn]] void throw_wrong_size(const Call& call, const Piece& piece,
                                     const std::string& sent) const {
    throw errors::InvalidArgument("rank {} expects {} bytes of rank {} and is sent {}, in {}.",
                                  world_.rank(), piece.whole, piece.peer, sent, call.to_string());
  }

  const MpiWorld& world_;
  std::vector<MPI_Request> requests_;  // receives first
  std::vector<Piece> pieces_;
  size_t left_ = 0;
  std::vector<int> finished_;  // of the last look
  std::vector<MPI_Status> statuses_;
};

std::unique_ptr<Messages> MpiWorld::new_messages() { return std::make_unique<MpiMessages>(*this); }

}  // namespace

std::unique_ptr<World> join_mpi_job(int* argc, char*** argv,
                                    World::Milliseconds /*start_deadline*/) {
  if (!started_by_mpirun()) return nullptr;
  leave_out_forbidden_single_copy();
  int provided = 0;
  check_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return std::make_unique<MpiWorld>(rank, size);
}

}  // namespace phi::distributed
