// Messages over MPI: MPI_Isend / MPI_Irecv on one communicator, told apart by a tag made of the
// group and the call's number, so that groups cost no communication to make. Waiting is a loop of
// MPI_Testall with a deadline that gives the core away: ranks may outnumber cores.
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

 protected:
  void note(const Call& call, bool waiting) override { own_->set(call, waiting); }

  void transfer(const Call& call, std::span<const Send> sends,
                std::span<const Recv> recvs) override {
    const int tag = tag_of(call);
    requests_.clear();
    sizes_.clear();
    for (const Recv& recv : recvs) {
      for_each_piece(recv.bytes, [&](size_t offset, int bytes) {
        std::byte* to = static_cast<std::byte*>(recv.data) + offset;
        check_mpi(MPI_Irecv(to, bytes, MPI_BYTE, static_cast<int>(recv.peer), tag, comm_,
                            &requests_.emplace_back()),
                  "MPI_Irecv");
        sizes_.push_back(bytes);
      });
    }
    const size_t num_recvs = requests_.size();
    for (const Send& send : sends) {
      for_each_piece(send.bytes, [&](size_t offset, int bytes) {
        const std::byte* from = static_cast<const std::byte*>(send.data) + offset;
        check_mpi(MPI_Isend(from, bytes, MPI_BYTE, static_cast<int>(send.peer), tag, comm_,
                            &requests_.emplace_back()),
                  "MPI_Isend");
      });
    }
    wait(call);
    for (size_t i = 0; i < num_recvs; ++i) {
      int bytes = 0;
      MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes);
      PHI_CHECK(bytes == sizes_[i],
                errors::InvalidArgument(
                    "rank {} expects {} bytes of rank {} and is sent {}, in {}.", rank(), sizes_[i],
                    statuses_[i].MPI_SOURCE, bytes, call.to_string()));
    }
  }

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

  int tag_of(const Call& call) const {
    const uint64_t mixed = (call.group->hash() >> 8) * 1024 + call.sequence % 1024;
    return static_cast<int>(mixed % tag_limit_);
  }

  template <typename F>
  static void for_each_piece(size_t bytes, F f) {
    size_t offset = 0;
    do {
      const size_t piece = std::min(bytes - offset, kPieceBytes);
      f(offset, static_cast<int>(piece));
      offset += piece;
    } while (offset < bytes);
  }

  void wait(const Call& call) {
    statuses_.resize(requests_.size());
    const int count = static_cast<int>(requests_.size());
    const int spins = crowded_ ? 8 : 2000;
    Clock::time_point start{};
    for (int64_t turn = 0;; ++turn) {
      int done = 0;
      const int code = MPI_Testall(count, requests_.data(), &done, statuses_.data());
      if (code != MPI_SUCCESS) [[unlikely]]
        throw_failed(call, code);
      if (done != 0) return;
      if (turn < spins) continue;
      if (turn == spins) start = Clock::now();
      back_off(call, Clock::now() - start);
    }
  }

  // First the core is given to whoever wants it; later this process sleeps, shortly.
  void back_off(const Call& call, Clock::duration waited) {
    using namespace std::chrono_literals;
    if (waited < 2ms) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(waited < 20ms ? 20us : 200us);
    if (waited < deadline()) return;
    throw errors::ExecutionTimeout(
        "{}", timeout_report(call, deadline(), [&](int64_t rank) { return activity_of_[rank]; }));
  }

  [[noreturn]] void throw_failed(const Call& call, int code) {
    std::string text = mpi_error_text(code);
    for (const MPI_Status& status : statuses_) {
      if (code == MPI_ERR_IN_STATUS && status.MPI_ERROR != MPI_SUCCESS &&
          status.MPI_ERROR != MPI_ERR_PENDING) {
        text = mpi_error_text(status.MPI_ERROR);
      }
    }
    throw errors::Unavailable("{} failed at rank {}: {}", call.to_string(), rank(), text);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm machine_ = MPI_COMM_NULL;  // the ranks of this machine
  MPI_Win window_ = MPI_WIN_NULL;
  Board* board_ = nullptr;  // the machine's first rank's: holds the machine's `failed`
  Activity* own_ = nullptr;
  std::vector<const Activity*> activity_of_;  // by rank; null: another machine
  uint64_t tag_limit_ = 32767;
  bool crowded_ = false;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> sizes_;
};

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
