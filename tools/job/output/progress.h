// Progress of a job: a bar that is drawn over itself on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>

namespace phi::job {

class Progress {
 public:
  enum class Style { kSilent, kLines, kBar };

  Progress(Style style, int64_t steps, int64_t tokens_per_step, std::ostream& out = std::cout);

  /// The style for this process's standard output: a bar if a person sees it.
  static Style detect();

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
  std::ostream& out_;
  std::chrono::steady_clock::time_point start_;
  double last_done_ = 0;
  double last_step_seconds_ = 0;
};

/// 0:05:11
std::string clock_text(double seconds);

}  // namespace phi::job
