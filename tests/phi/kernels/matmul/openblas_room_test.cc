// Where there is no room for what OpenBLAS maps, its calls are errors, and a process ends.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "phi/common/errors.h"
#include "phi/kernels/cpu/linalg/lapack.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/matmul/openblas_buffer.h"

namespace phi::testing {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kBufferMiB = kOpenblasBufferBytes / kMiB;
constexpr unsigned kPatience = 60;  // seconds; a process that tries for ever is ended then

size_t address_space_mib() {
  std::ifstream status("/proc/self/statm");
  size_t pages = 0;
  status >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / kMiB;
}

void limit_to(size_t mib) {
  const rlimit limit{mib * kMiB, mib * kMiB};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

// Status of a child process that does this, with what it maps.
int status_of_child(const std::function<int()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGTERM, [](int) {});  // as jobs have a handler: it does not end them
    alarm(kPatience);
    _exit(f());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// 0: it is computed; 1: the error says what is missing; 2: another error.
int outcome_of(const std::function<void()>& call) {
  try {
    call();
    return 0;
  } catch (const Error& error) {
    const std::string text = error.what();
    const bool says = text.find("there is no more memory: OpenBLAS") != std::string::npos &&
                      text.find(fmt::format("{} MiB", kBufferMiB)) != std::string::npos &&
                      text.find("ulimit -v") != std::string::npos;
    return says && error.code() == ErrorCode::kResourceExhausted ? 1 : 2;
  }
}

template <typename T>
void multiply() {
  constexpr int64_t kSize = 100;
  const std::vector<T> a(kSize * kSize, T(1)), b(kSize * kSize, T(1));
  std::vector<T> c(kSize * kSize);
  gemm<T>({kSize, kSize, kSize}, T(1), a.data(), kSize, b.data(), kSize, T(0), c.data(), kSize);
}

template <typename T>
void factor() {
  linalg::Matrix<T> a(60, 60);
  for (int64_t i = 0; i < 60; ++i) a(i, i) = T(1);
  linalg::cholesky_factor(&a, true);
}

const std::vector<std::pair<const char*, std::function<void()>>>& calls() {
  static const std::vector<std::pair<const char*, std::function<void()>>> all = {
      {"float64", [] { multiply<double>(); }},
      {"complex64", [] { multiply<complex64>(); }},
      {"complex128", [] { multiply<complex128>(); }},
      {"cholesky", [] { factor<double>(); }},
      {"cholesky of complex", [] { factor<complex64>(); }}};
  return all;
}

TEST(OpenblasRoom, NoneIsAnErrorAndOneIsEnough) {
  for (const auto& [what, call] : calls()) {
    SCOPED_TRACE(what);
    const auto within = [&, &f = call](size_t more) {
      return status_of_child([&] {
        limit_to(address_space_mib() + more);
        const int first = outcome_of(f);
        return first == outcome_of(f) ? first : 3;  // the second time as the first
      });
    };
    EXPECT_EQ(within(kBufferMiB / 2), 1);
    EXPECT_EQ(within(kBufferMiB - 8), 1);
    EXPECT_EQ(within(kBufferMiB + 64), 0);
  }
}

// A thread more at a time is a buffer more; one after the other they have the same.
TEST(OpenblasRoom, IsNeededForEachThreadAtATime) {
  const int status = status_of_child([] {
    limit_to(address_space_mib() + kBufferMiB + 64);
    int beside = 3, after = 3;
    {
      const OpenblasCall call;
      std::thread([&] { beside = outcome_of([] { const OpenblasCall other; }); }).join();
    }
    std::thread([&] { after = outcome_of([] { multiply<double>(); }); }).join();
    return 10 * beside + after;
  });
  EXPECT_EQ(status, 10);
}

// That it is neither less, which would be asked for in vain, nor more, which would not be found.
TEST(OpenblasRoom, ABufferHasTheSizeThatIsLookedFor) {
#ifdef __x86_64__
  const int status = status_of_child([] {
    const size_t before = address_space_mib();
    multiply<double>();
    return static_cast<int>(address_space_mib() - before);
  });
  EXPECT_GE(status, static_cast<int>(kBufferMiB));
  EXPECT_LE(status, static_cast<int>(kBufferMiB) + 2);
#endif
}

TEST(OpenblasRoom, Computes) {
  for (const auto& [what, call] : calls()) EXPECT_NO_THROW(call()) << what;
}

// Threads that find no room when the program is loaded keep it neither from computing nor from
// ending.
TEST(OpenblasRoom, ThreadsWithoutRoomAreNotWaitedFor) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "OpenBLAS has one thread here";
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  for (const size_t more : {kBufferMiB / 2, kBufferMiB + 64, 2 * kBufferMiB + 64}) {
    const std::string command = fmt::format(
        "ulimit -v {}; OPENBLAS_NUM_THREADS=4 timeout -s KILL {} '{}' "
        "--gtest_filter=OpenblasRoom.Computes 2>&1",
        (address_space_mib() + 64 + more) * 1024, kPatience, program);
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string text;
    std::array<char, 4096> part{};
    while (fgets(part.data(), static_cast<int>(part.size()), pipe)) text += part.data();
    const int status = WEXITSTATUS(pclose(pipe));
    EXPECT_TRUE(status == 0 || status == 1) << status << "\n" << text;
    EXPECT_TRUE(more > kBufferMiB || text.find("threads of OpenBLAS") != std::string::npos) << text;
    EXPECT_TRUE(status == 0 || text.find("there is no more memory") != std::string::npos) << text;
  }
}

}  // namespace
}  // namespace phi::testing
