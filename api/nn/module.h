// Module: a part of a model that has parameters, and parts of its own.
//
//   class Residual final : public nn::Layer {
//    public:
//     Residual(nn::Module& parent, nn::Name name, int64_t d)
//         : Layer(parent, name), up(*this, "up", d, 4 * d), down(*this, "down", 4 * d, d) {}
//     Tensor forward(const Tensor& x) const override { return add(x, down(gelu(up(x)))); }
//     nn::Linear up, down;
//   };
//
// A part is made in its parent, with its name: "block0.up.weight"; or as a model of its own that a
// parent adopts. A parameter is a deferred tensor until something needs its values: those follow
// its name and the model's seed alone. A module is written without a mesh; nn::shard()
// (api/nn/layout/shard.h) lays it out on one.
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

/// How a part is called. A flat name is in the part's path, but not in its parameters' names:
/// those of attention in "layer0" are "layer0.qkv.weight", not "layer0.attention.qkv.weight".
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

/// What an optimizer does with a parameter.
struct ParameterGroup {
  std::optional<bool> decays = std::nullopt;  // by default what has more than one tensor dim does
  double rate = 1.0;                          // of the learning rate
  bool trained = true;                        // else it gets no gradient

  friend bool operator==(const ParameterGroup&, const ParameterGroup&) = default;
};

/// What one pass through a model has beside its input.
struct Pass {
  /// Of the micro-batch, by which all that is drawn in it is told from others'. Nothing: draws go
  /// on where the rank's generator is.
  std::optional<uint64_t> number = std::nullopt;
  KeyValueCache* cache = nullptr;  // the input follows the positions in it, and is added to it
  bool only_last = false;          // only the last position's output is wanted
};

/// Where the layout of a module's activations may be fixed.
enum class Point : uint8_t { kInput, kOutput, kCache };
inline constexpr size_t kNumPoints = 3;

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

class Module {
 public:
  /// A model.
  Module();
  /// A part of `parent`. Errors: InvalidArgument if the parent has a part of this name, or the name
  /// is empty or has a dot.
  Module(Module& parent, const Name& name);
  /// Parts that are still there become models of their own.
  virtual ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Makes `part`, a model, a part of this module. Its parameters go by their new names: values
  /// that nobody has asked for or set follow these, and seed and dtype of this model; others stay.
  /// Dropouts are counted anew. `part` is not owned.
  /// Errors: InvalidArgument for a part of another module, this module or one that it is a part of,
  /// a name that there is already, or where one of the two is laid out on a mesh; nothing is
  /// changed then.
  void adopt(Module& part, const Name& name);
  /// Makes a part a model of its own again, with its values as they are.
  /// Errors: InvalidArgument for what is no part of this module.
  void release(Module& part);
  /// Null for a model.
  const Module* parent() const { return parent_; }
  /// Its own name in its parent.
  const std::string& own_name() const { return own_; }
  /// Those directly below.
  const std::vector<Module*>& parts() const { return parts_; }
  /// The parameter or buffer that this module declared by that name; null if there is none.
  const Tensor* own_tensor(std::string_view own) const;
  /// Names of its own parameters, then of its own buffers, as it declared them.
  std::vector<std::string> own_tensor_names() const;

  /// "layer0.attention"; that of a model is empty.
  const std::string& path() const { return path_; }
  /// The whole name of its parameter `own`: "layer0.qkv.weight".
  std::string parameter_name(const std::string& own) const;

  /// Of this module and its parts, in the order in which they were declared (own ones first).
  NamedTensors named_parameters() const;
  NamedTensors named_buffers() const;
  /// As the names of named_parameters().
  std::vector<ParameterGroup> groups() const;
  /// This module and all below it, each before its parts.
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

  /// Parameters whose names match (Layout says what a pattern is). Errors: NotFound with the
  /// nearest name if none does; InvalidArgument for a rate that is negative or not finite.
  void set_group(std::string_view pattern, const ParameterGroup& group);

  /// Elements of all parameters.
  int64_t num_parameters() const;
  /// Of those on this rank, on whatever tier they are.
  int64_t parameter_bytes_here() const;

  /// Gives every parameter and buffer another value: what `value` makes of its name and what it is
  /// now, a tensor of its shape, plain, deferred or distributed, which is laid out as the old one
  /// is. Errors: InvalidArgument for another shape or dtype.
  void fill(const std::function<Tensor(const std::string& name, const Tensor& now)>& value);
  /// All parameters anew: values by their initialisers under another seed, of another dtype, laid
  /// out as they are. Of a model. Errors: InvalidArgument for a dtype that is not floating.
  void initialise(uint64_t seed, DataType dtype = DataType::FLOAT32);
  /// Parameters as they are, in another dtype: values that nobody has asked for or set are made of
  /// it. Of a model. Errors: as initialise().
  void convert(DataType dtype);
  uint64_t seed() const;
  DataType dtype() const;

  // Of the whole model, whichever part is asked.

  /// While it trains (the default) dropout drops.
  void set_training(bool training);
  bool is_training() const;
  /// Some dropout of the model drops now.
  bool drops_now() const;
  void set_recompute(Recompute recompute);
  Recompute recompute() const;
  const Pass& pass() const;
  /// What it was laid out by (api/nn/layout/shard.h); null before nn::shard().
  const Sharding* sharding() const;

  /// The mesh that this module is laid out on: its stage's; nothing before nn::shard().
  const std::optional<distributed::ProcessMesh>& mesh() const { return mesh_; }
  /// How its activations are laid out there; null: as they come.
  const distributed::TensorDistAttr* attr(Point point) const {
    return points_[static_cast<size_t>(point)];
  }
  /// How a batch is: rows of ids, labels, lengths. Null before nn::shard().
  const distributed::TensorDistAttr* batch_attr() const { return batch_attr_; }

  /// Rows of a layout for what this module itself splits along mesh dim `tp` (its parts add
  /// theirs): products into heads and hidden units by columns, those out of them by rows, tables by
  /// vocabulary. With `sequence_parallel` activations between these pairs are split by position.
  virtual void add_tensor_parallel(Layout* layout, const std::string& tp,
                                   bool sequence_parallel) const;

 protected:
  /// Declares a parameter. The reference stays good and shows what the parameter is at the time.
  /// An empty name is right for a module of one tensor, which then goes by the module's name.
  /// Errors: InvalidArgument if the model has a tensor of this name.
  const Tensor& parameter(const std::string& name, const Dims& shape, Initialiser initialiser);
  /// Declares a tensor that belongs to the model and is not trained.
  const Tensor& buffer(const std::string& name, Tensor value);
  /// Says, once, that this module is a dropout. The model counts them as they are made.
  void count_dropout(bool drops);
  uint64_t dropout_number() const { return *dropout_number_; }
  /// `x` laid out as attr(point) says, whether plain or distributed; x itself where nothing is
  /// said.
  Tensor laid_out(Point point, const Tensor& x) const;

 private:
  friend class PassScope;
  friend class TensorScope;
  friend class Sharder;

  struct Slot {
    std::string own;
    std::string name;  // the whole
    Tensor value;
    bool is_initial = true;  // the value is that of the initialiser, unless somebody wrote to it
    Dims shape;
    Initialiser initialiser;
    ParameterGroup group;
  };
  struct Buffer {
    std::string own;
    std::string name;  // the whole
    Tensor value;
  };
  struct Root;

  // The whole name of a tensor of this module.
  std::string declare(const std::string& own);
  void check_adoption(const Module& part, const Name& name) const;
  void check_part_name(const std::string& own) const;
  // Belongs to `parent` (null: is a model) from here on.
  void move_to(Module* parent, const Name& name, const std::shared_ptr<Root>& root);
  // Names of this module and below as the parent's are now, in the same model as it.
  void take_names(const std::shared_ptr<Root>& root);
  void make_initial_values();
  void check_dtype(DataType dtype) const;
  std::string own_tensor_name(const std::string& own) const;
  Tensor initial(const Slot& slot) const;
  // Of this module and below.
  template <typename Visit>
  void visit_slots(Visit&& visit) const {
    for (Slot& slot : slots_) visit(slot);
    for (const Module* part : parts_) part->visit_slots(visit);
  }
  // The handles of tensors(), in this order.
  template <typename Visit>
  void visit_tensors(Visit&& visit) const {
    visit_slots([&](Slot& slot) { visit(slot.value); });
    for (const Module* module : modules()) {
      for (Buffer& buffer : module->buffers_) visit(buffer.value);
    }
  }

  Module* parent_ = nullptr;
  std::string own_;
  bool is_flat_ = false;
  std::string path_;
  std::string prefix_;  // of its parameters' names, with a dot where it is not empty
  // Whoever holds a module may run it, and a scope lends it other tensors for a time.
  mutable std::deque<Slot> slots_;
  mutable std::deque<Buffer> buffers_;
  std::vector<Module*> parts_;
  std::shared_ptr<Root> root_;  // the model's
  std::optional<uint64_t> dropout_number_;
  bool drops_ = false;
  std::optional<distributed::ProcessMesh> mesh_;
  std::array<const distributed::TensorDistAttr*, kNumPoints> points_{};
  const distributed::TensorDistAttr* batch_attr_ = nullptr;
};

/// The model that `module` belongs to is in this pass while one lives. With a number everything
/// that the rank draws meanwhile follows the seed and that number.
class PassScope {
 public:
  PassScope(const Module& module, const Pass& pass);
  ~PassScope();
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;

 private:
  const Module& module_;
  Pass before_;
  std::optional<Generator::Scope> drawing_;
};

/// The module sees these tensors as its parameters and buffers, in the order of Module::tensors(),
/// while one lives. Errors: InvalidArgument if there are not as many.
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

/// A module that makes one tensor of one.
class Layer : public Module {
 public:
  using Module::Module;

  /// What a user writes.
  virtual Tensor forward(const Tensor& x) const = 0;
  /// What a user calls: forward(), with input and output as the layout says.
  Tensor operator()(Tensor given,
                    std::source_location where = std::source_location::current()) const {
    return call(std::move(given), {path().c_str(), where.file_name(), where.line()});
  }
  /// The same from a place that is told otherwise.
  Tensor call(Tensor given, const CallSite& where) const {
    poll_interruption();
    const CallSite::Scope site(where);
    // Nothing is kept longer than it is needed, a temporary that is given neither.
    Tensor x = laid_out(Point::kInput, std::exchange(given, {}));
    x = forward(x);
    return laid_out(Point::kOutput, x);
  }
};

}  // namespace phi::nn
