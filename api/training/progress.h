// Progress of a training: a progress bar on a terminal, plain lines elsewhere.
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

  /// Shows text at once, without changing it.
  using Write = std::function<void(const std::string&)>;

  /// With `tokens_per_step` 0, tokens are not shown. `unit` names what is counted instead of
  /// tokens, for example "img".
  Progress(Style style, int64_t steps, int64_t tokens_per_step, Write write = to_standard_output,
           std::string unit = "tok");

  static void to_standard_output(const std::string& text);
  /// The style for this process's standard output: a bar if it is a terminal.
  static Style detect();
  /// The style for an output. Under mpirun, `is_terminal` refers to mpirun's output.
  static Style of_terminal(bool is_terminal);

  /// Steps up to `step` were done by an earlier run.
  void resume_after(int64_t step) { first_ = step; }
  /// Reports that step `step`, counted from 1, is done.
  void done(int64_t step, double loss);

  double seconds() const;
  /// Time from the end of the step before last to the end of the last step.
  double last_step_seconds() const { return last_step_seconds_; }
  /// Rate from the start to the end of step `step`.
  double tokens_per_s(int64_t step) const;

 private:
  std::string bar(int64_t step) const;
  bool wants_line(int64_t step) const;

  Style style_;
  int64_t steps_;
  int64_t first_ = 0;
  int64_t tokens_per_step_;
  Write write_;
  std::string unit_;
  std::chrono::steady_clock::time_point start_;
  double last_done_ = 0;
  double last_step_seconds_ = 0;
};

/// Formats seconds as h:mm:ss, for example 0:05:11.
std::string clock_text(double seconds);

}  // namespace phi::training
