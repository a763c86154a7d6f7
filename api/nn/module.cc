// Names, parameters and passes of modules.
#include "api/nn/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/nn/lay_out.h"
#include "api/nn/layout/shard.h"
#include "api/nn/module_root.h"
#include "api/nn/pattern.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::nn {

namespace {

std::string joined(const std::string& outer, const std::string& own) {
  return outer.empty() ? own : outer + "." + own;
}

const distributed::TensorDistAttr* attr_of(const Tensor& x) {
  return x.is_dist() ? x.dist_attr() : nullptr;
}

}  // namespace

Module::Module() : owned_root_(new Root), root_(owned_root_.get()) {}

Module::Module(Module& parent, const Name& name)
    : parent_(&parent),
      own_(name.own()),
      path_(joined(parent.path_, name.own())),
      prefix_(name.is_flat() ? parent.prefix_ : parent.prefix_ + name.own() + "."),
      root_(parent.root_) {
  PHI_CHECK(!own_.empty() && own_.find('.') == std::string::npos,
            errors::InvalidArgument("a part of a module is called '{}'; its name must not be empty "
                                    "and has no dot (parts of parts make paths).",
                                    own_));
  const bool is_new = std::none_of(parent.parts_.begin(), parent.parts_.end(),
                                   [&](const Module* part) { return part->own_ == own_; });
  PHI_CHECK(is_new, errors::InvalidArgument("module '{}' has two parts called '{}'; give one "
                                            "another name.",
                                            parent.path_, own_));
  parent.parts_.push_back(this);
}

Module::~Module() {
  if (parent_) std::erase(parent_->parts_, this);
}

std::string Module::parameter_name(const std::string& own) const {
  std::string name = prefix_ + own;
  if (own.empty() && !prefix_.empty()) name.pop_back();
  return name;
}

std::string Module::declare(const std::string& own) {
  std::string name = parameter_name(own);
  PHI_CHECK(!name.empty() && own.find('.') == std::string::npos,
            errors::InvalidArgument("module '{}' declares a tensor '{}'; its name must have no "
                                    "dot, and must not be empty in a model.",
                                    path_, own));
  PHI_CHECK(root_->names.insert(name).second,
            errors::InvalidArgument("the model has two tensors called '{}'; give one of them, or "
                                    "the module '{}', another name.",
                                    name, path_));
  return name;
}

const Tensor& Module::parameter(const std::string& name, const Dims& shape,
                                Initialiser initialiser) {
  Slot slot;
  slot.name = declare(name);
  slot.shape = shape;
  slot.initialiser = std::move(initialiser);
  slot.value = initial(slot);
  return slots_.emplace_back(std::move(slot)).value;
}

const Tensor& Module::buffer(const std::string& name, Tensor value) {
  return buffers_.emplace_back(declare(name), std::move(value)).second;
}

Tensor Module::initial(const Slot& slot) const {
  return slot.initialiser(slot.shape, root_->dtype, seed_for(slot.name, root_->seed));
}

NamedTensors Module::named_parameters() const {
  NamedTensors all;
  visit_slots([&](const Slot& slot) { all.emplace_back(slot.name, slot.value); });
  return all;
}

NamedTensors Module::named_buffers() const {
  NamedTensors all;
  for (const Module* module : modules()) {
    all.insert(all.end(), module->buffers_.begin(), module->buffers_.end());
  }
  return all;
}

std::vector<ParameterGroup> Module::groups() const {
  std::vector<ParameterGroup> all;
  visit_slots([&](const Slot& slot) { all.push_back(slot.group); });
  return all;
}

std::vector<const Module*> Module::modules() const {
  std::vector<const Module*> all = {this};
  for (size_t i = 0; i < parts_.size(); ++i) {
    const auto below = std::as_const(*parts_[i]).modules();
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
  visit_slots([&](const Slot& slot) { all.push_back(slot.value); });
  return all;
}

const Tensor& Module::parameter_at(std::string_view name) const {
  const Tensor* found = nullptr;
  std::vector<std::string> names;
  visit_slots([&](const Slot& slot) {
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
  visit_slots([&](Slot& slot) {
    names.push_back(slot.name);
    if (!matches(pattern, slot.name)) return;
    slot.group = group;
    met = true;
  });
  PHI_CHECK(met, errors::NotFound("no parameter is called '{}'; nearest: {}.", pattern,
                                  nearest_three(pattern, names)));
}

int64_t Module::num_parameters() const {
  int64_t count = 0;
  visit_slots([&](const Slot& slot) { count += slot.value.numel(); });
  return count;
}

int64_t Module::parameter_bytes_here() const {
  int64_t bytes = 0;
  visit_slots(
      [&](const Slot& slot) { bytes += static_cast<int64_t>(slot.value.nbytes_anywhere()); });
  return bytes;
}

void Module::fill(const std::function<Tensor(const std::string&, const Tensor&)>& value) {
  const auto fill_one = [&](const std::string& name, Tensor& now) {
    const Tensor given = value(name, now);
    PHI_CHECK(given.meta() == now.meta(),
              errors::InvalidArgument("'{}' of the model is {}, but the value for it {}.", name,
                                      now.to_string(), given.to_string()));
    now.replace(nn::laid_out(given, attr_of(now)));
  };
  visit_slots([&](Slot& slot) { fill_one(slot.name, slot.value); });
  for (Module* module : modules()) {
    for (auto& [name, now] : module->buffers_) fill_one(name, now);
  }
}

void Module::initialise(uint64_t seed, DataType dtype) {
  PHI_CHECK(owned_root_, errors::InvalidArgument("'{}' is a part of a model; initialise the whole "
                                                 "model.",
                                                 path_));
  PHI_CHECK(is_floating(dtype),
            errors::InvalidArgument("parameters of {} have no gradients; use a floating dtype.",
                                    name_of(dtype)));
  root_->seed = seed;
  root_->dtype = dtype;
  visit_slots(
      [&](Slot& slot) { slot.value.replace(nn::laid_out(initial(slot), attr_of(slot.value))); });
}

uint64_t Module::seed() const { return root_->seed; }
DataType Module::dtype() const { return root_->dtype; }
void Module::set_training(bool training) { root_->is_training = training; }
bool Module::is_training() const { return root_->is_training; }
void Module::set_recompute(Recompute recompute) { root_->recompute = recompute; }
Recompute Module::recompute() const { return root_->recompute; }
const Pass& Module::pass() const { return root_->pass; }
const Sharding* Module::sharding() const { return root_->sharding ? &*root_->sharding : nullptr; }

void Module::add_tensor_parallel(Layout*, const std::string&, bool) const {}

uint64_t Module::count_dropout(bool drops) {
  root_->drops |= drops;
  return root_->dropouts++;
}

bool Module::drops_now() const { return root_->drops && root_->is_training; }

Tensor Module::laid_out(Point point, const Tensor& x) const {
  const CallSite::Because because("the model's layout fixes it here");
  return nn::laid_out(x, attr(point));
}

PassScope::PassScope(const Module& module, const Pass& pass)
    : module_(module), before_(module.root_->pass) {
  module_.root_->pass = pass;
}

PassScope::~PassScope() { module_.root_->pass = before_; }

ParameterScope::ParameterScope(const Module& module, TensorList parameters)
    : module_(module), others_(std::move(parameters)) {
  size_t count = 0;
  module_.visit_slots([&](const Module::Slot&) { ++count; });
  PHI_CHECK(count == others_.size(),
            errors::InvalidArgument("module '{}' has {} parameters, and is lent {}.",
                                    module_.path(), count, others_.size()));
  exchange();
}

ParameterScope::~ParameterScope() { exchange(); }

void ParameterScope::exchange() {
  size_t next = 0;
  module_.visit_slots([&](Module::Slot& slot) { std::swap(slot.value, others_[next++]); });
}

}  // namespace phi::nn
