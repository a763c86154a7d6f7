// Runs case files and prints failures.
#include "tools/spmd/check.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "phi/common/errors.h"
#include "phi/yaml/files_of.h"
#include "phi/yaml/yaml_map.h"
#include "phi/yaml/yaml_text.h"
#include "tools/spmd/case.h"

namespace phi::spmd_tool {
using yaml::YamlMap;

namespace {

// For each (rule, case number), the reason for a known difference.
using Differences = std::map<std::pair<std::string, int>, std::string>;

Differences load_differences(const std::string& path) {
  Differences differences;
  if (path.empty()) return differences;
  const YAML::Node root = yaml::load(yaml::read_text(path, "file of differences"), path);
  for (const auto& node : root) {
    YamlMap entry(path, node);
    for (const char* key : {"rule", "case", "reason"}) {
      if (entry.require(key).IsScalar()) continue;
      entry.fail(node, fmt::format("{} is no text; an entry is {{rule, case, reason}}.", key));
    }
    entry.check_all_read();
    int number = 0;
    PHI_CHECK(
        YAML::convert<int>::decode(node["case"], number),
        errors::InvalidArgument("{}:{}: case is no int.", path, node["case"].Mark().line + 1));
    differences[{node["rule"].Scalar(), number}] = node["reason"].Scalar();
  }
  return differences;
}

struct CaseCount {
  int agree = 0;
  int differ = 0;
  void add(bool agrees) { ++(agrees ? agree : differ); }
  int total() const { return agree + differ; }
};

void print_failure(std::FILE* out, const CaseFile& file, const Case& c, const Reference& reference,
                   const CaseResult& result) {
  fmt::print(out, "FAIL {} case {} ({}:{})\n", file.rule, c.number, file.path, c.line);
  fmt::print(out, "  question  {}{}\n", c.call.direction == Direction::kBackward ? "backward " : "",
             to_text(reference, c.call));
  fmt::print(out, "  expected  {}\n", c.expected ? to_text(*c.expected) : "to be rejected");
  fmt::print(out, "  actual    {}\n", result.actual);
}

// A file with an unknown rule is one failure; other files are still checked.
std::optional<std::vector<CaseFile>> load_known(const std::string& path, std::FILE* out) {
  try {
    return load_cases(path);
  } catch (const UnknownRule& error) {
    fmt::print(out, "FAIL {}\n", error.what());
    return std::nullopt;
  }
}

struct CaseCounts {
  CaseCount must, suspect, uneven, listed;
};

void check_file(const CaseFile& file, const Differences& differences, CaseCounts& counts,
                std::FILE* out) {
  const Reference& reference = find_reference(file.rule);
  for (const Case& c : file.cases) {
    const CaseResult result = run_case(reference, c);
    if (c.suspect) {
      counts.suspect.add(result.agrees);
    } else if (c.uneven) {
      counts.uneven.add(result.agrees);
    } else if (c.differs || differences.contains({file.rule, c.number})) {
      counts.listed.add(result.agrees);
    } else {
      counts.must.add(result.agrees);
      if (!result.agrees) print_failure(out, file, c, reference, result);
    }
  }
}

}  // namespace

int check_cases(const std::vector<std::string>& paths, const std::string& differences_path,
                std::FILE* out) {
  const Differences differences = load_differences(differences_path);
  CaseCounts counts;
  int unknown = 0;
  for (const auto& path : yaml::files_of(paths)) {
    const std::optional<std::vector<CaseFile>> files = load_known(path, out);
    if (!files) {
      ++unknown;
      continue;
    }
    for (const CaseFile& file : *files) check_file(file, differences, counts, out);
  }
  const auto print_count = [&](const char* name, const CaseCount& count) {
    if (count.total() == 0) return;
    fmt::print(out, "{}: {} agree, {} differ\n", name, count.agree, count.differ);
  };
  print_count("suspect", counts.suspect);
  print_count("uneven", counts.uneven);
  print_count("listed differences", counts.listed);
  if (unknown > 0) fmt::print(out, "unknown rules: {}\n", unknown);
  const int aside = counts.suspect.total() + counts.uneven.total() + counts.listed.total();
  fmt::print(out, "{} passed, {} failed{}\n", counts.must.agree, counts.must.differ + unknown,
             aside > 0 ? fmt::format(", {} set aside", aside) : "");
  return counts.must.differ + unknown;
}

}  // namespace phi::spmd_tool
