// Gathers, prints and writes reports.
#include "tools/job/output/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "api/explain/all_ranks.h"
#include "phi/common/process/resident_memory.h"
#include "tools/job/output/atomic_file.h"

namespace phi::job {
namespace {

static_assert(std::is_trivially_copyable_v<RankReport> && sizeof(RankReport) % 8 == 0);
constexpr int64_t kWords = sizeof(RankReport) / 8;

// Messages to other ranks, by the collective to which they belong.
nlohmann::ordered_json traffic_json(const RankReport& rank) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (size_t i = 0; i < rank.traffic.size(); ++i) {
    const Traffic& traffic = rank.traffic[i];
    const auto op = static_cast<distributed::CommOp>(i);
    const bool between_meshes = op == distributed::CommOp::kExchange;
    if (traffic.messages == 0) continue;
    json[between_meshes ? "send_recv" : std::string(distributed::name_of(op))] = {
        {"messages", traffic.messages}, {"bytes", traffic.bytes}};
  }
  return json;
}

// {"host_to_device": {"count", "bytes"}, ..} for pairs of tiers with transfers.
nlohmann::ordered_json transfers_json(const TransferStats& transfers) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (int from = 0; from < kNumTiers; ++from) {
    for (int to = 0; to < kNumTiers; ++to) {
      const auto [a, b] = std::pair(static_cast<Tier>(from), static_cast<Tier>(to));
      const TransferCount& moved = transfers.of(a, b);
      if (moved.count == 0) continue;
      json[fmt::format("{}_to_{}", name_of(a), name_of(b))] = {{"count", moved.count},
                                                               {"bytes", moved.bytes}};
    }
  }
  return json;
}

nlohmann::ordered_json swapping_json(const SwapReport& swapping) {
  return {{"device_limit_bytes", swapping.device_limit_bytes},
          {"host_limit_bytes", swapping.host_limit_bytes},
          {"host_peak_bytes", swapping.host_peak_bytes},
          {"disk_peak_bytes", swapping.disk_peak_bytes},
          {"transfer_seconds", swapping.transfer_seconds},
          {"wait_seconds", swapping.wait_seconds}};
}

nlohmann::ordered_json rank_json(const RankReport& rank, bool dry_run) {
  nlohmann::ordered_json json = {{"rank", rank.rank},
                                 {"stage", rank.stage},
                                 {"ops_launched", rank.ops_launched},
                                 {"ops_clipped", rank.ops_clipped},
                                 {"reshard_steps", rank.reshard_steps},
                                 {"bytes_sent", rank.bytes_sent},
                                 {"bytes_received", rank.bytes_received},
                                 {"peak_tensor_bytes", rank.peak_tensor_bytes},
                                 {"reserved_bytes", rank.reserved_bytes},
                                 {"process_bytes", rank.process_bytes},
                                 {"parameter_bytes", rank.parameter_bytes},
                                 {"gradient_bytes", rank.gradient_bytes},
                                 {"optimizer_bytes", rank.optimizer_bytes},
                                 {"parameter_peak_bytes", rank.parameter_peak_bytes},
                                 {"collectives", traffic_json(rank)},
                                 {"transfers", transfers_json(rank.transfers)}};
  if (rank.checkpoint_bytes_read > 0) json["checkpoint_bytes_read"] = rank.checkpoint_bytes_read;
  if (dry_run) json["planned_peak_bytes"] = rank.planned_peak_bytes;
  if (rank.program_steps > 0) {
    json["program"] = {{"steps", rank.program_steps}, {"arena_bytes", rank.program_arena_bytes}};
  }
  if (rank.swapping.device_limit_bytes > 0) json["swapping"] = swapping_json(rank.swapping);
  return json;
}

nlohmann::ordered_json data_json(const data::DataSummary& data) {
  if (data.kind == data::DataKind::kImages) {
    return {{"kind", name_of(data.kind)},
            {"images", data.num_images},
            {"classes", data.num_classes},
            {"files_left_out", data.files_left_out}};
  }
  nlohmann::ordered_json json = {
      {"kind", name_of(data.kind)}, {"dtype", name_of(data.type)}, {"tokens", data.num_tokens}};
  if (data.documents == data::Documents::kJoined) return json;
  json["documents"] = data.num_documents;
  json["documents_left_out"] = data.documents_left_out;
  return json;
}

nlohmann::ordered_json checkpoints_json(const training::CheckpointerStats& stats) {
  return {{"saves", stats.saves},
          {"failures", stats.failures},
          {"rollbacks", stats.rollbacks},
          {"paused_seconds", stats.paused_seconds}};
}

// The median of the measured steps; 0 if there are none.
double median_seconds(const JobReport& report) {
  if (report.step_seconds.empty()) return 0;
  std::vector<double> seconds = report.step_seconds;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

// ", measured 0.5 s (median of 3 steps)"; empty if there were no steps.
std::string measured_text(const JobReport& report) {
  const size_t steps = report.step_seconds.size();
  if (steps == 0) return "";
  return fmt::format(", measured {:.4g} s (median of {} step{})", median_seconds(report), steps,
                     steps == 1 ? "" : "s");
}

// The predicted time of a step beside the median of those measured, and their utilisations.
std::string predicted_lines(const JobReport& report) {
  const simulation::Prediction& predicted = *report.predicted;
  const std::string out =
      fmt::format("predicted {:.4g} s per step{}\n", predicted.step_seconds, measured_text(report));
  if (report.step_seconds.empty() || !predicted.at_peak) return out;
  const double measured = median_seconds(report);
  const auto [model, hardware] = *predicted.at_peak;
  return out + fmt::format(
                   "model flops utilisation: predicted {:.1f} %, measured {:.1f} %; with "
                   "recomputation {:.1f} %, {:.1f} %\n",
                   100 * model / predicted.step_seconds, 100 * model / measured,
                   100 * hardware / predicted.step_seconds, 100 * hardware / measured);
}

// The step of the key `plan`; its peak beside that of the fullest rank.
std::string plan_line(const JobReport& report) {
  const PlannedStep& planned = *report.planned;
  const auto fullest = std::ranges::max_element(report.ranks, {}, &RankReport::peak_tensor_bytes);
  return fmt::format("planned on {}: {:.4g} s per step{}; peak {}, measured {}\n", planned.machine,
                     planned.seconds, measured_text(report), human_bytes(planned.peak_bytes),
                     human_bytes(fullest->peak_tensor_bytes));
}

std::string planned_line(const RankReport& rank) {
  return fmt::format(
      "a real run allocates {} of parameters, {} of gradients, {} of optimizer states; {} at "
      "most\n",
      human_bytes(rank.parameter_bytes), human_bytes(rank.gradient_bytes),
      human_bytes(rank.optimizer_bytes), human_bytes(rank.planned_peak_bytes));
}

}  // namespace

RankReport this_rank(int64_t stage) {
  RankContext& context = RankContext::current();
  const Counters& counters = context.counters();
  RankReport report;
  report.rank = context.rank();
  report.stage = stage;
  report.ops_launched = counters.ops_launched;
  report.ops_clipped = counters.ops_clipped;
  report.reshard_steps = counters.reshard_steps;
  report.bytes_sent = counters.bytes_sent;
  report.bytes_received = counters.bytes_received;
  report.peak_tensor_bytes = memory_stats(Tier::kDevice).peak;
  report.reserved_bytes = memory_stats(context.place()).peak_reserved;
  report.process_bytes = resident_memory().most;
  report.planned_peak_bytes = context.memory()->planned().peak;
  report.traffic = counters.traffic;
  report.transfers = context.transfers();
  return report;
}

std::vector<MemoryHolders> gather_holders(const MemoryHolders& own) {
  std::vector<MemoryHolders> all;
  for (const std::string& text : gathered_texts(simulation::to_json(own).dump())) {
    MemoryHolders& holders = all.emplace_back();
    const auto json = nlohmann::ordered_json::parse(text);
    for (const auto& [name, bytes] : json.items()) {
      holders.push_back({name, bytes.get<int64_t>()});
    }
  }
  return all;
}

std::vector<RankReport> gather_ranks(distributed::World& world, const RankReport& own) {
  std::vector<RankReport> all(static_cast<size_t>(world.size()));
  world.everyone().all_gather(&own, all.data(), kWords, DataType::INT64);
  return all;
}

std::string to_json(const JobReport& report) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (size_t i = 0; i < report.ranks.size(); ++i) {
    ranks.push_back(rank_json(report.ranks[i], report.dry_run));
    if (i >= report.held_at_peak.size()) continue;
    ranks.back()["held_at_peak"] = simulation::to_json(report.held_at_peak[i]);
  }
  nlohmann::ordered_json json = {
      {"world_size", report.world_size},
      {"mode", report.mode},
      {"losses", report.losses},
      {"tokens_per_s", report.tokens_per_s},
      {"step_seconds", report.step_seconds},
      {"ranks", std::move(ranks)},
      {"job", report.job},
      {"mesh", report.mesh},
      {"dtype", report.dtype},
      {"parameters", report.num_parameters},
      {"text_bytes", report.data.num_bytes},
      {"text_fingerprint", fmt::format("{:016x}", report.data_fingerprint)},
      {"seconds", report.seconds}};
  if (!report.data.is_plain_text()) json["data"] = data_json(report.data);
  if (report.dry_run) json["dry_run"] = true;
  if (!report.resumed_from.empty()) {
    json["resumed_from"] = report.resumed_from;
    json["first_step"] = report.first_step;
  }
  if (report.checkpoints.saves + report.checkpoints.failures > 0) {
    json["checkpoints"] = checkpoints_json(report.checkpoints);
  }
  if (report.steps_left_out > 0) json["steps_left_out"] = report.steps_left_out;
  if (report.stopped_by != 0) json["stopped_by_signal"] = report.stopped_by;
  if (report.predicted) {
    json.update(simulation::utilisation_json(report.predicted->at_peak, median_seconds(report)));
    json["predicted"] = simulation::to_json(*report.predicted);
  }
  if (report.planned) {
    json["planned"] = {{"machine", report.planned->machine},
                       {"step_seconds", report.planned->seconds},
                       {"peak_tensor_bytes", report.planned->peak_bytes}};
  }
  json["placements"] = to_json(report.placements);
  if (report.mode == "generate") json["text"] = report.text;
  // JSON must be UTF-8, but generated bytes may be invalid.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void write_report(const JobReport& report, const std::string& path) {
  AtomicFile file(path, "report");
  file.write(to_json(report));
  file.finish();
}

std::string table(const JobReport& report) {
  std::string out =
      fmt::format("{:>4}  {:>5}  {:>10}  {:>10}  {:>8}  {:>10}  {:>10}  {:>10}\n", "rank", "stage",
                  "launched", "clipped", "reshards", "sent", "received", "peak");
  for (const RankReport& rank : report.ranks) {
    out += fmt::format("{:>4}  {:>5}  {:>10}  {:>10}  {:>8}  {:>10}  {:>10}  {:>10}\n", rank.rank,
                       rank.stage, with_separators(rank.ops_launched),
                       with_separators(rank.ops_clipped), with_separators(rank.reshard_steps),
                       human_bytes(rank.bytes_sent), human_bytes(rank.bytes_received),
                       human_bytes(rank.peak_tensor_bytes));
  }
  if (report.dry_run) out += planned_line(report.ranks.front());
  if (report.dry_run && !report.held_at_peak.empty()) {
    out += fmt::format("at the peak: {}\n", simulation::to_string(report.held_at_peak.front()));
  }
  if (report.predicted) out += predicted_lines(report);
  if (report.planned && !report.dry_run) out += plan_line(report);
  return out;
}

}  // namespace phi::job
