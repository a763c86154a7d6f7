// Python's module autophi.tensorboard reads the lines from a pipe.
#include "tools/job/output/tensorboard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "phi/common/errors.h"
#include "tools/cli/python.h"
#include "tools/job/output/write_all.h"

namespace phi::job {
namespace {

using distributed::supervise::ChildProcess;

std::vector<std::string> command(const std::string& folder) {
  return {FLAGS_python, "-m", "autophi.tensorboard", folder};
}

bool ends_in_time(ChildProcess& child) {
  constexpr std::chrono::milliseconds kPause(10);
  constexpr std::chrono::seconds kMost(60);
  const auto begin = std::chrono::steady_clock::now();
  while (!child.poll()) {
    if (std::chrono::steady_clock::now() - begin > kMost) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

// Reads until the process ends.
std::string all_errors(ChildProcess& child) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const bool has_ended = child.poll();
    ssize_t got = 0;
    while ((got = read(child.errors(), part.data(), part.size())) > 0) {
      text.append(part.data(), static_cast<size_t>(got));
    }
    if (has_ended) return text;
    constexpr int kPauseMs = 20;
    pollfd waits{child.errors(), POLLIN, 0};
    poll(&waits, 1, kPauseMs);
  }
}

std::string_view trimmed(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const std::string& folder) : folder_(folder) {
  if (folder.empty()) return;
  std::array<int, 2> ends{-1, -1};
  PHI_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0,
            errors::Unavailable("cannot make a pipe: {}.", std::strerror(errno)));
  pipe_ = ends[1];
  try {
    child_.emplace(command(folder), ChildProcess::Options{.input = ends[0]});
  } catch (...) {
    close(ends[0]);
    close_pipe();
    throw;
  }
  close(ends[0]);
}

TensorBoardWriter::~TensorBoardWriter() { finish(); }

void TensorBoardWriter::close_pipe() {
  if (pipe_ >= 0) close(std::exchange(pipe_, -1));
}

void TensorBoardWriter::write(const std::string& line) {
  if (pipe_ < 0 || broken_) return;
  broken_ = write_all(pipe_, line) != 0;
}

std::string TensorBoardWriter::finish() {
  if (!child_) return "";
  close_pipe();
  const bool ended = ends_in_time(*child_);
  const int status = child_->status();
  child_.reset();
  if (ended && !broken_ && status == 0) return "";
  return fmt::format(
      "the event files in '{}' lack steps: their writer {}.", folder_,
      ended ? "ended with " + distributed::supervise::describe_exit(status) : "does not end");
}

void check_tensorboard(const std::string& folder) {
  std::vector<std::string> words = command(folder);
  words.emplace_back("--check");
  std::string said;
  try {
    ChildProcess child(words, {.keeps_errors = true});
    said = all_errors(child);
    if (child.status() == 0) return;
  } catch (const Error& error) {
    said = error.what();
  }
  throw errors::Unavailable(
      "--tensorboard={}: no event files can be written. {}\n--python=PATH names a Python with the "
      "packages autophi and tensorboard (pip install 'autophi[tensorboard]').",
      folder, trimmed(said));
}

}  // namespace phi::job
