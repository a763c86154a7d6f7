// Kinds of models by name: the keys that describe a model of a kind, and how it is constructed.
//
//   const ModelKind& kind = model_kind("resnet");
//   ModelValues values = default_values(kind);
//   values.set("classes", int64_t{5});
//   const auto model = kind.make(values);
//
// A kind is one row, a function that returns a ModelKind. Rows of this library are in
// library_kinds.h; other libraries add theirs with PHI_REGISTER_MODEL (register_model.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/nn/layers/sequential.h"
#include "api/nn/layout/layout.h"
#include "api/nn/loss.h"
#include "api/nn/models/config.h"

namespace phi::nn::models {

/// Value of a key of a model.
using ModelValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;

/// A key of a kind, for example `layers`. Kinds may share a key if it has the same type in all.
struct ModelKey {
  std::string name;
  ModelValue by_default;  // its type is the key's
  // The range of numbers, and of the elements of a list.
  double least = 0.0;
  double most = 0.0;
  bool is_fraction = false;    // `most` itself is not a value
  std::string default_from{};  // an earlier key whose value is the default; empty: by_default
};

/// An integer from 1 to 2^24, so that products of two sizes are exact.
ModelKey size_key(std::string name, int64_t by_default);
ModelKey number_key(std::string name, double by_default, double least, double most);
/// A number from 0 to less than 1.
ModelKey fraction_key(std::string name, double by_default);
ModelKey flag_key(std::string name, bool by_default);
ModelKey text_key(std::string name, std::string by_default);
/// A list of integers from 1 to 2^24.
ModelKey sizes_key(std::string name, std::vector<int64_t> by_default);

/// The values of the keys of a kind. Errors: NotFound for a key that the kind does not have, or
/// that has another type.
class ModelValues {
 public:
  bool has(std::string_view key) const { return values_.contains(key); }
  void set(const std::string& key, ModelValue value) { values_[key] = std::move(value); }

  const ModelValue& at(std::string_view key) const;
  bool flag(std::string_view key) const { return get<bool>(key); }
  int64_t size(std::string_view key) const { return get<int64_t>(key); }
  double number(std::string_view key) const { return get<double>(key); }
  const std::string& text(std::string_view key) const { return get<std::string>(key); }
  const std::vector<int64_t>& sizes(std::string_view key) const {
    return get<std::vector<int64_t>>(key);
  }

  friend bool operator==(const ModelValues&, const ModelValues&) = default;

 private:
  template <typename T>
  const T& get(std::string_view key) const;

  std::map<std::string, ModelValue, std::less<>> values_;
};

/// The tensors of a model's batches.
enum class SampleKind : uint8_t {
  kTokens,  // ids i64[B,S] and the ids that follow, i64[B,S,1]; keys `vocab` and `seq_len`
  kImages,  // f[B,C,H,W] and classes, i64[B,1]; keys `channels` and `classes`; `image_size` if the
            // model takes one size only
};

/// Values that describe no model: the keys at fault and why.
struct KeyFault {
  std::vector<std::string> keys;
  std::string message;
};

/// A row: all that a program needs to train models of a kind.
struct ModelKind {
  std::string name = {};
  SampleKind samples = SampleKind::kTokens;
  std::vector<ModelKey> keys = {};
  /// Constructs a model with deferred parameters.
  std::function<std::unique_ptr<Sequential>(const ModelValues&)> make = {};
  /// Checks what the ranges of the keys cannot.
  std::function<std::optional<KeyFault>(const ModelValues&)> find_fault = {};
  /// The mean loss of outputs and labels.
  std::function<Tensor(const Tensor& output, const Tensor& labels)> loss = cross_entropy;
  /// The key that counts the links "layer0", "layer1", .. of Sequential::repeat, which pipeline
  /// stages share and full recomputation repeats; empty: the model has no such links.
  std::string repeated = {};
  /// Whether the model has placements along tp: those of the library's layers and of `placements`.
  bool splits_over_tp = false;
  /// Keys whose values tp must divide.
  std::vector<std::string> divided_by_tp = {};
  /// Placements in addition to those of transformer_layout().
  Layout placements = {};
  /// The config of a Decoder, which has a format of its own; null for other models.
  std::function<ModelConfig(const ModelValues&)> decoder_config = {};
};

/// The default of each key.
ModelValues default_values(const ModelKind& kind);

/// Adds kinds, all or none. Errors: AlreadyExists for a name that is taken; InvalidArgument for a
/// row without a name or `make`, for a key that occurs twice, that has another type than in another
/// kind, or that `samples` requires and is missing.
void add_model_kinds(std::vector<ModelKind> kinds);

/// All kinds, in the order of addition, this library's first. They stay valid.
std::vector<const ModelKind*> model_kinds();
/// Null if there is none of this name.
const ModelKind* find_model_kind(std::string_view name);
/// Errors: NotFound that lists the kinds and says how to add one.
const ModelKind& model_kind(std::string_view name);

}  // namespace phi::nn::models
