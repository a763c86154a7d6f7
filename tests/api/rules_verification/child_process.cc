// Children that answer, one after the other where one ends too early.
#include "tests/api/rules_verification/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "phi/common/errors.h"
#include "phi/kernels/threads.h"

namespace phi::testing {
namespace {

constexpr unsigned kMostSeconds = 10;  // of one answer

void write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
    if (count <= 0) ::_exit(1);
    done += static_cast<size_t>(count);
  }
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

// Lines of the answers from `first` on, as far as the child came.
std::string run_from(size_t first, size_t n, const std::function<std::string(size_t)>& answer) {
  int ends[2];
  PHI_CHECK(::pipe(ends) == 0, errors::Internal("pipe: {}.", std::strerror(errno)));
  const pid_t child = ::fork();
  PHI_CHECK(child >= 0, errors::Internal("fork: {}.", std::strerror(errno)));
  if (child == 0) {
    ::close(ends[0]);
    share_cores(1 << 20);                               // the pool of other threads is not there
    const int nowhere = ::open("/dev/null", O_WRONLY);  // how it ends is no news
    ::dup2(nowhere, STDOUT_FILENO);                     // OpenBLAS complains there
    ::dup2(nowhere, STDERR_FILENO);
    for (size_t i = first; i < n; ++i) {
      ::alarm(kMostSeconds);  // what writes past its end may leave a lock taken
      write_all(ends[1], answer(i) + "\n");
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text = read_all(ends[0]);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

}  // namespace

std::vector<std::optional<std::string>> run_in_child(
    size_t n, const std::function<std::string(size_t)>& answer) {
  std::vector<std::optional<std::string>> answers;
  while (answers.size() < n) {
    const std::string text = run_from(answers.size(), n, answer);
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1)
      answers.emplace_back(text.substr(begin, end - begin));
    if (answers.size() < n) answers.emplace_back();
  }
  return answers;
}

}  // namespace phi::testing
