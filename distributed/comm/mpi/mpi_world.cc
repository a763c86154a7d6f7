// Messages over MPI: MPI_Isend / MPI_Irecv on one communicator, told apart by a tag made of the
// group and the call's number, so that groups cost no communication to make. Waiting is a loop of
// MPI_Testall with a deadline that gives the core away: ranks may outnumber cores. MPI carries all
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

#include "distributed/comm/activity.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

using Clock = std::chrono::steady_clock;

// MPI counts are int; longer messages go in pieces.
constexpr size_t kPieceBytes = size_t{1} << 30;

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
      : World(std::make_shared<RankContext>(rank, size)), activity_of_(size, nullptr) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    void* upper = nullptr;
    int found = 0;
    MPI_Comm_get_attr(comm_, MPI_TAG_UB, &upper, &found);
    if (found != 0) tag_limit_ = static_cast<uint64_t>(*static_cast<int*>(upper));
    share_activities();
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

  // Between two looks at what a call waits for. The core is given to whoever wants it; later this
  // process sleeps, shortly.
  class Patience {
   public:
    Patience(const MpiWorld& world, const Call& call) : world_(world), call_(call) {}
    void look_again();

   private:
    const MpiWorld& world_;
    const Call& call_;
    int64_t turn_ = 0;
    Clock::time_point start_{};
  };

 protected:
  std::unique_ptr<Messages> new_messages() override;
  void note(const Call& call, CallState state) override { own_->set(call, state); }

 private:
  // What the ranks of one machine see of each other.
  struct Board {
    std::atomic<int32_t> failed;
    Activity activity;  // of the rank whose board it is
  };

  void share_activities() {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine_);
    void* own = nullptr;
    MPI_Win_allocate_shared(sizeof(Board), 1, MPI_INFO_NULL, machine_, &own, &window_);
    std::memset(own, 0, sizeof(Board));
    own_ = &static_cast<Board*>(own)->activity;
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
      activity_of_[world_ranks[peer]] = &board->activity;
    }
    MPI_Barrier(machine_);
    crowded_ = peers > static_cast<int>(std::thread::hardware_concurrency());
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm machine_ = MPI_COMM_NULL;  // the ranks of this machine
  MPI_Win window_ = MPI_WIN_NULL;
  Board* board_ = nullptr;  // the machine's first rank's: holds the machine's `failed`
  Activity* own_ = nullptr;
  std::vector<const Activity*> activity_of_;  // by rank; null: another machine
  uint64_t tag_limit_ = 32767;
  bool crowded_ = false;
};

void MpiWorld::Patience::look_again() {
  using namespace std::chrono_literals;
  const int spins = world_.crowded_ ? 8 : 2000;
  if (++turn_ <= spins) return;
  if (turn_ == spins + 1) start_ = Clock::now();
  const auto waited = Clock::now() - start_;
  if (waited < 2ms) {
    sched_yield();
    return;
  }
  std::this_thread::sleep_for(waited < 20ms ? 20us : 200us);
  if (waited < world_.deadline()) return;
  const auto activity_of = [&](int64_t rank) { return world_.activity_of_[rank]; };
  throw errors::ExecutionTimeout("{}", timeout_report(call_, world_.deadline(), activity_of));
}

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
      for_each_piece(recv.bytes, [&](size_t offset, int bytes) {
        std::byte* to = static_cast<std::byte*>(recv.data) + offset;
        pieces_.push_back({recv.peer, bytes});
        check_mpi(MPI_Irecv(to, bytes, MPI_BYTE, static_cast<int>(recv.peer), tag, world_.comm(),
                            &requests_.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Irecv");
      });
    }
    for (const Send& send : sends) {
      for_each_piece(send.bytes, [&](size_t offset, int bytes) {
        const std::byte* from = static_cast<const std::byte*>(send.data) + offset;
        check_mpi(MPI_Isend(from, bytes, MPI_BYTE, static_cast<int>(send.peer), tag, world_.comm(),
                            &requests_.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Isend");
      });
    }
    statuses_.resize(requests_.size());
  }

  bool done(const Call& call) override {
    int done = 0;
    const int code =
        MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, statuses_.data());
    if (code != MPI_SUCCESS) [[unlikely]]
      throw_failed(call, code);
    if (done == 0) return false;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      int bytes = 0;
      MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes);
      if (bytes != pieces_[i].bytes) [[unlikely]]
        throw_wrong_size(call, pieces_[i], fmt::format("{}", bytes));
    }
    return true;
  }

  void wait(const Call& call) override {
    MpiWorld::Patience patience(world_, call);
    while (!done(call)) patience.look_again();
  }

 private:
  struct Piece {  // to be received
    int64_t peer;
    int bytes;
  };

  template <typename F>
  static void for_each_piece(size_t bytes, F f) {
    size_t offset = 0;
    do {
      const size_t piece = std::min(bytes - offset, kPieceBytes);
      f(offset, static_cast<int>(piece));
      offset += piece;
    } while (offset < bytes);
  }

  [[noreturn]] void throw_failed(const Call& call, int code) const {
    std::string text = mpi_error_text(code);
    for (size_t i = 0; i < statuses_.size() && code == MPI_ERR_IN_STATUS; ++i) {
      const int error = statuses_[i].MPI_ERROR;
      if (error == MPI_SUCCESS || error == MPI_ERR_PENDING) continue;
      if (error == MPI_ERR_TRUNCATE && i < pieces_.size()) {
        throw_wrong_size(call, pieces_[i], "more");
      }
      text = mpi_error_text(error);
    }
    throw errors::Unavailable("{} failed at rank {}: {}", call.to_string(), world_.rank(), text);
  }

  [[noreturn]] void throw_wrong_size(const Call& call, const Piece& piece,
                                     const std::string& sent) const {
    throw errors::InvalidArgument("rank {} expects {} bytes of rank {} and is sent {}, in {}.",
                                  world_.rank(), piece.bytes, piece.peer, sent, call.to_string());
  }

  const MpiWorld& world_;
  std::vector<MPI_Request> requests_;  // receives first
  std::vector<Piece> pieces_;
  std::vector<MPI_Status> statuses_;
};

std::unique_ptr<Messages> MpiWorld::new_messages() { return std::make_unique<MpiMessages>(*this); }

}  // namespace

std::unique_ptr<World> join_mpi_job(int* argc, char*** argv) {
  if (!started_by_mpirun()) return nullptr;
  int provided = 0;
  check_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return std::make_unique<MpiWorld>(rank, size);
}

}  // namespace phi::distributed
