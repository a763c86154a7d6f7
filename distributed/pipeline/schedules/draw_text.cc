// Draws for a terminal: plain ASCII, or letters on coloured background.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "distributed/pipeline/schedules/drawing.h"

namespace phi::distributed::pipeline {
namespace {

// From the 256 terminal colours, light enough for black letters; later chunks are darker.
constexpr int kShades = 3;
int terminal_colour(ActionKind kind, int chunk) {
  constexpr int kForward[kShades] = {117, 75, 69};
  constexpr int kBackward[kShades] = {157, 114, 71};
  constexpr int kWeight[kShades] = {229, 221, 178};
  const int shade = chunk % kShades;
  if (kind == ActionKind::kForward) return kForward[shade];
  return kind == ActionKind::kBackwardWeight ? kWeight[shade] : kBackward[shade];
}

// Without colours the rest of an action is filled to show its end.
char filling_of(ActionKind kind) {
  if (kind == ActionKind::kForward) return '-';
  return kind == ActionKind::kBackwardWeight ? '~' : '=';
}

class TextCanvas {
 public:
  TextCanvas(const Schedule& schedule, const Simulation& simulation, const TextStyle& style)
      : schedule_(schedule), simulation_(simulation), colour_(style.colour) {
    const auto digits = fmt::formatted_size("{}", schedule.stages - 1);
    margin_ = static_cast<int>(digits) + 7;  // "stage 0" and a blank
    columns_ = std::max(style.width - margin_ - 2, kLeastColumns);
    column_time_ = simulation.makespan / columns_;
  }

  std::string draw() {
    for (size_t stage = 0; stage < schedule_.actions.size(); ++stage) draw_row(stage);
    draw_axis();
    draw_legend();
    if (hidden_ > 0) {
      out_ += fmt::format(
          "{} of {} actions are too short to be seen; a wider terminal or --svg=FILE shows more.\n",
          hidden_, actions_);
    }
    return std::move(out_);
  }

 private:
  static constexpr int kLeastColumns = 20;
  static constexpr int kColumnsPerTick = 8;  // at least

  // An action covers the columns whose midpoint is within it.
  int column_of(double time) const {
    return std::clamp(static_cast<int>(std::ceil(time / column_time_ - 0.5)), 0, columns_);
  }

  // The longest text that fits every block of this duration, so that equal actions look alike.
  std::string label(const Action& action, const Span& span) {
    const auto room = static_cast<size_t>((span.end - span.start) / column_time_ + 1e-6);
    std::string text = fmt::format("{}{}", letter_of(action.kind), action.micro_batch);
    if (text.size() > room) return text.substr(0, 1);
    has_numbers_ = true;
    if (schedule_.chunks == 1) return text;
    std::string full = fmt::format("{}.{}", text, action.chunk);
    if (full.size() > room) return text;
    has_chunks_ = true;
    return full;
  }

  void draw_block(const Action& action, const Span& span, int width) {
    std::string text = label(action, span);
    text.resize(static_cast<size_t>(width), colour_ ? ' ' : filling_of(action.kind));
    out_ += paint(action.kind, action.chunk, text);
  }

  std::string paint(ActionKind kind, int chunk, std::string_view text) const {
    if (!colour_) return std::string(text);
    return fmt::format("\x1b[30;48;5;{}m{}\x1b[0m", terminal_colour(kind, chunk), text);
  }

  void draw_row(size_t stage) {
    out_ += fmt::format("{:<{}}|", fmt::format("stage {}", stage), margin_);
    const auto& spans = simulation_.spans[stage];
    int at = 0;
    for (size_t i = 0; i < spans.size(); ++i) {
      const int begin = column_of(spans[i].start);
      const int end = column_of(spans[i].end);
      ++actions_;
      if (begin == end) {
        ++hidden_;
        continue;
      }
      out_.append(static_cast<size_t>(begin - at), ' ');
      draw_block(schedule_.actions[stage][i], spans[i], end - begin);
      at = end;
    }
    out_.append(static_cast<size_t>(columns_ - at), ' ');
    out_ += "|\n";
  }

  void draw_axis() {
    std::string axis = fmt::format("{:<{}}", "time", margin_ + 1);
    for (const double time : ticks(simulation_.makespan, std::max(columns_ / kColumnsPerTick, 1))) {
      const std::string mark = fmt::format("{:g}", time);
      const int at = margin_ + 1 + column_of(time);
      if (at + static_cast<int>(mark.size()) > margin_ + columns_ + 2) break;
      axis.resize(static_cast<size_t>(at), ' ');
      axis += mark;
    }
    out_ += axis + "\n";
  }

  void draw_legend() {
    out_ += std::string(static_cast<size_t>(margin_ + 1), ' ');
    for (const LegendEntry& entry : legend_of(schedule_)) {
      out_ += paint(entry.kind, 0, std::string(1, letter_of(entry.kind)));
      out_ += fmt::format(" {}   ", entry.text);
    }
    if (has_numbers_) out_ += "F3: of micro-batch 3";
    if (has_chunks_) out_ += ", F3.1: chunk 1";
    out_.erase(out_.find_last_not_of(' ') + 1);
    out_ += "\n";
  }

  const Schedule& schedule_;
  const Simulation& simulation_;
  bool colour_;
  int margin_ = 0;   // columns before the bar
  int columns_ = 0;  // between the bars
  double column_time_ = 0;
  bool has_numbers_ = false;  // some block shows its micro-batch ...
  bool has_chunks_ = false;   // ... and its chunk
  int64_t actions_ = 0;
  int64_t hidden_ = 0;
  std::string out_;
};

}  // namespace

std::string draw_text(const Schedule& schedule, const Simulation& simulation,
                      const TextStyle& style) {
  return TextCanvas(schedule, simulation, style).draw();
}

}  // namespace phi::distributed::pipeline
