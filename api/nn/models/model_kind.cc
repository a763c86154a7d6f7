// The registry of kinds, and the values of their keys.
#include "api/nn/models/model_kind.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "api/nn/models/library_kinds.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::nn::models {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 24;

ModelKey key_of_sizes(std::string name, ModelValue by_default) {
  return {std::move(name), std::move(by_default), 1.0, static_cast<double>(kMaxSize)};
}

std::vector<std::string> names_of(const std::deque<ModelKind>& kinds) {
  std::vector<std::string> names;
  for (const ModelKind& kind : kinds) names.push_back(kind.name);
  return names;
}

const ModelKey* find_key(const ModelKind& kind, std::string_view name) {
  const auto found = std::ranges::find(kind.keys, name, &ModelKey::name);
  return found == kind.keys.end() ? nullptr : &*found;
}

// The keys that a batch is made from.
std::vector<std::string> required_keys(SampleKind samples) {
  if (samples == SampleKind::kTokens) return {"vocab", "seq_len"};
  return {"channels", "classes"};
}

void check_row(const ModelKind& kind) {
  PHI_CHECK(!kind.name.empty() && kind.make,
            errors::InvalidArgument("the kind of models '{}' must have a name and a function make.",
                                    kind.name));
  std::set<std::string_view> seen = {"kind", "seed"};
  for (const ModelKey& key : kind.keys) {
    PHI_CHECK(
        seen.insert(key.name).second,
        errors::InvalidArgument("the kind of models '{}' has the key '{}' twice, or it is one "
                                "of kind and seed, which every kind has.",
                                kind.name, key.name));
  }
  for (const std::string& name : required_keys(kind.samples)) {
    const ModelKey* key = find_key(kind, name);
    PHI_CHECK(key && std::holds_alternative<int64_t>(key->by_default),
              errors::InvalidArgument("the kind of models '{}' must have a size '{}', which its "
                                      "batches are made from (size_key).",
                                      kind.name, name));
  }
}

class Registry {
 public:
  Registry() { add({gpt_kind(), llama_kind(), resnet_kind(), vit_kind()}); }

  void add(std::vector<ModelKind> more) {
    const std::lock_guard lock(mutex_);
    std::deque<ModelKind> all = kinds_;
    for (const ModelKind& kind : more) {
      check_row(kind);
      PHI_CHECK(std::ranges::find(all, kind.name, &ModelKind::name) == all.end(),
                errors::AlreadyExists("there is a kind of models '{}' already; choose another name "
                                      "(kinds: {}).",
                                      kind.name, fmt::join(names_of(all), ", ")));
      for (const ModelKind& other : all) check_types(kind, other);
      all.push_back(kind);
    }
    // Rows that are there keep their addresses.
    for (ModelKind& kind : more) kinds_.push_back(std::move(kind));
  }

  std::vector<const ModelKind*> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<const ModelKind*> kinds;
    for (const ModelKind& kind : kinds_) kinds.push_back(&kind);
    return kinds;
  }

 private:
  static void check_types(const ModelKind& kind, const ModelKind& other) {
    for (const ModelKey& key : kind.keys) {
      const ModelKey* same = find_key(other, key.name);
      PHI_CHECK(!same || same->by_default.index() == key.by_default.index(),
                errors::InvalidArgument("the key '{}' of the kind of models '{}' has another type "
                                        "than in '{}'; choose another name.",
                                        key.name, kind.name, other.name));
    }
  }

  mutable std::mutex mutex_;
  std::deque<ModelKind> kinds_;
};

Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

}  // namespace

ModelKey size_key(std::string name, int64_t by_default) {
  return key_of_sizes(std::move(name), by_default);
}

ModelKey number_key(std::string name, double by_default, double least, double most) {
  return {std::move(name), by_default, least, most};
}

ModelKey fraction_key(std::string name, double by_default) {
  return {std::move(name), by_default, 0.0, 1.0, /*is_fraction=*/true};
}

ModelKey flag_key(std::string name, bool by_default) { return {std::move(name), by_default}; }

ModelKey text_key(std::string name, std::string by_default) {
  return {std::move(name), std::move(by_default)};
}

ModelKey sizes_key(std::string name, std::vector<int64_t> by_default) {
  return key_of_sizes(std::move(name), std::move(by_default));
}

const ModelValue& ModelValues::at(std::string_view key) const {
  const auto found = values_.find(key);
  PHI_CHECK(found != values_.end(), errors::NotFound("the model has no key '{}'.", key));
  return found->second;
}

template <typename T>
const T& ModelValues::get(std::string_view key) const {
  const T* value = std::get_if<T>(&at(key));
  PHI_CHECK(value, errors::NotFound("the model's key '{}' has another type.", key));
  return *value;
}

template const bool& ModelValues::get(std::string_view) const;
template const int64_t& ModelValues::get(std::string_view) const;
template const double& ModelValues::get(std::string_view) const;
template const std::string& ModelValues::get(std::string_view) const;
template const std::vector<int64_t>& ModelValues::get(std::string_view) const;

ModelValues default_values(const ModelKind& kind) {
  ModelValues values;
  for (const ModelKey& key : kind.keys) {
    values.set(key.name, key.default_from.empty() ? key.by_default : values.at(key.default_from));
  }
  return values;
}

void add_model_kinds(std::vector<ModelKind> kinds) { registry().add(std::move(kinds)); }

std::vector<const ModelKind*> model_kinds() { return registry().all(); }

const ModelKind* find_model_kind(std::string_view name) {
  for (const ModelKind* kind : model_kinds()) {
    if (kind->name == name) return kind;
  }
  return nullptr;
}

const ModelKind& model_kind(std::string_view name) {
  const ModelKind* kind = find_model_kind(name);
  if (kind) return *kind;
  std::vector<std::string> names;
  for (const ModelKind* each : model_kinds()) names.push_back(each->name);
  const std::string hint = did_you_mean(name, names);
  throw errors::NotFound(
      "there is no kind of models '{}'{} Kinds are {}; load_models (`models:` in a job) loads a "
      "library that adds others.",
      name, hint.empty() ? "." : hint, fmt::join(names, ", "));
}

}  // namespace phi::nn::models
