// Predictions as JSON and as a table.
#include "api/simulation/prediction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "phi/common/readable_numbers.h"

namespace phi::simulation {

nlohmann::ordered_json to_json(const Prediction& prediction) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (size_t rank = 0; rank < prediction.ranks.size(); ++rank) {
    const RankPrediction& own = prediction.ranks[rank];
    ranks.push_back({{"rank", rank},
                     {"peak_tensor_bytes", own.peak_tensor_bytes},
                     {"held_at_peak", to_json(own.held_at_peak)},
                     {"bytes_sent", own.bytes_sent},
                     {"bytes_received", own.bytes_received},
                     {"compute_seconds", own.compute_seconds},
                     {"exposed_seconds", own.exposed_seconds},
                     {"bubble_seconds", own.bubble_seconds}});
  }
  return {{"step_seconds", prediction.step_seconds},
          {"tokens_per_s", prediction.tokens_per_s},
          {"unlisted_ops", prediction.unlisted},
          {"ranks", std::move(ranks)}};
}

nlohmann::ordered_json to_json(const MemoryHolders& holders) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const MemoryHolder& holder : holders) json[holder.name] = holder.bytes;
  return json;
}

std::string to_string(const MemoryHolders& holders) {
  std::string text;
  for (const MemoryHolder& holder : holders) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", holder.name, human_bytes(holder.bytes));
  }
  return text;
}

std::string table(const Prediction& prediction) {
  std::string out = fmt::format(
      "predicted: {:.4g} s per step, {:.5g} tok/s; {} rank{} of {} class{}\n"
      "{:>5}  {:>9}  {:>9}  {:>9}  {:>10}  {:>10}  {:>10}\n",
      prediction.step_seconds, prediction.tokens_per_s, prediction.ranks.size(),
      prediction.ranks.size() == 1 ? "" : "s", prediction.classes,
      prediction.classes == 1 ? "" : "es", "rank", "compute", "exposed", "bubble", "sent",
      "received", "peak");
  for (size_t rank = 0; rank < prediction.ranks.size(); ++rank) {
    const RankPrediction& own = prediction.ranks[rank];
    out += fmt::format("{:>5}  {:>7.4g} s  {:>7.4g} s  {:>7.4g} s  {:>10}  {:>10}  {:>10}\n", rank,
                       own.compute_seconds, own.exposed_seconds, own.bubble_seconds,
                       human_bytes(own.bytes_sent), human_bytes(own.bytes_received),
                       human_bytes(own.peak_tensor_bytes));
  }
  const auto most =
      std::ranges::max_element(prediction.ranks, {}, &RankPrediction::peak_tensor_bytes);
  if (most != prediction.ranks.end()) {
    out += fmt::format("at the peak of rank {}: {}\n", most - prediction.ranks.begin(),
                       to_string(most->held_at_peak));
  }
  if (!prediction.unlisted.empty()) {
    out += fmt::format("without rates of their own: {}\n", fmt::join(prediction.unlisted, ", "));
  }
  return out;
}

}  // namespace phi::simulation
