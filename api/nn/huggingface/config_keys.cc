// Reading the keys of a config.json.
#include "api/nn/huggingface/config_keys.h"

#include <algorithm>
#include <utility>

#include "phi/common/errors.h"

namespace phi::nn::huggingface {

ConfigKeys::ConfigKeys(const std::string& path, std::string_view text)
    : file_(path, text), object_(file_.object(file_.root(), "the config")) {}

ConfigKeys::ConfigKeys(const distributed::checkpoint::JsonFile& file, const Json& object,
                       std::string prefix)
    : file_(file), object_(object), prefix_(std::move(prefix)) {}

bool ConfigKeys::has(const std::string& key) const {
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null();
}

bool ConfigKeys::is_null(const std::string& key) const {
  return object_.contains(key) && object_.at(key).is_null();
}

const ConfigKeys::Json* ConfigKeys::find(const std::string& key) {
  asked_.insert(key);
  return has(key) ? &object_.at(key) : nullptr;
}

const ConfigKeys::Json& ConfigKeys::member(const std::string& key) {
  const Json* found = find(key);
  PHI_CHECK(found, errors::InvalidArgument("'{}': there is no {}.", path(), what(key)));
  return *found;
}

int64_t ConfigKeys::size(const std::string& key) { return file_.size(member(key), what(key)); }

double ConfigKeys::number(const std::string& key) { return file_.number(member(key), what(key)); }

std::string ConfigKeys::text(const std::string& key) {
  return file_.string(member(key), what(key));
}

int64_t ConfigKeys::size(const std::string& key, int64_t otherwise) {
  return find(key) ? size(key) : otherwise;
}

double ConfigKeys::number(const std::string& key, double otherwise) {
  return find(key) ? number(key) : otherwise;
}

bool ConfigKeys::flag(const std::string& key, bool otherwise) {
  const Json* found = find(key);
  return found ? file_.boolean(*found, what(key)) : otherwise;
}

std::string ConfigKeys::text(const std::string& key, const std::string& otherwise) {
  return find(key) ? text(key) : otherwise;
}

std::vector<std::string> ConfigKeys::texts(const std::string& key) {
  std::vector<std::string> texts;
  const Json* found = find(key);
  if (!found) return texts;
  for (const Json& value : file_.array(*found, what(key))) {
    texts.push_back(file_.string(value, what(key)));
  }
  return texts;
}

std::optional<ConfigKeys> ConfigKeys::within(const std::string& key) {
  const Json* found = find(key);
  if (!found) return std::nullopt;
  return ConfigKeys(file_, file_.object(*found, what(key)), prefix_ + key + ".");
}

void ConfigKeys::allow(const std::string& key, const std::vector<Json>& values,
                       std::string_view why) {
  const Json* found = find(key);
  if (found && std::ranges::find(values, *found) == values.end()) refuse(key, why);
}

void ConfigKeys::refuse(const std::string& key, std::string_view why) const {
  throw errors::InvalidArgument("'{}': {} is {}: {} is not supported.", path(), what(key),
                                object_.at(key).dump(), why);
}

std::vector<std::string> ConfigKeys::others(const std::set<std::string_view>& harmless) const {
  std::vector<std::string> others;
  for (const auto& [key, value] : object_.items()) {
    if (!asked_.contains(key) && !harmless.contains(key) && !value.is_null()) {
      others.push_back(key);
    }
  }
  return others;
}

}  // namespace phi::nn::huggingface
