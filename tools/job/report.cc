// Collecting, printing and writing of reports.
#include "tools/job/report.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "phi/common/errors.h"

namespace phi::job {
namespace {

static_assert(std::is_trivially_copyable_v<RankReport> && sizeof(RankReport) % 8 == 0);
constexpr int64_t kWords = sizeof(RankReport) / 8;

nlohmann::ordered_json rank_json(const RankReport& rank) {
  return {{"rank", rank.rank},
          {"stage", rank.stage},
          {"ops_launched", rank.ops_launched},
          {"ops_clipped", rank.ops_clipped},
          {"reshard_steps", rank.reshard_steps},
          {"bytes_sent", rank.bytes_sent},
          {"bytes_received", rank.bytes_received},
          {"peak_tensor_bytes", rank.peak_tensor_bytes},
          {"parameter_bytes", rank.parameter_bytes},
          {"optimizer_bytes", rank.optimizer_bytes},
          {"parameter_peak_bytes", rank.parameter_peak_bytes}};
}

// Writes beside `path` first, so that a reader never sees half a report.
std::string temporary_for(const std::string& path) { return path + ".part"; }

// Three digits that count: 12.6, 126, 1.26 are shown as 12.6, 126, 1.3.
std::string three_digits(double value) {
  return value < 99.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
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
  report.peak_tensor_bytes = context.memory()->stats(DeviceKind::CPU).peak;
  return report;
}

std::vector<RankReport> gather_ranks(distributed::World& world, const RankReport& own) {
  std::vector<RankReport> all(static_cast<size_t>(world.size()));
  world.everyone().all_gather(&own, all.data(), kWords, DataType::INT64);
  return all;
}

std::string to_json(const JobReport& report) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const RankReport& rank : report.ranks) ranks.push_back(rank_json(rank));
  const nlohmann::ordered_json json = {
      {"world_size", report.ranks.size()},
      {"mode", report.mode},
      {"losses", report.losses},
      {"tokens_per_s", report.tokens_per_s},
      {"step_seconds", report.step_seconds},
      {"ranks", std::move(ranks)},
      {"job", report.job},
      {"mesh", report.mesh},
      {"dtype", report.dtype},
      {"parameters", report.num_parameters},
      {"text_bytes", report.text_bytes},
      {"text_fingerprint", fmt::format("{:016x}", report.text_fingerprint)},
      {"seconds", report.seconds}};
  return json.dump(2) + "\n";
}

void write_report(const JobReport& report, const std::string& path) {
  const std::string temporary = temporary_for(path);
  std::ofstream out(temporary, std::ios::binary);
  out << to_json(report);
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(temporary, path, failed);
  PHI_CHECK(out && !failed, errors::Unavailable("cannot write the report '{}': {}.", path,
                                                failed ? failed.message() : std::strerror(errno)));
}

void check_writable(const std::string& path) {
  std::error_code ignored;
  PHI_CHECK(!std::filesystem::is_directory(path, ignored),
            errors::Unavailable("cannot write the report '{}': it is a folder.", path));
  const std::string temporary = temporary_for(path);
  const bool writable = std::ofstream(temporary, std::ios::app).is_open();
  const int reason = errno;
  std::filesystem::remove(temporary, ignored);
  PHI_CHECK(writable,
            errors::Unavailable("cannot write the report '{}': {}.", path, std::strerror(reason)));
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
  return out;
}

std::string with_separators(int64_t value) {
  std::string digits = std::to_string(value);
  const int first = value < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string human_bytes(int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string human_count(int64_t count) {
  constexpr std::array kUnits = {"", "k", "M", "B", "T"};
  auto value = static_cast<double>(count);
  size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  if (unit == 0) return std::to_string(count);
  return three_digits(value) + kUnits[unit];
}

}  // namespace phi::job
