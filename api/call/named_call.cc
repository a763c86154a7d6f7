// Looks functions up by name and unpacks their arguments.
#include "api/call/named_call.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "api/rules/op_rule.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"
#include "phi/core/attribute_types.h"
#include "phi/core/op_registry.h"

namespace phi {
namespace {

struct CallRegistry {
  std::mutex mutex;
  std::map<std::string_view, const NamedCall*> by_name;
  void add(std::span<const NamedCall> calls) {
    for (const NamedCall& call : calls) by_name.emplace(call.name, &call);
  }
};

// Contains the library's own functions from the first use.
CallRegistry& calls() {
  static auto& instance = *[] {
    auto* made = new CallRegistry;
    made->add(built_in_calls());
    return made;
  }();
  return instance;
}

// Returns null if there is none. The caller holds the lock of calls().
const NamedCall* look_up(std::string_view name) {
  for (const std::string_view each : {name, op_by_compat_name(name)}) {
    const auto it = calls().by_name.find(each);
    if (it != calls().by_name.end()) return it->second;
  }
  return nullptr;
}

const NamedCall& find_call(std::string_view name) {
  const std::lock_guard lock(calls().mutex);
  if (const NamedCall* call = look_up(name)) return *call;
  std::vector<std::string> names;
  for (const auto& [other, call] : calls().by_name) names.emplace_back(other);
  throw errors::NotFound("there is no function '{}' to call; the nearest are {}.", name,
                         nearest_three(name, names));
}

}  // namespace

bool has_call(std::string_view name) {
  const std::lock_guard lock(calls().mutex);
  return look_up(name) != nullptr;
}

void add_calls(std::span<const NamedCall> added) {
  const std::lock_guard lock(calls().mutex);
  for (const NamedCall& call : added) {
    PHI_CHECK(
        !calls().by_name.contains(call.name),
        errors::AlreadyExists(
            "the function '{}' already exists; choose another name for the operator in the YAML.",
            call.name));
  }
  calls().add(added);
}

void Results::add(const Tensor& tensor) { list_.push_back(tensor); }

void Results::add(const std::optional<Tensor>& tensor) {
  list_.push_back(tensor.value_or(Tensor()));
}

void Results::add(const TensorList& tensors) {
  list_.insert(list_.end(), tensors.begin(), tensors.end());
}

CallArgs::CallArgs(std::string_view op, std::vector<TensorList> arguments,
                   std::span<const AttributeValue> attributes)
    : op_(op), arguments_(std::move(arguments)), attributes_(attributes) {
  for (const TensorList& argument : arguments_) {
    const bool there = argument.size() == 1 && argument[0].defined();
    optionals_.push_back(there ? std::optional(argument[0]) : std::nullopt);
  }
}

TensorList& CallArgs::argument(int i) {
  PHI_CHECK(static_cast<size_t>(i) < arguments_.size(),
            errors::InvalidArgument("{} takes more tensor arguments than the {} that are passed.",
                                    op_, arguments_.size()));
  return arguments_[static_cast<size_t>(i)];
}

Tensor& CallArgs::tensor(int i) {
  TensorList& given = argument(i);
  PHI_CHECK(given.size() == 1,
            errors::InvalidArgument("tensor argument {} of {} is one tensor, {} are passed.", i,
                                    op_, given.size()));
  return given[0];
}

std::optional<Tensor>& CallArgs::optional(int i) {
  PHI_CHECK(argument(i).size() == 1,
            errors::InvalidArgument("tensor argument {} of {} is one tensor, or an undefined one "
                                    "where it is absent; {} are passed.",
                                    i, op_, argument(i).size()));
  return optionals_[static_cast<size_t>(i)];
}

// An absent optional list becomes an empty one.
TensorList& CallArgs::list(int i) {
  TensorList& given = argument(i);
  if (given.size() == 1 && !given[0].defined()) given.clear();
  return given;
}

const AttributeValue& CallArgs::attribute(int i) const {
  PHI_CHECK(static_cast<size_t>(i) < attributes_.size(),
            errors::InvalidArgument("{} takes more attributes than the {} that are passed.", op_,
                                    attributes_.size()));
  return attributes_[static_cast<size_t>(i)];
}

template <typename T>
T CallArgs::attr(int i) const {
  if constexpr (detail::kIsOptional<T>) {
    if (std::holds_alternative<std::monostate>(attribute(i))) return std::nullopt;
    return attr<typename T::value_type>(i);
  } else if constexpr (std::is_same_v<T, Place>) {
    return place(i);
  } else if constexpr (std::is_same_v<T, DataLayout>) {
    return layout(i);
  } else {
    return attribute_from<T>(attribute(i));
  }
}

#define PHI_TAKE_ATTRIBUTE(T)              \
  template T CallArgs::attr<T>(int) const; \
  template std::optional<T> CallArgs::attr<std::optional<T>>(int) const;
PHI_EACH_ATTRIBUTE_TYPE(PHI_TAKE_ATTRIBUTE)

Place CallArgs::place(int i) const {
  const auto text = attribute_from<std::string>(attribute(i));
  const size_t colon = std::min(text.find(':'), text.size());
  for (const DeviceKind kind :
       {DeviceKind::UNDEFINED, DeviceKind::CPU, DeviceKind::GPU, DeviceKind::CUSTOM}) {
    const std::string named = Place{kind, 0}.to_string();
    if (text.substr(0, colon) != named.substr(0, named.find(':'))) continue;
    const int index = colon < text.size() ? std::stoi(text.substr(colon + 1)) : 0;
    return {kind, static_cast<int8_t>(index)};
  }
  throw errors::InvalidArgument(
      "attribute {} of {} is '{}', expected a place such as 'cpu' or 'gpu:0'.", i, op_, text);
}

DataLayout CallArgs::layout(int i) const {
  const auto text = attribute_from<std::string>(attribute(i));
  for (const DataLayout layout :
       {DataLayout::UNDEFINED, DataLayout::ANY, DataLayout::NCHW, DataLayout::NHWC}) {
    if (text == name_of(layout)) return layout;
  }
  throw errors::InvalidArgument("attribute {} of {} is '{}', expected a layout such as 'NCHW'.", i,
                                op_, text);
}

TensorList call_function(std::string_view name, std::vector<TensorList> arguments,
                         std::span<const AttributeValue> attributes) {
  const NamedCall& named = find_call(name);
  CallArgs args(named.name, std::move(arguments), attributes);
  return named.call(args);
}

TensorList call_op(std::string_view name, std::vector<TensorList> arguments,
                   const std::vector<std::pair<std::string, AttributeValue>>& attributes) {
  const std::vector<AttributeValue> values = rules::find(name).attributes(attributes);
  return call_function(name, std::move(arguments), values);
}

}  // namespace phi
