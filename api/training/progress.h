// Progress of steps: a bar that is drawn over itself on a terminal, plain lines elsewhere.
//
//   training::Progress progress(Progress::detect(), 1000, tokens_per_step);
//   trainer.on_step([&](int64_t step, const auto& result) { progress.done(step, result.loss); });
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace phi::training {

class Progress {
 public:
  enum class Style { kSilent, kLines, kBar };

  /// Takes text as it is to be shown, and shows it at once.
  using Write = std::function<void(const std::string&)>;

  /// `tokens_per_step`: 0 leaves tokens out.
  Progress(Style style, int64_t steps, int64_t tokens_per_step, Write write = to_standard_output);

  static void to_standard_output(const std::string& text);
  /// The style for this process's standard output: a bar if a person sees it.
  static Style detect();
  /// The style for an output that is, or is not, a terminal: of ranks it is mpirun's that counts.
  static Style of_terminal(bool is_terminal);

  /// The steps up to this one were done at another time.
  void resume_after(int64_t step) { first_ = step; }
  /// `step` counts from 1.
  void done(int64_t step, double loss);

  double seconds() const;
  /// From the end of the step before the last to that of the last.
  double last_step_seconds() const { return last_step_seconds_; }
  /// Up to the end of this step.
  double tokens_per_s(int64_t step) const;

 private:
  std::string bar(int64_t step) const;
  bool wants_line(int64_t step) const;

  Style style_;
  int64_t steps_;
  int64_t first_ = 0;
  int64_t tokens_per_step_;
  Write write_;
  std::chrono::steady_clock::time_point start_;
  double last_done_ = 0;
  double last_step_seconds_ = 0;
};

/// 0:05:11
std::string clock_text(double seconds);

}  // namespace phi::training
