// An MPI job from start to end. Ranks of one machine share a rank table (shared_rank_table.h).
// Creating a group needs no communication, because a message's header contains its group.
#include "distributed/comm/mpi/mpi_transport.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "distributed/comm/mpi/launcher_environment.h"
#include "distributed/comm/mpi/machines.h"
#include "distributed/comm/mpi/mpi_messages.h"
#include "distributed/comm/mpi/network_choice.h"
#include "distributed/comm/mpi/shared_rank_table.h"
#include "distributed/comm/mpi/single_copy.h"
#include "distributed/comm/mpi/watchdog.h"
#include "distributed/comm/report/with_rank.h"
#include "distributed/comm/transport.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

using namespace std::chrono_literals;

// How long a rank waits for a rank that has printed an error to end the job, and how long a rank
// whose program ends with an error waits for the others to end too.
constexpr auto kOthersEndTheJob = 5s;

class MpiTransport;
// This process's transport; null before it is created and after it has left the job.
MpiTransport* transport_of_process = nullptr;

void leave_at_exit(int status, void*);

// The watchdog and its rank table, which start before MPI is initialised.
struct RankMonitor {
  explicit RankMonitor(const LauncherEnvironment& launch, World::Milliseconds start_deadline)
      : rank_table(SharedRankTable::open(launch)), watchdog(*rank_table, launch, start_deadline) {}

  std::unique_ptr<SharedRankTable> rank_table;
  Watchdog watchdog;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(int64_t rank, int64_t size, std::unique_ptr<RankMonitor> watch)
      : Transport(rank, size, Peers::kOthers),
        watch_(std::move(watch)),
        link_{.transport = *this, .watchdog = watch_->watchdog} {
    link_.is_here = ranks_of_this_machine(rank, size, watch_->rank_table->token());
    link_.rank_status = [this](int64_t other) {
      return link_.is_here[static_cast<size_t>(other)] ? watch_->rank_table->rank_status(other)
                                                       : RankStatus{};
    };
    link_.has_left = [this](int64_t other) {
      return link_.is_here[static_cast<size_t>(other)] && watch_->rank_table->has_left(other);
    };
    link_.rests_sent.resize(static_cast<size_t>(size));
    link_.copies_once = messages_are_copied_once();
    link_.is_crowded =
        std::ranges::count(link_.is_here, true) > std::thread::hardware_concurrency();
    open_channels();
    // All ranks have mapped the rank table, so its name is no longer needed.
    MPI_Barrier(MPI_COMM_WORLD);
    watch_->rank_table->close();
    watch_->rank_table->set_phase(Phase::kIn);
    watch_->watchdog.on_all_started();
    transport_of_process = this;
    on_exit(leave_at_exit, nullptr);
  }

  int64_t local_rank() const override {
    return std::count(link_.is_here.begin(), link_.is_here.begin() + rank(), true);
  }

  ~MpiTransport() override {
    transport_of_process = nullptr;
    watch_->rank_table->set_phase(Phase::kLeaving);
    watch_->watchdog.set_deadline(deadline());
    {
      // A barrier first: mpirun may crash if a job is aborted while ranks wait in MPI_Finalize.
      const Watchdog::MpiCallScope inside(watch_->watchdog, "MPI_Barrier");
      MPI_Barrier(link_.headers);
    }
    {
      const Watchdog::MpiCallScope inside(watch_->watchdog, "MPI_Finalize");
      MPI_Comm_free(&link_.rests);
      MPI_Comm_free(&link_.headers);
      MPI_Finalize();
    }
    watch_->rank_table->set_phase(Phase::kLeft);
  }

  std::string_view backend() const override { return "mpi"; }

  // The first failing rank of a machine prints and ends the job; the others wait for that.
  void fail(const std::string& message) override {
    const bool is_first = watch_->rank_table->is_first_to_fail();
    watch_->rank_table->set_phase(Phase::kFailed);
    if (is_first) {
      fmt::print(stderr, "{}\n", with_rank(rank(), message));
      std::fflush(nullptr);
    } else {
      std::this_thread::sleep_for(kOthersEndTheJob);
    }
    abort(1);
  }

  // For a program that exits without finalize_world() and with a non-zero status. If all ranks
  // exit, they leave together; otherwise the job ends with this status.
  void leave_with(int status) {
    watch_->rank_table->set_phase(Phase::kExiting);
    const auto until = std::chrono::steady_clock::now() + kOthersEndTheJob;
    while (!all_leave()) {
      if (std::chrono::steady_clock::now() > until) end_job_with(status);
      std::this_thread::sleep_for(10ms);
    }
    finalize_world();
  }

  std::unique_ptr<Messages> new_messages() override { return std::make_unique<MpiMessages>(link_); }
  void note(const CollectiveCall& call, CallState state) override {
    watch_->rank_table->own_flight_recorder().note(call, state);
  }
  RankStatus rank_status(int64_t other) const override { return link_.rank_status(other); }

 private:
  void abort(int status) {
    transport_of_process = nullptr;  // because MPI_Abort may call exit()
    const Watchdog::MpiCallScope inside(watch_->watchdog, "MPI_Abort");
    MPI_Abort(MPI_COMM_WORLD, status);
  }

  // Ranks of other machines are not visible; they count as running.
  bool all_leave() const {
    for (int64_t other = 0; other < size(); ++other) {
      if (!link_.is_here[static_cast<size_t>(other)]) return false;
      const bool exits = watch_->rank_table->phase_of(other) == Phase::kExiting;
      if (!exits && !watch_->rank_table->has_left(other)) return false;
    }
    return true;
  }

  [[noreturn]] void end_job_with(int status) {
    if (watch_->rank_table->is_first_to_fail()) {
      fmt::print(stderr,
                 "rank {}: the program has exited with status {} while other ranks are running; "
                 "the job is aborted.\n",
                 rank(), status);
    }
    std::fflush(nullptr);
    watch_->rank_table->set_phase(Phase::kFailed);
    abort(status);
    std::_Exit(status);
  }

  void open_channels() {
    for (MPI_Comm* comm : {&link_.headers, &link_.rests}) {
      check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, comm), "MPI_Comm_dup");
      MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    }
    void* upper = nullptr;
    int found = 0;
    MPI_Comm_get_attr(link_.headers, MPI_TAG_UB, &upper, &found);
    if (found != 0) link_.tag_limit = static_cast<uint64_t>(*static_cast<int*>(upper));
  }

  std::unique_ptr<RankMonitor> watch_;
  MpiLink link_;
};

void leave_at_exit(int status, void* /*unused*/) {
  if (transport_of_process == nullptr || transport_of_process->was_forked()) return;
  if (status == 0) return finalize_world();
  transport_of_process->leave_with(status);
}

World::Milliseconds start_deadline_or_default(World::Milliseconds given) {
  constexpr const char* kName = "AUTOPHI_START_DEADLINE_S";
  const char* text = std::getenv(kName);
  if (given > 0ms || text == nullptr) return given > 0ms ? given : World::kDefaultStartDeadline;
  const std::string_view all = text;
  double seconds = 0;
  const auto [end, error] = std::from_chars(all.begin(), all.end(), seconds);
  constexpr double kMost = 7 * 24 * 3600.0;
  PHI_CHECK(error == std::errc() && end == all.end() && seconds > 0 && seconds <= kMost,
            errors::InvalidArgument("{}={}: expected seconds, more than 0 and at most {}.", kName,
                                    all, kMost));
  return World::Milliseconds(std::max<int64_t>(1, static_cast<int64_t>(seconds * 1000)));
}

}  // namespace

std::unique_ptr<World> join_mpi_job(int* argc, char*** argv, World::Milliseconds start_deadline) {
  const auto deadline = start_deadline_or_default(start_deadline);
  leave_out_forbidden_single_copy();
  const std::optional<LauncherEnvironment> launch = read_launcher_environment();
  if (launch) keep_off_the_network(*launch);
  auto watch = std::make_unique<RankMonitor>(launch.value_or(LauncherEnvironment{}), deadline);
  int provided = 0;
  check_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (watch->rank_table->rank() != rank || watch->rank_table->size() != size) {
    // The launcher does not set ranks: use a private rank table.
    watch.reset();
    watch = std::make_unique<RankMonitor>(
        LauncherEnvironment{.rank = rank, .size = size, .here = 1, .job = ""}, deadline);
  }
  try {
    return std::make_unique<World>(std::make_shared<RankContext>(rank, size),
                                   std::make_unique<MpiTransport>(rank, size, std::move(watch)));
  } catch (const Error&) {
    // All ranks throw the same error; rank 0 reports it.
    if (rank != 0) std::this_thread::sleep_for(kOthersEndTheJob);
    throw;
  }
}

}  // namespace phi::distributed
