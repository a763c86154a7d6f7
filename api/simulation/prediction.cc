// Predictions as JSON and as a table.
#include "api/simulation/prediction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "phi/common/readable_numbers.h"

namespace phi::simulation {
namespace {

// A line if ranks hold more than a device has.
std::string lack_of_memory(const Prediction& prediction) {
  if (prediction.device_bytes == 0) return "";
  const auto exceeds = [&](const RankPrediction& rank) {
    return rank.peak_tensor_bytes > prediction.device_bytes;
  };
  const auto ranks = std::ranges::count_if(prediction.ranks, exceeds);
  if (ranks == 0) return "";
  const auto most =
      std::ranges::max_element(prediction.ranks, {}, &RankPrediction::peak_tensor_bytes);
  return fmt::format(
      "does not fit: {} rank{} more than the {} that a device has for tensors; rank "
      "{} holds {}\n",
      ranks, ranks == 1 ? " holds" : "s hold", human_bytes(prediction.device_bytes),
      most - prediction.ranks.begin(), human_bytes(most->peak_tensor_bytes));
}

}  // namespace

nlohmann::ordered_json to_json(const Prediction& prediction) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (size_t rank = 0; rank < prediction.ranks.size(); ++rank) {
    const RankPrediction& own = prediction.ranks[rank];
    ranks.push_back({{"rank", rank},
                     {"peak_tensor_bytes", own.peak_tensor_bytes},
                     {"bytes_sent", own.bytes_sent},
                     {"bytes_received", own.bytes_received},
                     {"compute_seconds", own.compute_seconds},
                     {"exposed_seconds", own.exposed_seconds},
                     {"bubble_seconds", own.bubble_seconds}});
  }
  using Json = nlohmann::ordered_json;
  return {{"step_seconds", prediction.step_seconds},
          {"tokens_per_s", prediction.tokens_per_s},
          {"mfu", prediction.mfu ? Json(*prediction.mfu) : Json()},
          {"device_bytes", prediction.device_bytes > 0 ? Json(prediction.device_bytes) : Json()},
          {"unlisted_ops", prediction.unlisted},
          {"ranks", std::move(ranks)}};
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
  if (prediction.mfu)
    out += fmt::format("model flops utilisation: {:.1f} %\n", 100 * *prediction.mfu);
  out += lack_of_memory(prediction);
  if (!prediction.unlisted.empty()) {
    out += fmt::format("without rates of their own: {}\n", fmt::join(prediction.unlisted, ", "));
  }
  return out;
}

}  // namespace phi::simulation
