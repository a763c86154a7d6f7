// Predictions as JSON and as a table.
#include "api/simulation/prediction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

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

// The lowest rank of each class.
std::vector<size_t> representatives_of(const Prediction& prediction) {
  std::vector<size_t> lowest(prediction.classes, prediction.ranks.size());
  for (size_t rank = 0; rank < prediction.ranks.size(); ++rank) {
    size_t& own = lowest[prediction.class_of[rank]];
    own = std::min(own, rank);
  }
  return lowest;
}

// Null if unknown.
nlohmann::ordered_json known(int64_t bytes) {
  return bytes > 0 ? nlohmann::ordered_json(bytes) : nlohmann::ordered_json();
}

nlohmann::ordered_json entry(const RankPrediction& own) {
  return {{"peak_tensor_bytes", own.peak_tensor_bytes},
          {"held_at_peak", to_json(own.held_at_peak)},
          {"reserved_bytes", known(own.reserved_bytes)},
          {"process_bytes", known(own.process_bytes)},
          {"bytes_sent", own.bytes_sent},
          {"bytes_received", own.bytes_received},
          {"bytes_by_link", own.bytes_by_link},
          {"compute_seconds", own.compute_seconds},
          {"exposed_seconds", own.exposed_seconds},
          {"bubble_seconds", own.bubble_seconds}};
}

nlohmann::ordered_json entry_of_rank(size_t rank, const RankPrediction& own) {
  nlohmann::ordered_json out = {{"rank", rank}};
  out.update(entry(own));
  return out;
}

// Memory that the process of a rank takes from the system.
std::string memory_line(const RankPrediction& own, std::ptrdiff_t rank) {
  if (own.reserved_bytes == 0) return "";
  const std::string process =
      own.process_bytes > 0 ? fmt::format(", its process {}", human_bytes(own.process_bytes)) : "";
  return fmt::format("tensors of rank {} reserve {}{}\n", rank, human_bytes(own.reserved_bytes),
                     process);
}

std::string counted(size_t n, std::string_view what, std::string_view plural) {
  return fmt::format("{} {}", n, n == 1 ? what : plural);
}

}  // namespace

std::vector<std::string> ranks_by_class(const Prediction& prediction) {
  struct Run {
    size_t first, last;
  };
  std::vector<std::vector<Run>> runs(prediction.classes);
  for (size_t rank = 0; rank < prediction.class_of.size(); ++rank) {
    std::vector<Run>& own = runs[prediction.class_of[rank]];
    if (own.empty() || own.back().last + 1 != rank) own.push_back({rank, rank});
    own.back().last = rank;
  }
  std::vector<std::string> out;
  for (const std::vector<Run>& own : runs) {
    std::string text;
    for (const Run& run : own) {
      if (!text.empty()) text += ", ";
      text += run.first == run.last ? fmt::format("{}", run.first)
                                    : fmt::format("{}-{}", run.first, run.last);
    }
    out.push_back(std::move(text));
  }
  return out;
}

nlohmann::ordered_json to_json(const Prediction& prediction) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  if (prediction.ranks.size() <= kMostListedRanks) {
    for (size_t rank = 0; rank < prediction.ranks.size(); ++rank)
      ranks.push_back(entry_of_rank(rank, prediction.ranks[rank]));
  } else {
    const std::vector<std::string> names = ranks_by_class(prediction);
    const std::vector<size_t> representatives = representatives_of(prediction);
    for (size_t c = 0; c < prediction.classes; ++c) {
      nlohmann::ordered_json own = {{"ranks", names[c]},
                                    {"count", std::ranges::count(prediction.class_of, c)}};
      own.update(entry(prediction.ranks[representatives[c]]));
      ranks.push_back(std::move(own));
    }
  }
  using Json = nlohmann::ordered_json;
  Json out = {{"step_seconds", prediction.step_seconds}, {"tokens_per_s", prediction.tokens_per_s}};
  out.update(utilisation_json(prediction.at_peak, prediction.step_seconds));
  out["device_bytes"] = known(prediction.device_bytes);
  out["unlisted_ops"] = prediction.unlisted;
  out["ranks"] = std::move(ranks);
  return out;
}

nlohmann::ordered_json utilisation_json(const std::optional<TimeAtPeak>& at_peak, double seconds) {
  if (!at_peak || seconds <= 0) return {{"mfu", nullptr}, {"hfu", nullptr}};
  return {{"mfu", at_peak->model_seconds / seconds}, {"hfu", at_peak->hardware_seconds / seconds}};
}

std::string json_text(const Prediction& prediction, int indent) {
  return to_json(prediction).dump(indent);
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
  const std::vector<std::string> names = ranks_by_class(prediction);
  constexpr size_t kWidest = 24;
  size_t width = 5;
  for (const std::string& name : names) width = std::max(width, std::min(name.size(), kWidest));
  std::string out = fmt::format(
      "predicted: {:.4g} s per step, {:.5g} tok/s; {} of {}, {} recorded\n"
      "{:>{}}  {:>9}  {:>9}  {:>9}  {:>10}  {:>10}  {:>10}\n",
      prediction.step_seconds, prediction.tokens_per_s,
      counted(prediction.ranks.size(), "rank", "ranks"),
      counted(prediction.classes, "class", "classes"), prediction.recorded_ranks,
      prediction.ranks.size() == 1 ? "rank" : "ranks", width, "compute", "exposed", "bubble",
      "sent", "received", "peak");
  const std::vector<size_t> representatives = representatives_of(prediction);
  for (size_t c = 0; c < prediction.classes; ++c) {
    const RankPrediction& own = prediction.ranks[representatives[c]];
    std::string name = names[c];
    if (name.size() > kWidest) name = name.substr(0, name.rfind(',', kWidest - 3) + 1) + " ..";
    out += fmt::format("{:>{}}  {:>7.4g} s  {:>7.4g} s  {:>7.4g} s  {:>10}  {:>10}  {:>10}\n", name,
                       width, own.compute_seconds, own.exposed_seconds, own.bubble_seconds,
                       human_bytes(own.bytes_sent), human_bytes(own.bytes_received),
                       human_bytes(own.peak_tensor_bytes));
  }
  if (prediction.at_peak) {
    out += fmt::format("model flops utilisation: {:.1f} %, with recomputation {:.1f} %\n",
                       100 * prediction.at_peak->model_seconds / prediction.step_seconds,
                       100 * prediction.at_peak->hardware_seconds / prediction.step_seconds);
  }
  out += lack_of_memory(prediction);
  const auto most =
      std::ranges::max_element(prediction.ranks, {}, &RankPrediction::peak_tensor_bytes);
  if (most != prediction.ranks.end()) {
    out += fmt::format("at the peak of rank {}: {}\n", most - prediction.ranks.begin(),
                       to_string(most->held_at_peak));
    out += memory_line(*most, most - prediction.ranks.begin());
  }
  if (!prediction.unlisted.empty()) {
    out += fmt::format("without rates of their own: {}\n", fmt::join(prediction.unlisted, ", "));
  }
  constexpr size_t kFewRanks = 64;
  for (const std::string& reason : prediction.asymmetries) {
    if (prediction.recorded_ranks > kFewRanks)
      out += fmt::format("ranks differ along {}\n", reason);
  }
  return out;
}

}  // namespace phi::simulation
