// Copies pieces that a pipe accepts atomically, so that a slow reader does not block the
// supervisor.
#include "distributed/supervise/error_stream.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <string_view>

namespace phi::distributed::supervise {
namespace {

constexpr size_t kMaxLine = 300;

bool is_of_rank(const std::string& line) {
  constexpr std::string_view kStart = "rank ";
  if (!line.starts_with(kStart)) return false;
  const size_t end = line.find_first_not_of("0123456789", kStart.size());
  return end != std::string::npos && end > kStart.size() && line.compare(end, 2, ": ") == 0;
}

// "mpirun noticed that process rank 1 ... exited on signal 9 (Killed)."
bool is_of_command(std::string_view line) {
  constexpr std::array<std::string_view, 3> kStarts = {"autophi", "mpirun noticed",
                                                       "ORTE has lost"};
  return std::ranges::any_of(kStarts, [&](auto start) { return line.starts_with(start); });
}

bool has_words(const std::string& line) {
  return std::ranges::any_of(line, [](unsigned char c) { return std::isalnum(c) != 0; });
}

}  // namespace

bool ErrorStream::takes_more() const {
  pollfd out{.fd = to_, .events = POLLOUT, .revents = 0};
  // Also true if the reader has gone: the write then fails, and the data is dropped.
  return poll(&out, 1, 0) == 1;
}

void ErrorStream::pass_on() {
  std::array<char, PIPE_BUF> part;
  while (takes_more()) {
    const ssize_t got = read(from_, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    note(part.data(), static_cast<size_t>(got));
    for (ssize_t at = 0; at < got;) {
      const ssize_t put = write(to_, part.data() + at, static_cast<size_t>(got - at));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) break;
      at += put;
    }
  }
}

void ErrorStream::note(const char* text, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (text[i] == '\n') {
      note_line();
      line_.clear();
    } else if (text[i] != '\r' && line_.size() < kMaxLine) {
      line_ += text[i];
    }
  }
}

void ErrorStream::note_line() {
  if (!has_words(line_)) return;
  last_ = line_;
  if (of_rank_.empty() && is_of_rank(line_)) of_rank_ = line_;
  if (of_command_.empty() && is_of_command(line_)) of_command_ = line_;
}

std::string ErrorStream::reason() const {
  if (!of_rank_.empty()) return of_rank_;
  return of_command_.empty() ? last_ : of_command_;
}

}  // namespace phi::distributed::supervise
