// Reads and writes machine files.
#include "distributed/simulator/machine_yaml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

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

std::string word(const YamlMap& map, const YAML::Node& node, std::string_view what) {
  if (!node.IsScalar()) map.fail(node, fmt::format("{} must be a name.", what));
  return node.Scalar();
}

// The value of `key`, one of `known`; the first if the key is missing.
std::string choice(YamlMap& map, const char* key, const std::vector<std::string>& known) {
  const YAML::Node node = map.get(key);
  if (!node) return known.front();
  const std::string value = word(map, node, key);
  if (std::ranges::find(known, value) == known.end()) {
    map.fail(node, fmt::format("{} is '{}'; expected {}.", key, value, fmt::join(known, " or ")));
  }
  return value;
}

LinkLevel read_link(const std::string& file, const YAML::Node& node) {
  YamlMap map(file, node);
  LinkLevel level;
  level.name = word(map, map.require("name"), "name");
  level.size = number_or<int64_t>(map, "size", 0);
  level.latency_us =
      number<double>(map, map.require("latency_us"), "latency_us", Range::kNotNegative);
  level.GBps = number<double>(map, map.require("GBps"), "GBps", Range::kPositive);
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

RatePoint read_point(const YamlMap& map, const YAML::Node& node) {
  if (!node.IsSequence() || node.size() != 2) {
    map.fail(node, "a point must be a pair [work, rate per second].");
  }
  return {number<double>(map, node[0], "the work of a point", Range::kPositive),
          number<double>(map, node[1], "the rate of a point", Range::kPositive)};
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
  const YAML::Node points = map.require("points");
  if (!points.IsSequence() || points.size() == 0)
    map.fail(points, "points must be a list of pairs.");
  for (const YAML::Node& point : points) {
    family.points.push_back(read_point(map, point));
    const size_t n = family.points.size();
    if (n > 1 && family.points[n - 1].work <= family.points[n - 2].work) {
      map.fail(point, "points must be in the order of increasing work.");
    }
  }
  map.check_all_read();
  return family;
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

std::string text_of(const OpFamily& family) {
  std::vector<std::string> points;
  for (const RatePoint& point : family.points) {
    points.push_back(fmt::format("[{}, {}]", point.work, point.per_second));
  }
  return fmt::format("    {}:\n      ops: [{}]\n      by: {}\n      points: [{}]\n", family.name,
                     fmt::join(family.ops, ", "), family.by == WorkUnit::kFlops ? "flops" : "bytes",
                     fmt::join(points, ", "));
}

std::string text_of(const LinkLevel& level) {
  const std::string size = level.size > 0 ? fmt::format("size: {}, ", level.size) : "";
  return fmt::format("  - {{name: {}, {}latency_us: {}, GBps: {}}}\n", level.name, size,
                     level.latency_us, level.GBps);
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
  machine.device = choice(map, "device", {"cpu"});
  choice(map, "collectives", {"direct"});
  machine.cores = number_or<int64_t>(map, "cores", 0);
  machine.launch_overhead_us = number_or<double>(map, "launch_overhead_us", 0);
  machine.reduce_GBps = number_or<double>(map, "reduce_GBps", 0);
  machine.links = read_links(file, map, map.get("links"));
  YamlMap families(file, map.require("families"));
  for (const auto& entry : families.node()) {
    machine.families[read_dtype(families, entry.first)] = read_families(file, entry.second);
  }
  map.check_all_read();
  return machine;
}

std::string to_yaml(const MachineModel& machine) {
  std::string out = fmt::format(
      "# Keys and units: docs/predict.md\ndevice: {}\ncollectives: direct\ncores: {}\n"
      "launch_overhead_us: {}\nreduce_GBps: {}\n",
      machine.device, machine.cores, machine.launch_overhead_us, machine.reduce_GBps);
  if (!machine.links.empty()) out += "links:\n";
  for (const LinkLevel& level : machine.links) out += text_of(level);
  out += "families:\n";
  for (const auto& [dtype, families] : machine.families) {
    out += fmt::format("  {}:\n", name_of(dtype));
    for (const OpFamily& family : families) out += text_of(family);
  }
  return out;
}

}  // namespace phi::distributed::simulator
