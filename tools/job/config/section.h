// Section: reads a map of a job file key by key; every error names file, line and key.
#pragma once

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "phi/common/errors.h"
#include "tools/cli/command_line.h"
#include "tools/job/config/config.h"
#include "tools/job/config/keys/job_keys.h"

namespace phi::job {

/// Upper limit on sizes: products of two of them are exact in int64.
inline constexpr int64_t kMaxExtent = int64_t{1} << 24;

/// Parses "64KiB", "256MiB", "1.5GB", "1000", "0"; nothing for other texts and for fractions of a
/// byte.
std::optional<int64_t> parse_bytes(const std::string& text);

inline std::string quoted_list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

inline std::string text_of(const YAML::Node& node) {
  if (node.IsScalar()) return "'" + node.Scalar() + "'";
  if (node.IsSequence()) return "a list";
  return node.IsMap() ? "a map" : "nothing";
}

// A YAML map with the keys that job_keys() lists for it. The constructor refuses unknown and
// repeated keys. Each read checks type and range, and adds keys that differ from their defaults to
// config->unread.
class Section {
 public:
  Section(JobConfig* config, std::string prefix, const YAML::Node& node)
      : config_(config), prefix_(std::move(prefix)), node_(node) {
    if (node.IsNull()) return;
    const std::vector<std::string> keys = key_names(prefix_);
    if (!node.IsMap()) {
      const std::string what = prefix_.empty() ? "a job file" : "'" + name_of_section() + "'";
      throw errors::InvalidArgument("{}:{}: {} must be a map of {}, got {}.", config->file,
                                    node.Mark().line + 1, what, quoted_list(keys), text_of(node));
    }
    for (const auto& entry : node) check_key(entry.first, keys);
  }

  YAML::Node child(const std::string& key) const {
    return node_.IsMap() && node_[key] ? node_[key] : YAML::Node();
  }

  void read(const std::string& key, int64_t min, int64_t max, int64_t* out) const {
    if (const auto node = find(key)) set(key, integer(key, *node, min, max), out);
  }

  void read(const std::string& key, bool* out) const {
    const auto node = find(key);
    if (!node) return;
    bool value = false;
    if (!plain(*node) || !YAML::convert<bool>::decode(*node, value)) {
      throw wrong(key, "true or false", *node);
    }
    set(key, value, out);
  }

  void read(const std::string& key, double min, double max, double* out) const {
    if (const auto node = find(key)) set(key, number(key, *node, min, max), out);
  }

  void read(const std::string& key, double min, double max, std::vector<double>* out) const {
    const auto node = find(key);
    if (!node) return;
    if (!node->IsSequence()) throw wrong(key, "a list of numbers, e.g. [0.9, 0.95]", *node);
    std::vector<double> values;
    for (const auto& item : *node) values.push_back(number(key, item, min, max));
    set(key, std::move(values), out);
  }

  /// "256MiB", "1.5GB", or a number of bytes.
  void read_bytes(const std::string& key, int64_t* out) const {
    const auto node = find(key);
    if (!node) return;
    const std::optional<int64_t> bytes =
        node->IsScalar() ? parse_bytes(node->Scalar()) : std::nullopt;
    if (!bytes) throw wrong(key, "a size, e.g. 256MiB, 1GiB or 1000000", *node);
    set(key, *bytes, out);
  }

  void read(const std::string& key, std::string* out) const {
    const auto node = find(key);
    if (!node) return;
    if (!node->IsScalar()) throw wrong(key, "a text", *node);
    set(key, node->Scalar(), out);
  }

  void read_fraction(const std::string& key, double* out) const {
    const auto node = find(key);
    if (!node) return;
    double value = 0;
    const bool number = plain(*node) && YAML::convert<double>::decode(*node, value);
    if (!number || !(value >= 0 && value < 1)) {
      throw wrong(key, "a number that is 0 or more and less than 1", *node);
    }
    set(key, value, out);
  }

  void read_choice(const std::string& key, const std::vector<std::string>& choices,
                   std::string* out) const {
    const auto node = find(key);
    if (!node) return;
    const bool known = node->IsScalar() &&
                       std::find(choices.begin(), choices.end(), node->Scalar()) != choices.end();
    if (!known) {
      const std::string given = node->IsScalar() ? node->Scalar() : "";
      throw config_->wrong({path(key)},
                           fmt::format("must be one of {}; got {}{}", quoted_list(choices),
                                       text_of(*node), ending(cli::did_you_mean(given, choices))));
    }
    set(key, node->Scalar(), out);
  }

  void read(const std::string& key, int64_t min, int64_t max, std::vector<int64_t>* out) const {
    const auto node = find(key);
    if (!node) return;
    if (!node->IsSequence()) throw wrong(key, "a list of integers, e.g. [2, 2]", *node);
    std::vector<int64_t> values;
    for (const auto& item : *node) values.push_back(integer(key, item, min, max));
    set(key, std::move(values), out);
  }

  /// A map of keys to texts.
  void read(const std::string& key, std::map<std::string, std::string>* out) const {
    const auto node = find(key);
    if (!node) return;
    const char* expected = "a map of keys to texts";
    if (!node->IsMap()) throw wrong(key, expected, *node);
    std::map<std::string, std::string> values;
    for (const auto& entry : *node) {
      const YAML::Node& name = entry.first;
      const YAML::Node& value = entry.second;
      if (!name.IsScalar()) throw wrong(key, expected, name);
      if (!value.IsScalar()) throw wrong(key, expected, value);
      if (!values.emplace(name.Scalar(), value.Scalar()).second)
        throw config_->wrong({path(key)}, fmt::format("sets '{}' twice.", name.Scalar()));
    }
    set(key, std::move(values), out);
  }

  void read(const std::string& key, const char* of_what, std::vector<std::string>* out) const {
    const auto node = find(key);
    if (!node) return;
    if (!node->IsSequence()) throw wrong(key, fmt::format("a list of {}", of_what), *node);
    std::vector<std::string> values;
    for (const auto& item : *node) {
      if (!item.IsScalar()) throw wrong(key, fmt::format("a list of {}", of_what), item);
      values.push_back(item.Scalar());
    }
    set(key, std::move(values), out);
  }

 private:
  static std::string ending(const std::string& hint) { return hint.empty() ? "." : hint; }
  std::string path(const std::string& key) const { return prefix_ + key; }
  std::string name_of_section() const { return prefix_.substr(0, prefix_.size() - 1); }
  // A quoted scalar is text even if it looks like a number.
  static bool plain(const YAML::Node& node) { return node.IsScalar() && node.Tag() != "!"; }

  std::optional<YAML::Node> find(const std::string& key) const {
    const YAML::Node node = child(key);
    if (!node.IsDefined() || !config_->lines.contains(path(key))) return std::nullopt;
    return node;
  }

  // *out contains the default.
  template <typename T>
  void set(const std::string& key, T value, T* out) const {
    if (value != *out) config_->unread.insert(path(key));
    *out = std::move(value);
  }

  void check_key(const YAML::Node& key, const std::vector<std::string>& keys) {
    const int line = key.Mark().line + 1;
    const std::string name = key.IsScalar() ? key.Scalar() : text_of(key);
    if (std::find(keys.begin(), keys.end(), name) == keys.end()) {
      const std::string hint = cli::did_you_mean(name, keys);
      throw errors::InvalidArgument(
          "{}:{}: key '{}': there is no such key{}", config_->file, line, path(name),
          hint.empty() ? fmt::format(" ({} are).", quoted_list(keys)) : hint);
    }
    if (!config_->lines.emplace(path(name), line).second) {
      throw errors::InvalidArgument("{}:{}: key '{}': set twice, first in line {}.", config_->file,
                                    line, path(name), config_->lines[path(name)]);
    }
  }

  int64_t integer(const std::string& key, const YAML::Node& node, int64_t min, int64_t max) const {
    int64_t value = 0;
    if (!plain(node) || !YAML::convert<int64_t>::decode(node, value)) {
      throw wrong(key, "an integer", node);
    }
    if (value < min || value > max) {
      throw wrong(key, fmt::format("an integer from {} to {}", min, max), node);
    }
    return value;
  }

  double number(const std::string& key, const YAML::Node& node, double min, double max) const {
    double value = 0;
    if (!plain(node) || !YAML::convert<double>::decode(node, value)) {
      throw wrong(key, "a number", node);
    }
    if (!(value >= min && value <= max)) {
      throw wrong(key, fmt::format("a number from {} to {}", min, max), node);
    }
    return value;
  }

  Error wrong(const std::string& key, std::string_view expected, const YAML::Node& node) const {
    return config_->wrong({path(key)}, fmt::format("must be {}; got {}.", expected, text_of(node)));
  }

  JobConfig* config_;
  std::string prefix_;
  YAML::Node node_;
};

}  // namespace phi::job
