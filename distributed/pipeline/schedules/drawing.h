// Drawings of a simulated pipeline schedule: one row per stage, time from left to right.
//
//   std::fputs(draw_text(schedule, simulation, {.width = 100}).c_str(), stdout);
//   std::ofstream("schedule.svg") << draw_svg(schedule, simulation);
#pragma once

#include <string>
#include <vector>

#include "distributed/pipeline/schedules/schedule_times.h"

namespace phi::distributed::pipeline {

struct TextStyle {
  int width = 100;  // columns of the terminal; a very small width is exceeded
  bool colour = false;
};

/// Returns rows, a time axis and a legend. An action shows its letter and as much of its
/// micro-batch (and chunk) as fits. An action narrower than a column may be left out; a last line
/// counts these.
std::string draw_text(const Schedule& schedule, const Simulation& simulation,
                      const TextStyle& style);

/// Returns a complete SVG file: title, one rectangle with a tooltip per action, axes, legend. Its
/// width follows from the shortest action, within limits.
std::string draw_svg(const Schedule& schedule, const Simulation& simulation);

/// "zb_h1: 8 stages, 24 micro-batches", with chunks if there are several.
std::string title_of(const Schedule& schedule);

struct LegendEntry {
  ActionKind kind;
  std::string text;
};
/// The kinds of action that the schedule has.
std::vector<LegendEntry> legend_of(const Schedule& schedule);

/// Positions of axis labels from 0 to `end`: multiples of 1, 2 or 5 times a power of ten, at most
/// `count` of them after 0.
std::vector<double> ticks(double end, int count);

}  // namespace phi::distributed::pipeline
