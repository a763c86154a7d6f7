// ConfigKeys: a config.json, key by key. A key that is missing and one that is null are the same,
// as they are to transformers. Errors of all calls: InvalidArgument naming the file, the key, and
// its value.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/checkpoint/format/json.h"

namespace phi::nn::huggingface {

class ConfigKeys {
 public:
  using Json = distributed::checkpoint::Json;

  ConfigKeys(const std::string& path, std::string_view text);

  const std::string& path() const { return file_.path(); }
  bool has(const std::string& key) const;
  /// Written as null, which is not always the same as missing.
  bool is_null(const std::string& key) const;

  /// Must be there.
  int64_t size(const std::string& key);
  double number(const std::string& key);
  std::string text(const std::string& key);

  int64_t size(const std::string& key, int64_t otherwise);
  double number(const std::string& key, double otherwise);
  bool flag(const std::string& key, bool otherwise);
  std::string text(const std::string& key, const std::string& otherwise);
  /// Texts of a list; none if it is missing.
  std::vector<std::string> texts(const std::string& key);
  /// The keys of an object within.
  std::optional<ConfigKeys> within(const std::string& key);

  /// Refuses the key unless it is missing or has one of these values; `why` says what there is
  /// not: "heads of another size than hidden_size / num_attention_heads".
  void allow(const std::string& key, const std::vector<Json>& values, std::string_view why);
  /// The error of a key with this value.
  [[noreturn]] void refuse(const std::string& key, std::string_view why) const;

  /// Those that nobody asked for, but for `harmless` ones.
  std::vector<std::string> others(const std::set<std::string_view>& harmless) const;

 private:
  ConfigKeys(const distributed::checkpoint::JsonFile& file, const Json& object, std::string prefix);
  const Json* find(const std::string& key);
  const Json& member(const std::string& key);
  std::string what(const std::string& key) const { return "'" + prefix_ + key + "'"; }

  distributed::checkpoint::JsonFile file_;
  Json object_;
  std::string prefix_;  // "rope_parameters."
  std::set<std::string> asked_;
};

}  // namespace phi::nn::huggingface
