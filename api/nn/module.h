// Module: a part of a model that owns parameters, buffers and submodules.
//
//   class Residual final : public nn::Layer {
//    public:
//     Residual(nn::Module& parent, nn::Name name, int64_t d)
//         : Layer(parent, name), up(*this, "up", d, 4 * d), down(*this, "down", 4 * d, d) {}
//     Tensor forward(const Tensor& x) const override { return add(x, down(gelu(up(x)))); }
//     nn::Linear up, down;
//   };
//
// A submodule is either constructed with its parent and a name, or constructed as a model and added
// to a parent by add_module(). Its parameters are named after its path: "block0.up.weight". A
// parameter is a deferred tensor until its values are needed. Its initial values depend only on its
// name and the model's seed. A module is written without a mesh; nn::shard()
// (api/nn/layout/shard.h) shards it over one.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/call/call_site.h"
#include "api/nn/initialiser.h"
#include "api/nn/recompute.h"
#include "api/tensor/tensor.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/dist_attr.h"
#include "phi/common/process/interruption.h"
#include "phi/core/generator.h"

namespace phi::nn {

class KeyValueCache;
class Layout;
struct Sharding;

/// The name of a submodule. A flat name is part of the submodule's path, but not of its parameters'
/// names: the parameters of attention in "layer0" are named "layer0.qkv.weight", not
/// "layer0.attention.qkv.weight".
class Name {
 public:
  Name(std::string own) : own_(std::move(own)) {}
  Name(const char* own) : own_(own) {}
  static Name flat(std::string own) {
    Name name(std::move(own));
    name.is_flat_ = true;
    return name;
  }
  const std::string& own() const { return own_; }
  bool is_flat() const { return is_flat_; }

 private:
  std::string own_;
  bool is_flat_ = false;
};

/// Optimizer settings of a parameter.
struct ParameterGroup {
  std::optional<bool> decays = std::nullopt;  // nullopt: decays if it has more than one tensor dim
  double rate = 1.0;                          // factor on the learning rate
  bool trained = true;                        // false: receives no gradient

  friend bool operator==(const ParameterGroup&, const ParameterGroup&) = default;
};

/// The forward context: what the modules of a model see besides their input.
struct ForwardContext {
  /// The number of the micro-batch. Random draws in the forward context depend on it and on the
  /// model's seed. Nothing: draws continue from the state of the rank's generator.
  std::optional<uint64_t> number = std::nullopt;
  KeyValueCache* cache = nullptr;  // the input follows the cached positions and is added to them
  bool only_last = false;          // compute the output of the last position alone
};

/// Activation slots of a module: the activations whose placements a layout may fix.
enum class ActivationSlot : uint8_t { kInput, kOutput, kCache };
inline constexpr size_t kNumActivationSlots = 3;

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

class Module {
 public:
  /// Constructs a model, which has no parent.
  Module();
  /// Constructs a submodule of `parent`.
  /// Errors: InvalidArgument if the parent has a submodule of this name, or the name is empty or
  /// contains a dot.
  Module(Module& parent, const Name& name);
  /// Remaining submodules become models.
  virtual ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Adds `submodule`, a model, to this module as a submodule. Does not take ownership. Its
  /// parameters get names under this module. Values that were neither read nor set are initialised
  /// by the new name and by this model's seed and dtype; other values stay. Dropouts are numbered
  /// again.
  ///
  /// Errors   InvalidArgument if `submodule` is a submodule of another module, is this module or
  /// one of
  ///          its ancestors, has a name that exists already, or if one of the two is sharded over a
  ///          mesh. Nothing is changed then.
  void add_module(Module& submodule, const Name& name);
  /// Turns a submodule back into a model; its values stay.
  /// Errors: InvalidArgument if `submodule` is not a submodule of this module.
  void remove_module(Module& submodule);
  /// Null for a model.
  const Module* parent() const { return parent_; }
  /// The name in its parent.
  const std::string& own_name() const { return own_; }
  /// Direct submodules.
  const std::vector<Module*>& submodules() const { return submodules_; }
  /// The parameter or buffer that this module declared under `own`; null if there is none.
  const Tensor* own_tensor(std::string_view own) const;
  /// Names of this module's parameters, then of its buffers, as it declared them.
  std::vector<std::string> own_tensor_names() const;

  /// For example "layer0.attention"; empty for a model.
  const std::string& path() const { return path_; }
  /// The full name of this module's parameter `own`, for example "layer0.qkv.weight".
  std::string parameter_name(const std::string& own) const;

  /// Parameters of this module and its submodules, in the order of declaration, this module's
  /// first.
  NamedTensors named_parameters() const;
  NamedTensors named_buffers() const;
  /// In the order of named_parameters().
  std::vector<ParameterGroup> groups() const;
  /// This module and all modules below it; a parent precedes its submodules.
  std::vector<const Module*> modules() const;
  std::vector<Module*> modules();
  /// Handles in the order of named_parameters().
  TensorList parameters() const;
  /// parameters(), then handles of buffers in the order of named_buffers().
  TensorList tensors() const;
  /// Errors: NotFound with the nearest name.
  const Tensor& parameter_at(std::string_view name) const;
  /// Errors: NotFound with the nearest path.
  const Module& module_at(std::string_view path) const;

  /// Sets the group of all parameters whose names match `pattern` (api/nn/pattern.h).
  /// Errors: NotFound with the nearest name if none matches; InvalidArgument for a rate that is
  /// negative or not finite.
  void set_group(std::string_view pattern, const ParameterGroup& group);

  /// Number of elements of all parameters.
  int64_t num_parameters() const;
  /// Bytes of this rank's parameters, on all memory tiers.
  int64_t parameter_bytes_here() const;

  /// Replaces the value of every parameter and buffer by value(name, current value). The new value
  /// has the same shape and dtype and may be plain, deferred or distributed; it is resharded to the
  /// placements of the old one.
  /// Errors: InvalidArgument for another shape or dtype.
  void fill(const std::function<Tensor(const std::string& name, const Tensor& now)>& value);
  /// Reinitialises all parameters by their initialisers, with this seed and dtype. Placements stay.
  /// Call it on a model.
  /// Errors: InvalidArgument for a dtype that is not floating.
  void initialise(uint64_t seed, DataType dtype = DataType::FLOAT32);
  /// Converts all parameters to another dtype. Values that were neither read nor set are
  /// initialised in it. Call it on a model.
  /// Errors: as initialise().
  void convert(DataType dtype);
  uint64_t seed() const;
  DataType dtype() const;

  // The following belong to the whole model, whichever of its modules they are called on.

  /// Dropout is active in training mode, which is the default.
  void set_training(bool training);
  bool is_training() const;
  /// Whether the model is in training mode and has a dropout with p > 0.
  bool drops_now() const;
  void set_recompute(Recompute recompute);
  Recompute recompute() const;
  const ForwardContext& forward_context() const;
  /// The result of nn::shard() (api/nn/layout/shard.h); null before.
  const Sharding* sharding() const;

  /// The mesh of this module, which is that of its pipeline stage; nothing before nn::shard().
  const std::optional<distributed::ProcessMesh>& mesh() const { return mesh_; }
  /// The placements of an activation slot; null: not fixed.
  const distributed::TensorDistAttr* attr(ActivationSlot activation) const {
    return activation_attrs_[static_cast<size_t>(activation)];
  }
  /// The placements of a batch: rows of ids, labels, lengths. Null before nn::shard().
  const distributed::TensorDistAttr* batch_attr() const { return batch_attr_; }

  /// Adds rows to `layout` for the parameters that this module itself splits along mesh dim `tp`;
  /// its submodules add their own. Matmuls into heads and hidden units are split by columns, the
  /// matmuls after them by rows, tables by vocabulary. With `sequence_parallel`, activations
  /// between these pairs of matmuls are split by position.
  virtual void add_tensor_parallel(Layout* layout, const std::string& tp,
                                   bool sequence_parallel) const;

 protected:
  /// Declares a parameter. The reference stays valid and always shows the current value. With an
  /// empty name the parameter has the name of the module, for modules with one tensor.
  /// Errors: InvalidArgument if the model has a tensor of this name, or if the name contains a dot.
  const Tensor& parameter(const std::string& name, const Dims& shape, Initialiser initialiser);
  /// Declares a tensor that is part of the model and is not trained.
  const Tensor& buffer(const std::string& name, Tensor value);
  /// Registers this module as a dropout; call once. The model numbers its dropouts in the order of
  /// construction.
  void count_dropout(bool drops);
  uint64_t dropout_number() const { return *dropout_number_; }
  /// `x`, plain or distributed, with the placements of attr(activation); x itself if they are not
  /// fixed.
  Tensor apply_placements(ActivationSlot activation, const Tensor& x) const;

 private:
  friend class ActivationScope;
  friend class ForwardContextScope;
  friend class TensorScope;
  friend class Sharder;

  struct ParameterSlot {
    std::string own;
    std::string name;  // full name
    Tensor value;
    bool is_initial = true;  // false once the value was written
    Dims shape;
    Initialiser initialiser;
    ParameterGroup group;
  };
  struct BufferSlot {
    std::string own;
    std::string name;  // full name
    Tensor value;
  };
  struct ModelState;

  // Registers a tensor of this module and returns its full name.
  std::string declare(const std::string& own);
  void check_new_submodule(const Module& submodule, const Name& name) const;
  void check_submodule_name(const std::string& own) const;
  // Makes this a submodule of `parent` (null: a model).
  void set_parent(Module* parent, const Name& name, const std::shared_ptr<ModelState>& model_state);
  // Updates the names of this module and of those below it to the parent's, and moves them to its
  // model.
  void update_names(const std::shared_ptr<ModelState>& model_state);
  void make_initial_values();
  void check_dtype(DataType dtype) const;
  std::string own_tensor_name(const std::string& own) const;
  Tensor initial(const ParameterSlot& slot) const;
  // Applied to this module and those below it.
  template <typename Visit>
  void visit_slots(Visit&& visit) const {
    for (ParameterSlot& slot : slots_) visit(slot);
    for (const Module* submodule : submodules_) submodule->visit_slots(visit);
  }
  // Visits the handles in the order of tensors().
  template <typename Visit>
  void visit_tensors(Visit&& visit) const {
    visit_slots([&](ParameterSlot& slot) { visit(slot.value); });
    for (const Module* module : modules()) {
      for (BufferSlot& buffer : module->buffers_) visit(buffer.value);
    }
  }

  Module* parent_ = nullptr;
  std::string own_;
  bool is_flat_ = false;
  std::string path_;
  std::string prefix_;  // of its parameters' names; ends with a dot unless empty
  // Mutable: running a module is const, and a TensorScope exchanges its tensors meanwhile.
  mutable std::deque<ParameterSlot> slots_;
  mutable std::deque<BufferSlot> buffers_;
  std::vector<Module*> submodules_;
  std::shared_ptr<ModelState> model_state_;  // shared by the model
  std::optional<uint64_t> dropout_number_;
  bool drops_ = false;
  std::optional<distributed::ProcessMesh> mesh_;
  std::array<const distributed::TensorDistAttr*, kNumActivationSlots> activation_attrs_{};
  const distributed::TensorDistAttr* batch_attr_ = nullptr;
};

/// Sets the forward context of the model of `module` for the lifetime of this object. With a
/// number, all draws of this rank depend on the seed and that number.
class ForwardContextScope {
 public:
  ForwardContextScope(const Module& module, const ForwardContext& forward_context);
  ~ForwardContextScope();
  ForwardContextScope(const ForwardContextScope&) = delete;
  ForwardContextScope& operator=(const ForwardContextScope&) = delete;

 private:
  const Module& module_;
  ForwardContext before_;
  std::optional<Generator::Scope> drawing_;
};

/// Replaces the parameters and buffers of `module` by these tensors, in the order of
/// Module::tensors(), for the lifetime of this object.
/// Errors: InvalidArgument for another number of tensors.
class TensorScope {
 public:
  TensorScope(const Module& module, TensorList tensors);
  ~TensorScope();
  TensorScope(const TensorScope&) = delete;
  TensorScope& operator=(const TensorScope&) = delete;

 private:
  void exchange();
  const Module& module_;
  TensorList others_;
};

/// A module with one input tensor and one output tensor.
class Layer : public Module {
 public:
  using Module::Module;

  /// The computation; implemented by subclasses.
  virtual Tensor forward(const Tensor& x) const = 0;
  /// Calls forward() with input and output in the placements of the layout.
  Tensor operator()(Tensor given,
                    std::source_location where = std::source_location::current()) const {
    return call(std::move(given), {path().c_str(), where.file_name(), where.line()});
  }
  /// The same, with the call site given by the caller.
  Tensor call(Tensor given, const CallSite& where) const {
    poll_interruption();
    const CallSite::Scope site(where);
    // `given` is released here, so that a temporary does not outlive its last use.
    Tensor x = apply_placements(ActivationSlot::kInput, std::exchange(given, {}));
    x = forward(x);
    return apply_placements(ActivationSlot::kOutput, x);
  }
};

}  // namespace phi::nn
