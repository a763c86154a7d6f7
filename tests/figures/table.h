// Reading a table of published figures, and comparing with numbers as they are printed.
#pragma once

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <string>

namespace phi::figures {

/// tests/figures/<name>.yaml.
inline YAML::Node load(const std::string& name) {
  return YAML::LoadFile(fmt::format("{}/tests/figures/{}.yaml", AUTOPHI_SOURCE_DIR, name));
}

/// `value` rounded to as many decimals as `printed` has: equal texts are equal figures.
inline std::string as_printed(double value, const std::string& printed) {
  const size_t point = printed.find('.');
  const size_t decimals = point == std::string::npos ? 0 : printed.size() - point - 1;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace phi::figures
