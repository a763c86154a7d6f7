// ConfigKeys: typed access to the keys of a config.json. A missing key and a null key are
// equivalent, as in transformers. All calls throw InvalidArgument naming the file, the key and its
// value.
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
  /// Whether the key is present with the value null.
  bool is_null(const std::string& key) const;

  // These require the key.
  int64_t size(const std::string& key);
  double number(const std::string& key);
  std::string text(const std::string& key);

  int64_t size(const std::string& key, int64_t otherwise);
  double number(const std::string& key, double otherwise);
  bool flag(const std::string& key, bool otherwise);
  std::string text(const std::string& key, const std::string& otherwise);
  /// The strings of a list; empty if the key is missing.
  std::vector<std::string> texts(const std::string& key);
  /// The keys of a nested object.
  std::optional<ConfigKeys> within(const std::string& key);

  /// Throws unless the key is missing or has one of these values. `why` completes the message with
  /// what is unsupported: "a head size other than hidden_size / num_attention_heads".
  void allow(const std::string& key, const std::vector<Json>& values, std::string_view why);
  /// Throws the error for this key and its value.
  [[noreturn]] void refuse(const std::string& key, std::string_view why) const;

  /// The keys that were not read, except `harmless` ones.
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
