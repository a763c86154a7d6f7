// Creates and reads rank tables. A rank table's name is unique to a job, because it contains the
// addresses of the job's servers. A rank table that an earlier job left is recognised by its
// processes, which no longer exist.
#include "distributed/comm/mpi/shared_rank_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <random>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

// The fields of /proc/PID/stat after the process name, which may contain any characters.
struct Stat {
  char state = '?';
  uint64_t born = 0;
};
Stat stat_of(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  Stat stat;
  const size_t name_end = all.rfind(')');
  if (name_end == std::string::npos) return stat;
  std::istringstream fields(all.substr(name_end + 1));
  std::string skipped;
  fields >> stat.state;
  constexpr int kBetweenStateAndBirth = 18;
  for (int i = 0; i < kBetweenStateAndBirth; ++i) fields >> skipped;
  fields >> stat.born;
  return stat;
}

// Containers may share /dev/shm but not process ids; pids of another pid namespace mean nothing.
uint64_t pid_space() {
  struct stat space {};
  return stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
}

const char* state_text(char state) {
  switch (state) {
    case 'T':
    case 't':
      return " is stopped by a signal";
    case 'Z':
    case 'X':
      return " has ended";
    case 'D':
      return " is in a system call that cannot be interrupted";
    default:
      return "";
  }
}

}  // namespace

std::unique_ptr<SharedRankTable> SharedRankTable::open(const LauncherEnvironment& launch) {
  std::unique_ptr<SharedRankTable> rank_table(new SharedRankTable(launch.rank, launch.size));
  const uint64_t name = std::hash<std::string>()(launch.job);
  // The name contains the size, so builds with another layout use other rank tables.
  const std::string all = fmt::format("autophi-{}-{:x}-", geteuid(), sizeof(RankEntry));
  const bool shared =
      !launch.job.empty() && rank_table->map_shared(fmt::format("/dev/shm/{}{:016x}", all, name));
  if (!shared) rank_table->map_private();
  rank_table->claim_entry();
  if (shared) rank_table->remove_left_behind(all);
  return rank_table;
}

// Removes rank tables of jobs that were killed before all ranks had started: all their processes
// are gone.
void SharedRankTable::remove_left_behind(const std::string& prefix) const {
  std::error_code ended;
  for (std::filesystem::directory_iterator file("/dev/shm", ended), end; !ended && file != end;
       file.increment(ended)) {
    const std::string path = file->path().string();
    if (!file->path().filename().string().starts_with(prefix) || path == file_) continue;
    const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && is_left_behind(fd)) unlink(path.c_str());
    if (fd >= 0) ::close(fd);
  }
}

bool SharedRankTable::is_left_behind(int fd) const {
  struct stat found {};
  if (fstat(fd, &found) != 0 || found.st_size <= static_cast<off_t>(sizeof(Head))) return false;
  void* memory = mmap(nullptr, static_cast<size_t>(found.st_size), PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return false;
  const auto* entries =
      reinterpret_cast<const RankEntry*>(static_cast<char*>(memory) + sizeof(Head));
  const size_t ranks = (static_cast<size_t>(found.st_size) - sizeof(Head)) / sizeof(RankEntry);
  const bool is_elsewhere = std::any_of(entries, entries + ranks, [&](const RankEntry& entry) {
    return entry.pid.load() != 0 && entry.pid_space.load() != own().pid_space.load();
  });
  size_t come = 0, gone = 0;
  for (const RankEntry& entry : std::span(entries, ranks)) {
    come += entry.pid.load() != 0 ? 1 : 0;
    gone += entry.pid.load() != 0 && is_gone(entry) ? 1 : 0;
  }
  munmap(memory, static_cast<size_t>(found.st_size));
  return !is_elsewhere && come > 0 && gone == come;
}

// A zombie (state Z), which its parent has not waited for yet, counts as gone.
bool SharedRankTable::is_gone(const RankEntry& entry) {
  const Stat stat = stat_of(entry.pid.load());
  return stat.born != entry.born.load() || stat.state == 'Z' || stat.state == 'X';
}

SharedRankTable::~SharedRankTable() {
  close();
  munmap(memory_, bytes());
}

void SharedRankTable::close() {
  if (!file_.empty()) unlink(file_.c_str());
  file_.clear();
}

bool SharedRankTable::map_shared(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  struct stat found {};
  const bool ours = fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid();
  // Memory is reserved before it is touched: without room every touch would raise SIGBUS.
  const auto room = [&] {
    const auto end = static_cast<off_t>(bytes());
    if (ftruncate(fd, end) != 0) return false;
    const auto own =
        static_cast<off_t>(sizeof(Head) + static_cast<size_t>(rank_) * sizeof(RankEntry));
    return posix_fallocate(fd, 0, sizeof(Head)) == 0 &&
           posix_fallocate(fd, own, sizeof(RankEntry)) == 0;
  };
  void* memory = MAP_FAILED;
  if (ours && room()) memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED) return false;
  memory_ = memory;
  file_ = file;
  uint64_t none = 0;
  std::random_device random;
  const uint64_t token = (uint64_t{random()} << 32 | random()) | 1;
  head().token.compare_exchange_strong(none, token);
  return true;
}

void SharedRankTable::map_private() {
  memory_ = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  PHI_CHECK(
      memory_ != MAP_FAILED,
      errors::ResourceExhausted("cannot allocate {} bytes for the shared rank table.", bytes()));
}

void SharedRankTable::claim_entry() {
  RankEntry& mine = own();
  mine.phase.store(Phase::kAbsent);
  std::fill_n(reinterpret_cast<unsigned char*>(&mine.flight_recorder), sizeof(FlightRecorder), 0);
  mine.born.store(stat_of(getpid()).born);
  mine.pid_space.store(pid_space());
  mine.pid.store(getpid());  // stored last: a reader of the pid may read the other fields
  set_phase(Phase::kStarting);
}

bool SharedRankTable::has_registered(int64_t rank) const {
  return phase_of(rank) != Phase::kAbsent && entry(rank).pid.load() != 0;
}

bool SharedRankTable::has_died(int64_t rank) const {
  const Phase phase = phase_of(rank);
  if (phase == Phase::kAbsent || phase == Phase::kLeft) return false;
  if (entry(rank).pid_space.load() != own().pid_space.load()) return false;
  return is_gone(entry(rank));
}

bool SharedRankTable::has_left(int64_t rank) const {
  const Phase phase = phase_of(rank);
  return phase == Phase::kLeaving || phase == Phase::kLeft;
}

RankStatus SharedRankTable::rank_status(int64_t rank) const {
  if (!has_registered(rank)) return {};
  const int64_t pid = entry(rank).pid.load();
  const char* phase = phase_of(rank) == Phase::kStarting  ? ", starting"
                      : phase_of(rank) == Phase::kExiting ? ", exiting"
                      : phase_of(rank) == Phase::kLeaving ? ", leaving the job"
                      : phase_of(rank) == Phase::kLeft    ? ", has left the job"
                                                          : "";
  const char* state = has_died(rank) ? " has died" : state_text(stat_of(pid).state);
  return {&entry(rank).flight_recorder, fmt::format("pid {}{}{}", pid, state, phase),
          has_left(rank)};
}

}  // namespace phi::distributed
