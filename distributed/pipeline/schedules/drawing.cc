// Text shared by both drawings.
#include "distributed/pipeline/schedules/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace phi::distributed::pipeline {

std::string title_of(const Schedule& schedule) {
  const auto count = [](int n, std::string_view what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : (what.ends_with("batch") ? "es" : "s"));
  };
  std::string title = fmt::format("{}: {}, {}", schedule.kind, count(schedule.stages, "stage"),
                                  count(schedule.micro_batches, "micro-batch"));
  if (schedule.chunks > 1) title += fmt::format(", {} per stage", count(schedule.chunks, "chunk"));
  return title;
}

std::vector<LegendEntry> legend_of(const Schedule& schedule) {
  std::vector<LegendEntry> legend = {{ActionKind::kForward, "forward"}};
  const auto& actions = schedule.actions.front();
  const bool split = std::any_of(actions.begin(), actions.end(), [](const auto& action) {
    return action.kind == ActionKind::kBackwardInput;
  });
  if (split) {
    legend.push_back({ActionKind::kBackwardInput, "backward for the input"});
    legend.push_back({ActionKind::kBackwardWeight, "backward for the weight"});
  } else {
    legend.push_back({ActionKind::kBackward, "backward"});
  }
  return legend;
}

std::vector<double> ticks(double end, int count) {
  if (!(end > 0) || count < 1) return {0};
  const double least = end / count;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= least) step = factor * power;
  }
  std::vector<double> result;
  for (int i = 0; i * step <= end; ++i) result.push_back(i * step);
  return result;
}

}  // namespace phi::distributed::pipeline
