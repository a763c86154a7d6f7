// Draws SVG 1.1 without scripts, embedded fonts or style sheets.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "distributed/pipeline/schedules/drawing.h"

namespace phi::distributed::pipeline {
namespace {

// All sizes are in pixels.
constexpr double kLeft = 80;
constexpr double kRight = 24;
constexpr double kTop = 64;
constexpr double kRow = 28;
constexpr double kBar = 22;
constexpr double kBottom = 78;
constexpr double kDigit = 6.2;      // width of a digit in a bar
constexpr double kShortest = 18;    // desired width of the shortest action
constexpr double kNarrowest = 720;  // limits of the plot
constexpr double kWidest = 6000;

using Rgb = std::array<int, 3>;

Rgb base_of(ActionKind kind) {
  if (kind == ActionKind::kForward) return {66, 133, 204};
  if (kind == ActionKind::kBackwardWeight) return {224, 164, 46};
  return {76, 158, 106};
}

// Chunk 0 is lightest, the last chunk has the full colour.
std::string svg_colour(ActionKind kind, int chunk, int chunks) {
  const double white = 0.55 * (chunks - 1 - chunk) / chunks;
  Rgb rgb = base_of(kind);
  for (int& part : rgb) part = static_cast<int>(part + white * (255 - part));
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

class SvgCanvas {
 public:
  SvgCanvas(const Schedule& schedule, const Simulation& simulation)
      : schedule_(schedule), simulation_(simulation) {
    double shortest = simulation.makespan;
    for (const auto& spans : simulation.spans) {
      for (const Span& span : spans) {
        if (span.end > span.start) shortest = std::min(shortest, span.end - span.start);
      }
    }
    plot_ = std::clamp(simulation.makespan / shortest * kShortest, kNarrowest, kWidest);
    height_ = kRow * schedule.stages;
  }

  std::string draw() {
    const double width = kLeft + plot_ + kRight;
    const double height = kTop + height_ + kBottom;
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" "
        "font-size=\"12\" fill=\"#222\">\n",
        width, height);
    add("<title>{}</title>\n", title_of(schedule_));
    add("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    add("<text x=\"{}\" y=\"28\" font-size=\"16\" font-weight=\"bold\">{}</text>\n", kLeft,
        title_of(schedule_));
    add("<text x=\"{}\" y=\"48\">cost {:.7g}, bubble rate {:.4f}</text>\n", kLeft, simulation_.cost,
        simulation_.bubble_rate);
    draw_axes();
    for (int stage = 0; stage < schedule_.stages; ++stage) draw_stage(stage);
    draw_legend();
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  double x_of(double time) const { return kLeft + time / simulation_.makespan * plot_; }

  void draw_axes() {
    const double bottom = kTop + height_;
    for (const double time : ticks(simulation_.makespan, static_cast<int>(plot_ / 80))) {
      add("<path d=\"M{0:.2f} {1}V{2}\" stroke=\"#ddd\"/>"
          "<text x=\"{0:.2f}\" y=\"{3}\" text-anchor=\"middle\">{4:g}</text>\n",
          x_of(time), kTop, bottom + 5, bottom + 19, time);
    }
    add("<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"#222\"/>\n", kLeft, kTop, bottom,
        kLeft + plot_);
    add("<text x=\"{:.2f}\" y=\"{}\" text-anchor=\"middle\">time</text>\n", kLeft + plot_ / 2,
        bottom + 37);
  }

  void draw_stage(int stage) {
    const double top = kTop + kRow * stage + (kRow - kBar) / 2;
    const double baseline = top + kBar / 2 + 4;
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">stage {}</text>\n", kLeft - 8, baseline,
        stage);
    const auto& actions = schedule_.actions[static_cast<size_t>(stage)];
    const auto& spans = simulation_.spans[static_cast<size_t>(stage)];
    for (size_t i = 0; i < actions.size(); ++i) {
      const Action& action = actions[i];
      const double x = x_of(spans[i].start);
      const double width = x_of(spans[i].end) - x;
      add("<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\" "
          "stroke=\"#fff\" stroke-width=\"0.6\"><title>stage {}: {}, {:.7g} to {:.7g}</title>"
          "</rect>\n",
          x, top, width, kBar, svg_colour(action.kind, action.chunk, schedule_.chunks), stage,
          to_string(schedule_, action), spans[i].start, spans[i].end);
      const std::string number = fmt::format("{}", action.micro_batch);
      if (width < kDigit * static_cast<double>(number.size()) + 3) continue;
      // Pointer events pass through the text to the rectangle, which has the tooltip.
      add("<text x=\"{:.2f}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\" "
          "pointer-events=\"none\">{}</text>\n",
          x + width / 2, baseline, number);
    }
  }

  void draw_legend() {
    const double top = kTop + height_ + 50;
    double x = kLeft;
    const auto entry = [&](const std::string& colour, const std::string& text) {
      add("<rect x=\"{0:.2f}\" y=\"{1}\" width=\"14\" height=\"14\" fill=\"{2}\"/>"
          "<text x=\"{3:.2f}\" y=\"{4}\">{5}</text>\n",
          x, top, colour, x + 20, top + 11.5, text);
      x += 44 + 6.4 * static_cast<double>(text.size());
    };
    const int last = schedule_.chunks - 1;
    for (const LegendEntry& legend : legend_of(schedule_)) {
      entry(svg_colour(legend.kind, last, schedule_.chunks), legend.text);
    }
    add("<text x=\"{:.2f}\" y=\"{}\">number: micro-batch{}</text>\n", x, top + 11.5,
        last > 0 ? "; lighter: earlier chunks" : "");
  }

  const Schedule& schedule_;
  const Simulation& simulation_;
  double plot_ = 0;    // width
  double height_ = 0;  // of the plot
  std::string out_;
};

}  // namespace

std::string draw_svg(const Schedule& schedule, const Simulation& simulation) {
  return SvgCanvas(schedule, simulation).draw();
}

}  // namespace phi::distributed::pipeline
