// Reads and writes machine files.
#include "distributed/simulator/machine_yaml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"
#include "phi/yaml/yaml_map.h"
#include "phi/yaml/yaml_text.h"

namespace phi::distributed::simulator {
namespace {

using yaml::YamlMap;

enum class Range : uint8_t { kPositive, kNotNegative };

template <typename T>
T number(const YamlMap& map, const YAML::Node& node, std::string_view what, Range range) {
  T value{};
  const bool is_number = node.IsScalar() && YAML::convert<T>::decode(node, value);
  const bool fits = is_number && std::isfinite(static_cast<double>(value)) &&
                    (range == Range::kPositive ? value > 0 : value >= 0);
  if (!fits) {
    map.fail(node, fmt::format("{} is {}; expected {}{}.", what,
                               node.IsScalar() ? node.Scalar() : "no number",
                               std::is_integral_v<T> ? "an integer" : "a number",
                               range == Range::kPositive ? " above 0" : ", 0 or more"));
  }
  return value;
}

template <typename T>
T number_or(YamlMap& map, const char* key, T otherwise) {
  const YAML::Node node = map.get(key);
  return node ? number<T>(map, node, key, Range::kNotNegative) : otherwise;
}

// A number up to 1.
double part_or(YamlMap& map, const char* key, Range range, double otherwise) {
  const YAML::Node node = map.get(key);
  if (!node) return otherwise;
  const auto part = number<double>(map, node, key, range);
  if (part > 1) map.fail(node, fmt::format("{} is {}; expected at most 1.", key, part));
  return part;
}

std::string word(const YamlMap& map, const YAML::Node& node, std::string_view what) {
  if (!node.IsScalar()) map.fail(node, fmt::format("{} must be a name.", what));
  return node.Scalar();
}

// The value of `key`, one of `known`; the first if the key is missing.
std::string choice(YamlMap& map, const char* key, const std::vector<std::string>& known) {
  const YAML::Node node = map.get(key);
  if (!node) return known.front();
  std::string value = word(map, node, key);
  if (std::ranges::find(known, value) == known.end()) {
    map.fail(node, fmt::format("{} is '{}'; expected {}.", key, value, fmt::join(known, " or ")));
  }
  return value;
}

LinkLevel read_link(const std::string& file, const YAML::Node& node) {
  YamlMap map(file, node);
  LinkLevel level;
  level.line = node.Mark().line + 1;
  level.name = word(map, map.require("name"), "name");
  level.size = number_or<int64_t>(map, "size", 0);
  level.latency_us =
      number<double>(map, map.require("latency_us"), "latency_us", Range::kNotNegative);
  level.GBps = number<double>(map, map.require("GBps"), "GBps", Range::kPositive);
  if (const YAML::Node shared_by = map.get("shared_by"))
    level.shared_by = number<int64_t>(map, shared_by, "shared_by", Range::kPositive);
  map.check_all_read();
  return level;
}

std::vector<LinkLevel> read_links(const std::string& file, const YamlMap& machine,
                                  const YAML::Node& list) {
  std::vector<LinkLevel> links;
  if (!list) return links;
  if (!list.IsSequence()) machine.fail(list, "links must be a list of levels.");
  for (const YAML::Node& node : list) {
    const LinkLevel level = read_link(file, node);
    const int64_t inner = links.empty() ? 1 : links.back().size;
    const bool follows = inner > 0 && (level.size == 0 || level.size % inner == 0);
    if (!follows) {
      machine.fail(node, fmt::format("size of level '{}' is {}; expected a multiple of that of the "
                                     "level before it, {}. Only the last level may leave it out.",
                                     level.name, level.size, inner));
    }
    links.push_back(level);
  }
  return links;
}

// The names of a point's two numbers, for errors.
struct PointNames {
  const char* first;
  const char* second;
};

// A list of pairs of positive numbers, the first of which increases.
template <typename Point>
std::vector<Point> read_points(YamlMap& map, const PointNames& names) {
  const YAML::Node list = map.require("points");
  if (!list.IsSequence() || list.size() == 0) map.fail(list, "points must be a list of pairs.");
  std::vector<Point> points;
  double last = 0;
  for (const YAML::Node& pair : list) {
    if (!pair.IsSequence() || pair.size() != 2) {
      map.fail(pair, fmt::format("a point must be a pair [{}, {}].", names.first, names.second));
    }
    const auto positive = [&](int i, const char* name) {
      return number<double>(map, pair[i], fmt::format("the {} of a point", name), Range::kPositive);
    };
    const double first = positive(0, names.first);
    points.push_back({first, positive(1, names.second)});
    if (first <= last) {
      map.fail(pair, fmt::format("points must be in the order of increasing {}.", names.first));
    }
    last = first;
  }
  return points;
}

// Triples [flops, bytes, seconds], in any order.
std::vector<SizeTime> read_sizes(YamlMap& map) {
  std::vector<SizeTime> sizes;
  const YAML::Node list = map.get("sizes");
  if (!list) return sizes;
  constexpr const char* kExpected = "[flops, bytes, seconds]";
  if (!list.IsSequence()) map.fail(list, fmt::format("sizes must be a list of {}.", kExpected));
  for (const YAML::Node& node : list) {
    if (!node.IsSequence() || node.size() != 3)
      map.fail(node, fmt::format("a size must be {}.", kExpected));
    sizes.push_back({number<double>(map, node[0], "the flops of a size", Range::kNotNegative),
                     number<double>(map, node[1], "the bytes of a size", Range::kPositive),
                     number<double>(map, node[2], "the seconds of a size", Range::kPositive)});
  }
  const auto same = [](const SizeTime& a, const SizeTime& b) {
    return a.flops == b.flops && a.bytes == b.bytes;
  };
  std::ranges::sort(sizes, [](const SizeTime& a, const SizeTime& b) {
    return std::pair(a.flops, a.bytes) < std::pair(b.flops, b.bytes);
  });
  const auto twice = std::ranges::adjacent_find(sizes, same);
  if (twice != sizes.end()) {
    map.fail(list, fmt::format("the size of {} flops and {} bytes is set twice.", twice->flops,
                               twice->bytes));
  }
  return sizes;
}

OpFamily read_family(const std::string& file, const std::string& name, const YAML::Node& node) {
  YamlMap map(file, node);
  OpFamily family;
  family.name = name;
  const YAML::Node ops = map.get("ops");
  if (ops && !ops.IsSequence()) map.fail(ops, "ops must be a list of operators.");
  for (const YAML::Node& op : ops) family.ops.push_back(word(map, op, "an operator"));
  family.by =
      choice(map, "by", {"bytes", "flops"}) == "flops" ? WorkUnit::kFlops : WorkUnit::kBytes;
  family.points = read_points<RatePoint>(map, {"work", "rate"});
  family.sizes = read_sizes(map);
  map.check_all_read();
  return family;
}

// Whether a group of this many ranks can have this level as its outermost one.
void check_fits(const YamlMap& map, const CollectivePoints& points,
                const std::vector<LinkLevel>& links) {
  const auto level = std::ranges::find(links, points.level, &LinkLevel::name);
  if (level == links.end()) {
    std::vector<std::string> names;
    names.reserve(links.size());
    for (const LinkLevel& each : links) names.push_back(each.name);
    map.fail(map.node(), fmt::format("level is '{}', which is not in links{}", points.level,
                                     names.empty() ? "; they have none."
                                                   : fmt::format(": {}.", fmt::join(names, ", "))));
  }
  if (points.ranks < 2 || (level->size > 0 && points.ranks > level->size)) {
    map.fail(map.node(),
             fmt::format("ranks is {}; expected 2 or more{}.", points.ranks,
                         level->size > 0 ? fmt::format(", and at most the {} ranks of a unit of "
                                                       "level '{}'",
                                                       level->size, level->name)
                                         : ""));
  }
}

CollectivePoints read_collective_points(const std::string& file, const YAML::Node& node,
                                        const MachineModel& machine) {
  YamlMap map(file, node);
  map.require("op");
  CollectivePoints out;
  out.op = choice(map, "op", {"all_reduce", "all_gather", "reduce_scatter", "broadcast"});
  out.ranks = number<int64_t>(map, map.require("ranks"), "ranks", Range::kNotNegative);
  out.level = word(map, map.require("level"), "level");
  out.points = read_points<TimePoint>(map, {"bytes", "seconds"});
  map.check_all_read();
  check_fits(map, out, machine.links);
  if (machine.points_of(out.op, out.ranks, out.level)) {
    map.fail(node, fmt::format("the points of {} of {} ranks in level '{}' are set twice.", out.op,
                               out.ranks, out.level));
  }
  return out;
}

void read_all_collective_points(const YamlMap& map, const YAML::Node& list, MachineModel* machine) {
  if (!list) return;
  if (!list.IsSequence()) map.fail(list, "collective_points must be a list of maps.");
  for (const YAML::Node& node : list) {
    machine->collective_points.push_back(read_collective_points(machine->file, node, *machine));
  }
}

std::vector<OpFamily> read_families(const std::string& file, const YAML::Node& node) {
  YamlMap map(file, node);
  std::vector<OpFamily> families;
  for (const char* required : {kMatmulFamily, kBytesFamily}) map.require(required);
  for (const auto& entry : node) {
    families.push_back(read_family(file, entry.first.Scalar(), entry.second));
  }
  return families;
}

DataType read_dtype(const YamlMap& map, const YAML::Node& key) {
  try {
    return parse_dtype(key.Scalar());
  } catch (const Error& error) {
    map.fail(key, error.what());
  }
}

template <typename Point>
std::string text_of_points(const std::vector<Point>& points) {
  std::vector<std::string> out;
  out.reserve(points.size());
  for (const auto& [first, second] : points) out.push_back(fmt::format("[{}, {}]", first, second));
  return fmt::format("[{}]", fmt::join(out, ", "));
}

std::string text_of(const OpFamily& family) {
  std::string out =
      fmt::format("    {}:\n      ops: [{}]\n      by: {}\n      points: {}\n", family.name,
                  fmt::join(family.ops, ", "), family.by == WorkUnit::kFlops ? "flops" : "bytes",
                  text_of_points(family.points));
  if (!family.sizes.empty()) out += "      sizes:\n";
  for (const SizeTime& size : family.sizes)
    out += fmt::format("        - [{}, {}, {}]\n", size.flops, size.bytes, size.seconds);
  return out;
}

std::string text_of(const CollectivePoints& points) {
  return fmt::format("  - {{op: {}, ranks: {}, level: {}, points: {}}}\n", points.op, points.ranks,
                     points.level, text_of_points(points.points));
}

std::string text_of(const LinkLevel& level) {
  const std::string size = level.size > 0 ? fmt::format("size: {}, ", level.size) : "";
  const std::string shared =
      level.shared_by > 1 ? fmt::format(", shared_by: {}", level.shared_by) : "";
  return fmt::format("  - {{name: {}, {}latency_us: {}, GBps: {}{}}}\n", level.name, size,
                     level.latency_us, level.GBps, shared);
}

void read_memory(YamlMap& map, MachineModel* machine) {
  machine->memory_GiB = number_or<double>(map, "memory_GiB", 0);
  machine->reserved_GiB = number_or<double>(map, "reserved_GiB", 0);
  machine->pool_share = number_or<double>(map, "pool_share", 0);
  machine->scratch_MiB = number_or<double>(map, "scratch_MiB", 0);
  machine->process_MiB = number_or<double>(map, "process_MiB", 0);
  machine->memory_GBps = number_or<double>(map, "memory_GBps", 0);
  if (machine->reserved_GiB > 0 && machine->reserved_GiB >= machine->memory_GiB) {
    map.fail(map.get("reserved_GiB"),
             fmt::format("reserved_GiB is {}; expected less than memory_GiB, {}.",
                         machine->reserved_GiB, machine->memory_GiB));
  }
  const auto belongs_to = [&](const char* key, double value, const char* device) {
    if (value > 0 && machine->device != device)
      map.fail(map.get(key), fmt::format("{} belongs to device: {}. Leave it out.", key, device));
  };
  belongs_to("pool_share", machine->pool_share, "gpu");
  belongs_to("process_MiB", machine->process_MiB, "cpu");
}

void read_peaks(const std::string& file, const YAML::Node& node, MachineModel* machine) {
  if (!node) return;
  YamlMap map(file, node);
  for (const auto& entry : node) {
    machine->peak_TFLOPS[read_dtype(map, entry.first)] =
        number<double>(map, entry.second, "a peak", Range::kPositive);
  }
}

}  // namespace

MachineModel read_machine(const std::string& path) {
  return parse_machine(yaml::read_text(path, "machine file"), path);
}

MachineModel parse_machine(const std::string& text, const std::string& file) {
  const YAML::Node root = yaml::load(text, file);
  YamlMap map(file, root);
  MachineModel machine;
  machine.file = file;
  machine.device = choice(map, "device", {"cpu", "gpu"});
  machine.collectives = choice(map, "collectives", {"direct", "nccl"}) == "nccl"
                            ? Collectives::kNccl
                            : Collectives::kDirect;
  read_memory(map, &machine);
  read_peaks(file, map.get("peak_TFLOPS"), &machine);
  machine.cores = number_or<int64_t>(map, "cores", 0);
  machine.launch_overhead_us = number_or<double>(map, "launch_overhead_us", 0);
  machine.issue_us = number_or<double>(map, "issue_us", 0);
  machine.call_overhead_us = number_or<double>(map, "call_overhead_us", 0);
  machine.reduce_GBps = number_or<double>(map, "reduce_GBps", 0);
  machine.receiving_rate = part_or(map, "receiving_rate", Range::kNotNegative, 1);
  machine.computing_rate = part_or(map, "computing_rate", Range::kPositive, 1);
  machine.prediction_error =
      part_or(map, "prediction_error", Range::kNotNegative, kDefaultPredictionError);
  if (machine.collectives == Collectives::kNccl && machine.reduce_GBps > 0) {
    map.fail(map.get("reduce_GBps"),
             "reduce_GBps belongs to collectives: direct; NCCL combines bytes while they arrive. "
             "Leave it out.");
  }
  machine.links = read_links(file, map, map.get("links"));
  read_all_collective_points(map, map.get("collective_points"), &machine);
  YamlMap families(file, map.require("families"));
  for (const auto& entry : families.node()) {
    machine.families[read_dtype(families, entry.first)] = read_families(file, entry.second);
  }
  map.check_all_read();
  return machine;
}

std::string to_yaml(const MachineModel& machine) {
  std::string out = fmt::format(
      "# Keys and units: docs/predict.md\ndevice: {}\ncollectives: {}\ncores: {}\n"
      "launch_overhead_us: {}\nissue_us: {}\ncall_overhead_us: {}\nreduce_GBps: {}\n",
      machine.device, machine.collectives == Collectives::kNccl ? "nccl" : "direct", machine.cores,
      machine.launch_overhead_us, machine.issue_us, machine.call_overhead_us, machine.reduce_GBps);
  if (machine.receiving_rate < 1)
    out += fmt::format("receiving_rate: {}\n", machine.receiving_rate);
  if (machine.computing_rate < 1)
    out += fmt::format("computing_rate: {}\n", machine.computing_rate);
  if (machine.prediction_error != kDefaultPredictionError)
    out += fmt::format("prediction_error: {}\n", machine.prediction_error);
  if (machine.memory_GiB > 0) out += fmt::format("memory_GiB: {}\n", machine.memory_GiB);
  if (machine.reserved_GiB > 0) out += fmt::format("reserved_GiB: {}\n", machine.reserved_GiB);
  if (machine.pool_share > 0) out += fmt::format("pool_share: {}\n", machine.pool_share);
  if (machine.scratch_MiB > 0) out += fmt::format("scratch_MiB: {}\n", machine.scratch_MiB);
  if (machine.process_MiB > 0) out += fmt::format("process_MiB: {}\n", machine.process_MiB);
  if (machine.memory_GBps > 0) out += fmt::format("memory_GBps: {}\n", machine.memory_GBps);
  if (!machine.peak_TFLOPS.empty()) out += "peak_TFLOPS:\n";
  for (const auto& [dtype, peak] : machine.peak_TFLOPS)
    out += fmt::format("  {}: {}\n", name_of(dtype), peak);
  if (!machine.links.empty()) out += "links:\n";
  for (const LinkLevel& level : machine.links) out += text_of(level);
  if (!machine.collective_points.empty()) out += "collective_points:\n";
  for (const CollectivePoints& points : machine.collective_points) out += text_of(points);
  out += "families:\n";
  for (const auto& [dtype, families] : machine.families) {
    out += fmt::format("  {}:\n", name_of(dtype));
    for (const OpFamily& family : families) out += text_of(family);
  }
  return out;
}

}  // namespace phi::distributed::simulator
