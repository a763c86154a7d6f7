// Checks model configs, and converts them to and from JSON.
#include "api/nn/models/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "api/nn/models/config_fields.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::nn::models {
namespace {

using distributed::checkpoint::Json;
using distributed::checkpoint::JsonFile;

// Upper limit on sizes: products of two of them are exact in int64.
constexpr int64_t kMaxExtent = int64_t{1} << 24;

constexpr const char* kGpt = "gpt";
constexpr const char* kLlama = "llama";

std::string path_in(const std::string& folder) {
  return (std::filesystem::path(folder) / kConfigFile).string();
}

template <typename Config>
ModelConfig decode(const JsonFile& file) {
  const Json& root = file.root();
  std::vector<std::string> names = {"kind"};
  Config config;
  for_each_field(config, [&](std::string_view name, auto& value) {
    using Value = std::remove_reference_t<decltype(value)>;
    const std::string& key = names.emplace_back(name);
    const auto found = root.find(key);
    const std::string what = fmt::format("'{}'", name);
    if constexpr (std::is_same_v<Value, int64_t>) {
      value = file.size(file.member(root, key.c_str(), "the config"), what);
    } else if (found == root.end()) {
      return;
    } else if constexpr (std::is_same_v<Value, bool>) {
      value = file.boolean(*found, what);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      value = file.string(*found, what);
    } else {
      value = file.number(*found, what);
    }
  });
  for (const auto& [key, value] : root.items()) {
    PHI_CHECK(std::ranges::find(names, key) != names.end(),
              errors::InvalidArgument("'{}': there is no key '{}'{}", file.path(), key,
                                      did_you_mean(key, names).empty()
                                          ? fmt::format(" (the keys of {} are {}).",
                                                        kind_of(config), fmt::join(names, ", "))
                                          : did_you_mean(key, names)));
  }
  return config;
}

// Collects the errors of a config.
class Check {
 public:
  Check(const std::string& where, const KeyNames& names) : where_(where), names_(names) {}

  template <typename Config>
  void operator()(const Config& config) const {
    for_each_field(config, [&](std::string_view name, const auto& value) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, int64_t>) {
        PHI_CHECK(value >= 1 && value <= kMaxExtent,
                  errors::InvalidArgument("{}: '{}' is {}; it must be from 1 to {}.", where_,
                                          key(name), value, kMaxExtent));
      }
    });
    expect(config.norm_eps >= 0 && config.norm_eps <= 1, "norm_eps", config.norm_eps, "0 to 1");
    expect_divides("heads", config.heads, "d_model", config.d_model);
    check_own(config);
  }

 private:
  std::string_view key(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? name : found->second;
  }

  void check_own(const GptConfig& config) const {
    expect(config.dropout >= 0 && config.dropout < 1, "dropout", config.dropout, "0 to below 1");
  }

  void check_own(const LlamaConfig& config) const {
    expect(config.rope_base >= 1 && config.rope_base <= 1e12, "rope_base", config.rope_base,
           "1 to 1e12");
    expect_divides("kv_heads", config.kv_heads, "heads", config.heads);
    PHI_CHECK(config.head_size() % 2 == 0,
              errors::InvalidArgument("{}: the head size {} ('{}' {} / '{}' {}) is odd; rotary "
                                      "positions rotate pairs of elements.",
                                      where_, config.head_size(), key("d_model"), config.d_model,
                                      key("heads"), config.heads));
  }

  void expect(bool holds, std::string_view name, double value, const char* range) const {
    PHI_CHECK(holds, errors::InvalidArgument("{}: '{}' is {}; it must be from {}.", where_,
                                             key(name), value, range));
  }

  void expect_divides(std::string_view part, int64_t count, std::string_view whole,
                      int64_t size) const {
    PHI_CHECK(size % count == 0,
              errors::InvalidArgument("{}: '{}' {} does not divide '{}' {}.", where_, key(part),
                                      count, key(whole), size));
  }

  const std::string& where_;
  const KeyNames& names_;
};

}  // namespace

std::string_view kind_of(const ModelConfig& config) {
  return std::holds_alternative<GptConfig>(config) ? kGpt : kLlama;
}

std::string to_json(const ModelConfig& config) {
  std::string text = fmt::format("{{\n  \"kind\": \"{}\"", kind_of(config));
  std::visit(
      [&](const auto& model) {
        for_each_field(model, [&](std::string_view name, const auto& value) {
          text += fmt::format(",\n  \"{}\": {}", name, Json(value).dump());
        });
      },
      config);
  return text + "\n}\n";
}

ModelConfig from_json(std::string_view text, const std::string& path) {
  const JsonFile file(path, text);
  const std::string& kind = file.string(file.member(file.root(), "kind", "the config"), "'kind'");
  PHI_CHECK(kind == kGpt || kind == kLlama,
            errors::InvalidArgument("'{}': 'kind' is '{}'; it must be '{}' or '{}'.", path, kind,
                                    kGpt, kLlama));
  const ModelConfig config = kind == kGpt ? decode<GptConfig>(file) : decode<LlamaConfig>(file);
  check(config, fmt::format("'{}'", path));
  return config;
}

void check(const ModelConfig& config, const std::string& where, const KeyNames& names) {
  std::visit(Check(where, names), config);
}

std::string differences(const ModelConfig& wanted, const ModelConfig& found,
                        const std::string& where) {
  if (wanted.index() != found.index()) {
    return fmt::format("\n  the model is a {}; {} is a {}", kind_of(wanted), where, kind_of(found));
  }
  std::map<std::string_view, Json> values;
  const auto keep = [&](std::string_view name, const auto& value) { values[name] = value; };
  std::visit([&](const auto& model) { for_each_field(model, keep); }, found);
  const bool is_llama = kind_of(wanted) == kLlama;
  std::string lines;
  const auto compare = [&](std::string_view name, const auto& value) {
    const Json& own = value;
    const Json& other = values.at(name);
    const bool is_part = name == "seq_len" && is_llama && own < other;
    if (name == "dropout" || own == other || is_part) return;
    lines += fmt::format("\n  '{}' of the model is {}; in {} it is {}", name, own.dump(), where,
                         other.dump());
  };
  std::visit([&](const auto& model) { for_each_field(model, compare); }, wanted);
  return lines;
}

void save_config(const std::string& folder, const ModelConfig& config) {
  distributed::checkpoint::make_folder(folder);
  distributed::checkpoint::write_text(path_in(folder), to_json(config));
}

ModelConfig load_config(const std::string& folder) {
  const std::string path = path_in(folder);
  return from_json(distributed::checkpoint::read_text(path), path);
}

}  // namespace phi::nn::models
