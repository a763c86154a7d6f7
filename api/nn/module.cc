// Names and parameters of modules, and forward contexts.
#include "api/nn/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/autograd/autograd.h"
#include "api/nn/apply_placements.h"
#include "api/nn/layout/shard.h"
#include "api/nn/model_state.h"
#include "api/nn/pattern.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"
#include "phi/core/rank_context.h"

namespace phi::nn {

namespace {

std::string joined(const std::string& outer, const std::string& own) {
  return outer.empty() ? own : outer + "." + own;
}

const distributed::TensorDistAttr* dist_attr_of(const Tensor& x) {
  return x.is_dist() ? x.dist_attr() : nullptr;
}

}  // namespace

// The name of a tensor declared with an empty name, if its module has no name either (a model).
constexpr const char* kOnlyTensor = "weight";

Module::Module() : model_state_(std::make_shared<ModelState>()) {}

Module::Module(Module& parent, const Name& name)
    : parent_(&parent),
      own_(name.own()),
      is_flat_(name.is_flat()),
      path_(joined(parent.path_, name.own())),
      prefix_(name.is_flat() ? parent.prefix_ : parent.prefix_ + name.own() + "."),
      model_state_(parent.model_state_) {
  parent.check_submodule_name(own_);
  parent.submodules_.push_back(this);
}

Module::~Module() {
  if (parent_) std::erase(parent_->submodules_, this);
  while (!submodules_.empty()) remove_module(*submodules_.back());
}

void Module::remove_module(Module& submodule) {
  PHI_CHECK(submodule.parent_ == this,
            errors::InvalidArgument("'{}' is released from module '{}', but is not its submodule.",
                                    submodule.path_, path_));
  submodule.visit_slots([&](const ParameterSlot& slot) { model_state_->names.erase(slot.name); });
  for (const auto& [name, value] : submodule.named_buffers()) model_state_->names.erase(name);
  std::erase(submodules_, &submodule);
  auto model_state = std::make_shared<ModelState>();
  model_state->seed = model_state_->seed;
  model_state->dtype = model_state_->dtype;
  model_state->is_training = model_state_->is_training;
  model_state->sharding = model_state_->sharding;
  submodule.set_parent(nullptr, "", model_state);
}

void Module::check_submodule_name(const std::string& own) const {
  PHI_CHECK(!own.empty() && own.find('.') == std::string::npos,
            errors::InvalidArgument("a submodule is named '{}'; its name must not be empty and "
                                    "must not contain a dot (dots join names to paths).",
                                    own));
  const bool is_new = std::none_of(submodules_.begin(), submodules_.end(),
                                   [&](const Module* submodule) { return submodule->own_ == own; });
  PHI_CHECK(is_new,
            errors::InvalidArgument(
                "module '{}' has two submodules named '{}'; rename one of them.", path_, own));
}

void Module::add_module(Module& submodule, const Name& name) {
  check_new_submodule(submodule, name);
  submodule.set_parent(this, name, model_state_);
  submodules_.push_back(&submodule);
  submodule.make_initial_values();
}

void Module::check_new_submodule(const Module& submodule, const Name& name) const {
  check_submodule_name(name.own());
  PHI_CHECK(submodule.parent_ == nullptr,
            errors::InvalidArgument("'{}' is added as submodule '{}' of module '{}', but is "
                                    "already submodule '{}' of a model.",
                                    submodule.own_, name.own(), path_, submodule.path_));
  PHI_CHECK(
      submodule.model_state_ != model_state_,
      errors::InvalidArgument("a module cannot be a submodule of itself ('{}').", name.own()));
  PHI_CHECK(!submodule.model_state_->sharding && !model_state_->sharding,
            errors::InvalidArgument("'{}' is added to a model, and one of them is already sharded "
                                    "over a mesh; combine models before nn::shard().",
                                    name.own()));
  const std::string prefix = name.is_flat() ? prefix_ : prefix_ + name.own() + ".";
  const auto check = [&](const Module& module, const std::string& own) {
    std::string whole = prefix + module.prefix_ + own;
    if (own.empty() && !whole.empty()) whole.pop_back();
    PHI_CHECK(!whole.empty() && !model_state_->names.contains(whole),
              errors::InvalidArgument(
                  "the model has two tensors named '{}'; rename one of them, or the module '{}'.",
                  whole, joined(path_, name.own())));
  };
  for (const Module* module : submodule.modules()) {
    for (const ParameterSlot& slot : module->slots_) check(*module, slot.own);
    for (const BufferSlot& buffer : module->buffers_) check(*module, buffer.own);
  }
}

void Module::set_parent(Module* parent, const Name& name,
                        const std::shared_ptr<ModelState>& model_state) {
  parent_ = parent;
  own_ = name.own();
  is_flat_ = name.is_flat();
  update_names(model_state);
}

void Module::update_names(const std::shared_ptr<ModelState>& model_state) {
  model_state_ = model_state;
  path_ = parent_ ? joined(parent_->path_, own_) : "";
  prefix_ = !parent_ ? "" : is_flat_ ? parent_->prefix_ : parent_->prefix_ + own_ + ".";
  const auto declared = [&](const std::string& own) {
    return *model_state_->names.insert(own_tensor_name(own)).first;
  };
  for (ParameterSlot& slot : slots_) slot.name = declared(slot.own);
  for (BufferSlot& buffer : buffers_) buffer.name = declared(buffer.own);
  if (dropout_number_) count_dropout(drops_);
  for (Module* submodule : submodules_) submodule->update_names(model_state);
}

void Module::make_initial_values() {
  visit_slots([&](ParameterSlot& slot) {
    const bool is_untouched = slot.is_initial && !slot.value.initialized() && !slot.value.is_dist();
    if (is_untouched) slot.value.replace(initial(slot));
  });
}

std::string Module::own_tensor_name(const std::string& own) const {
  std::string name = parameter_name(own);
  return name.empty() ? kOnlyTensor : name;
}

std::string Module::parameter_name(const std::string& own) const {
  std::string name = prefix_ + own;
  if (own.empty() && !prefix_.empty()) name.pop_back();
  return name;
}

std::string Module::declare(const std::string& own) {
  std::string name = parameter_name(own);
  PHI_CHECK(!name.empty() && own.find('.') == std::string::npos,
            errors::InvalidArgument("module '{}' declares a tensor '{}'; its name must not contain "
                                    "a dot, and must not be empty in a model.",
                                    path_, own));
  PHI_CHECK(model_state_->names.insert(name).second,
            errors::InvalidArgument(
                "the model has two tensors named '{}'; rename one of them, or the module '{}'.",
                name, path_));
  return name;
}

const Tensor& Module::parameter(const std::string& name, const Dims& shape,
                                Initialiser initialiser) {
  ParameterSlot slot;
  slot.own = name;
  slot.name = declare(name);
  slot.shape = shape;
  slot.initialiser = std::move(initialiser);
  slot.value = initial(slot);
  return slots_.emplace_back(std::move(slot)).value;
}

const Tensor& Module::buffer(const std::string& name, Tensor value) {
  return buffers_.emplace_back(BufferSlot{name, declare(name), std::move(value)}).value;
}

Tensor Module::initial(const ParameterSlot& slot) const {
  return slot.initialiser(slot.shape, model_state_->dtype, seed_for(slot.name, model_state_->seed));
}

NamedTensors Module::named_parameters() const {
  NamedTensors all;
  visit_slots([&](const ParameterSlot& slot) { all.emplace_back(slot.name, slot.value); });
  return all;
}

NamedTensors Module::named_buffers() const {
  NamedTensors all;
  for (const Module* module : modules()) {
    for (const BufferSlot& buffer : module->buffers_) all.emplace_back(buffer.name, buffer.value);
  }
  return all;
}

std::vector<ParameterGroup> Module::groups() const {
  std::vector<ParameterGroup> all;
  visit_slots([&](const ParameterSlot& slot) { all.push_back(slot.group); });
  return all;
}

std::vector<const Module*> Module::modules() const {
  std::vector<const Module*> all = {this};
  for (size_t i = 0; i < submodules_.size(); ++i) {
    const auto below = std::as_const(*submodules_[i]).modules();
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::vector<Module*> Module::modules() {
  std::vector<Module*> all;
  for (const Module* module : std::as_const(*this).modules()) {
    all.push_back(const_cast<Module*>(module));
  }
  return all;
}

TensorList Module::parameters() const {
  TensorList all;
  visit_slots([&](const ParameterSlot& slot) { all.push_back(slot.value); });
  return all;
}

TensorList Module::tensors() const {
  TensorList all;
  visit_tensors([&](const Tensor& value) { all.push_back(value); });
  return all;
}

const Tensor& Module::parameter_at(std::string_view name) const {
  const Tensor* found = nullptr;
  std::vector<std::string> names;
  visit_slots([&](const ParameterSlot& slot) {
    if (slot.name == name) found = &slot.value;
    names.push_back(slot.name);
  });
  PHI_CHECK(found != nullptr, errors::NotFound("the model has no parameter '{}'{}.", name,
                                               did_you_mean(name, names)));
  return *found;
}

const Module& Module::module_at(std::string_view path) const {
  std::vector<std::string> paths;
  for (const Module* module : modules()) {
    if (module->path_ == path) return *module;
    paths.push_back(module->path_);
  }
  throw errors::NotFound("the model has no module '{}'{}.", path, did_you_mean(path, paths));
}

void Module::set_group(std::string_view pattern, const ParameterGroup& group) {
  PHI_CHECK(std::isfinite(group.rate) && group.rate >= 0.0,
            errors::InvalidArgument("the rate of the parameters '{}' is {}; it must be finite and "
                                    "0 or more.",
                                    pattern, group.rate));
  bool met = false;
  std::vector<std::string> names;
  visit_slots([&](ParameterSlot& slot) {
    names.push_back(slot.name);
    if (!matches(pattern, slot.name)) return;
    slot.group = group;
    met = true;
  });
  PHI_CHECK(met, errors::NotFound("no parameter is named '{}'; nearest: {}.", pattern,
                                  nearest_three(pattern, names)));
}

const Tensor* Module::own_tensor(std::string_view own) const {
  for (const ParameterSlot& slot : slots_) {
    if (slot.own == own) return &slot.value;
  }
  for (const BufferSlot& buffer : buffers_) {
    if (buffer.own == own) return &buffer.value;
  }
  return nullptr;
}

std::vector<std::string> Module::own_tensor_names() const {
  std::vector<std::string> names;
  for (const ParameterSlot& slot : slots_) names.push_back(slot.own);
  for (const BufferSlot& buffer : buffers_) names.push_back(buffer.own);
  return names;
}

int64_t Module::num_parameters() const {
  int64_t count = 0;
  visit_slots([&](const ParameterSlot& slot) { count += slot.value.numel(); });
  return count;
}

int64_t Module::parameter_bytes_here() const {
  int64_t bytes = 0;
  visit_slots([&](const ParameterSlot& slot) {
    bytes += static_cast<int64_t>(slot.value.nbytes_anywhere());
  });
  return bytes;
}

void Module::fill(const std::function<Tensor(const std::string&, const Tensor&)>& value) {
  const auto fill_one = [&](const std::string& name, Tensor& now) {
    const Tensor given = value(name, now);
    PHI_CHECK(given.meta() == now.meta(),
              errors::InvalidArgument("'{}' of the model is {}, but the value for it is {}.", name,
                                      now.to_string(), given.to_string()));
    now.replace(nn::apply_placements(given, dist_attr_of(now)));
  };
  visit_slots([&](ParameterSlot& slot) {
    fill_one(slot.name, slot.value);
    slot.is_initial = false;
  });
  for (Module* module : modules()) {
    for (BufferSlot& buffer : module->buffers_) fill_one(buffer.name, buffer.value);
  }
}

void Module::check_dtype(DataType dtype) const {
  PHI_CHECK(parent_ == nullptr,
            errors::InvalidArgument("'{}' is a submodule of a model, which has one seed and one "
                                    "dtype; change those of the model.",
                                    path_));
  PHI_CHECK(is_floating(dtype),
            errors::InvalidArgument("parameters of {} have no gradients; use a floating dtype.",
                                    name_of(dtype)));
}

void Module::initialise(uint64_t seed, DataType dtype) {
  check_dtype(dtype);
  model_state_->seed = seed;
  model_state_->dtype = dtype;
  visit_slots([&](ParameterSlot& slot) {
    slot.value.replace(nn::apply_placements(initial(slot), dist_attr_of(slot.value)));
    slot.is_initial = true;
  });
}

void Module::convert(DataType dtype) {
  check_dtype(dtype);
  model_state_->dtype = dtype;
  make_initial_values();
  const NoGrad no_grad;
  visit_slots([&](ParameterSlot& slot) { slot.value.replace(slot.value.to(dtype)); });
}

uint64_t Module::seed() const { return model_state_->seed; }
DataType Module::dtype() const { return model_state_->dtype; }
void Module::set_training(bool training) { model_state_->is_training = training; }
bool Module::is_training() const { return model_state_->is_training; }
void Module::set_recompute(Recompute recompute) { model_state_->recompute = recompute; }
Recompute Module::recompute() const { return model_state_->recompute; }
const ForwardContext& Module::forward_context() const { return model_state_->forward_context; }
const Sharding* Module::sharding() const {
  return model_state_->sharding ? &*model_state_->sharding : nullptr;
}

void Module::add_tensor_parallel(Layout*, const std::string&, bool) const {}

void Module::count_dropout(bool drops) {
  drops_ = drops;
  model_state_->drops |= drops;
  dropout_number_ = model_state_->dropouts++;
}

bool Module::drops_now() const { return model_state_->drops && model_state_->is_training; }

Tensor Module::apply_placements(ActivationSlot activation, const Tensor& x) const {
  if (model_state_->replace_activation)
    return model_state_->replace_activation(*this, activation, x);
  const CallSite::ReasonScope because("the model's layout sets these placements");
  return nn::apply_placements(x, attr(activation));
}

ActivationScope::ActivationScope(const Module& module, Replace replace)
    : module_(module),
      before_(std::exchange(module.model_state_->replace_activation, std::move(replace))) {}

ActivationScope::~ActivationScope() {
  module_.model_state_->replace_activation = std::move(before_);
}

ForwardContextScope::ForwardContextScope(const Module& module,
                                         const ForwardContext& forward_context)
    : module_(module), before_(module.model_state_->forward_context) {
  module_.model_state_->forward_context = forward_context;
  if (!forward_context.number) return;
  Generator& generator = RankContext::current().generator();
  drawing_.emplace(generator, state_in_pass(generator.state().seed, *forward_context.number));
}

ForwardContextScope::~ForwardContextScope() { module_.model_state_->forward_context = before_; }

TensorScope::TensorScope(const Module& module, TensorList tensors)
    : module_(module), others_(std::move(tensors)) {
  size_t count = 0;
  module_.visit_tensors([&](const Tensor&) { ++count; });
  PHI_CHECK(count == others_.size(),
            errors::InvalidArgument("module '{}' has {} parameters and buffers, but {} are passed.",
                                    module_.path(), count, others_.size()));
  exchange();
}

TensorScope::~TensorScope() { exchange(); }

void TensorScope::exchange() {
  size_t next = 0;
  module_.visit_tensors([&](Tensor& value) { std::swap(value, others_[next++]); });
}

}  // namespace phi::nn
