// Draws the progress of a training.
#include "api/training/progress.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

#include "fmt/core.h"
#include "phi/common/errors.h"
#include "phi/common/readable_numbers.h"
#include "phi/core/rank_context.h"

namespace phi::training {
namespace {

constexpr int64_t kBarWidth = 21;
constexpr int64_t kMaxLines = 50;  // upper limit, to keep the log of a long job short

// mpirun connects each rank to a pseudo-terminal even if its own output is redirected. The output
// that the user sees is mpirun's, the parent process of the ranks on its machine.
bool launcher_has_terminal() {
  const std::string link = "/proc/" + std::to_string(getppid()) + "/fd/1";
  std::array<char, 64> target;
  const ssize_t n = readlink(link.c_str(), target.data(), target.size());
  const std::string_view name(target.data(), static_cast<size_t>(std::max<ssize_t>(n, 0)));
  return name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
}

}  // namespace

Progress::Progress(Style style, int64_t steps, int64_t tokens_per_step, Write write,
                   std::string unit)
    : style_(style),
      steps_(steps),
      tokens_per_step_(tokens_per_step),
      write_(std::move(write)),
      unit_(std::move(unit)),
      start_(std::chrono::steady_clock::now()) {}

void Progress::to_standard_output(const std::string& text) { std::cout << text << std::flush; }

Progress::Style Progress::detect() { return of_terminal(isatty(STDOUT_FILENO) == 1); }

Progress::Style Progress::of_terminal(bool is_terminal) {
  const bool launched = std::getenv("OMPI_COMM_WORLD_RANK") != nullptr;
  const bool seen = is_terminal && (!launched || launcher_has_terminal());
  return seen ? Style::kBar : Style::kLines;
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double Progress::tokens_per_s(int64_t step) const {
  return static_cast<double>((step - first_) * tokens_per_step_) / std::max(seconds(), 1e-9);
}

void Progress::done(int64_t step, double loss) {
  PHI_CHECK(step > first_ && step <= steps_,
            errors::InvalidArgument(
                "progress is reported for step {}, but the remaining steps are {} to {}.", step,
                first_ + 1, steps_));
  last_step_seconds_ = seconds() - std::exchange(last_done_, seconds());
  if (style_ == Style::kSilent || (style_ == Style::kLines && !wants_line(step))) return;
  const double left =
      seconds() / static_cast<double>(step - first_) * static_cast<double>(steps_ - step);
  const int width = static_cast<int>(std::to_string(steps_).size());
  std::string line = fmt::format("step {:>{}}/{}", step, width, steps_);
  if (style_ == Style::kBar) line += " " + bar(step);
  line += fmt::format("  loss {:.4f}", loss);
  if (tokens_per_step_ > 0) {
    line +=
        fmt::format("  {} {}/s", with_separators(static_cast<int64_t>(tokens_per_s(step))), unit_);
  }
  line += fmt::format("  {}", human_bytes(memory_stats(Tier::kDevice).peak));
  if (step < steps_) line += fmt::format("  {} left", clock_text(left));
  if (style_ == Style::kBar) {
    // Returns to the start of the line and erases the rest of a longer previous line.
    write_("\r\033[K" + line + (step == steps_ ? "\n" : ""));
  } else {
    write_(line + "\n");
  }
}

bool Progress::wants_line(int64_t step) const {
  const int64_t every = (steps_ + kMaxLines - 1) / kMaxLines;
  return step == first_ + 1 || step == steps_ || step % every == 0;
}

std::string Progress::bar(int64_t step) const {
  const int64_t filled = kBarWidth * step / steps_;
  std::string out = "\033[32m";
  for (int64_t i = 0; i < kBarWidth; ++i) {
    if (i == filled) out += "\033[90m";
    out += i + 1 == filled && filled < kBarWidth ? "╸" : "━";
  }
  return out + "\033[0m";
}

std::string clock_text(double seconds) {
  const auto s = static_cast<int64_t>(std::llround(seconds));
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace phi::training
