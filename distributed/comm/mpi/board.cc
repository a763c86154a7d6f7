// Making and reading boards. A name is taken once: it holds the addresses of the job's servers.
// What a job with the same name should have left behind is told by its processes, which are no
// more.
#include "distributed/comm/mpi/board.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <random>
#include <sstream>

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

// What /proc/PID/stat says of a process after its name, which may contain anything.
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

// In containers that share /dev/shm but no processes, pids of others mean nothing.
uint64_t pid_space() {
  struct stat space {};
  return stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
}

const char* words_for(char state) {
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

std::unique_ptr<Board> Board::open(const Launch& launch) {
  std::unique_ptr<Board> board(new Board(launch.rank, launch.size));
  const uint64_t name = std::hash<std::string>()(launch.job);
  const bool shared = !launch.job.empty() && board->map_shared(fmt::format(
                                                 "/dev/shm/autophi-{}-{:016x}", geteuid(), name));
  if (!shared) board->map_private();
  board->take_place();
  return board;
}

Board::~Board() {
  close();
  munmap(memory_, bytes());
}

void Board::close() {
  if (!file_.empty()) unlink(file_.c_str());
  file_.clear();
}

bool Board::map_shared(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  struct stat found {};
  const bool ours = fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid();
  // Nothing is written where it is not asked for; without room for it every touch would be SIGBUS.
  const auto room = [&] {
    const auto end = static_cast<off_t>(bytes());
    if (ftruncate(fd, end) != 0) return false;
    const auto own = static_cast<off_t>(sizeof(Head) + static_cast<size_t>(rank_) * sizeof(Place));
    return posix_fallocate(fd, 0, sizeof(Head)) == 0 &&
           posix_fallocate(fd, own, sizeof(Place)) == 0;
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

void Board::map_private() {
  memory_ = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  PHI_CHECK(memory_ != MAP_FAILED,
            errors::ResourceExhausted("no {} bytes for what ranks tell each other.", bytes()));
}

void Board::take_place() {
  Place& mine = own();
  mine.phase.store(Phase::kAbsent);
  std::fill_n(reinterpret_cast<unsigned char*>(&mine.ring), sizeof(CallRing), 0);
  mine.born.store(stat_of(getpid()).born);
  mine.pid_space.store(pid_space());
  mine.pid.store(getpid());
  set_phase(Phase::kStarting);
}

bool Board::has_come(int64_t rank) const {
  return phase_of(rank) != Phase::kAbsent && place(rank).pid.load() != 0;
}

// A process that has ended and that nobody has asked for yet (state Z) is no more either.
bool Board::has_died(int64_t rank) const {
  const Phase phase = phase_of(rank);
  if (phase == Phase::kAbsent || phase == Phase::kLeft) return false;
  if (place(rank).pid_space.load() != own().pid_space.load()) return false;
  const Stat stat = stat_of(place(rank).pid.load());
  return stat.born != place(rank).born.load() || stat.state == 'Z' || stat.state == 'X';
}

SeenRank Board::see(int64_t rank) const {
  if (!has_come(rank)) return {};
  const int64_t pid = place(rank).pid.load();
  const char* phase = phase_of(rank) == Phase::kStarting  ? ", starting"
                      : phase_of(rank) == Phase::kLeaving ? ", leaving the job"
                      : phase_of(rank) == Phase::kLeft    ? ", has left the job"
                                                          : "";
  const char* state = has_died(rank) ? " has died" : words_for(stat_of(pid).state);
  return {&place(rank).ring, fmt::format("pid {}{}{}", pid, state, phase)};
}

}  // namespace phi::distributed
