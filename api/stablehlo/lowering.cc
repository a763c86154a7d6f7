// The table of all lowerings, and access to a call's arguments by name.
#include "api/stablehlo/lowering.h"

#include <map>

#include "phi/common/errors.h"

namespace phi::stablehlo {

LoweringContext::LoweringContext(Builder& builder, const ir::Operation& operation,
                                 std::vector<std::optional<Ssa>> inputs,
                                 std::vector<const ir::Value*> outputs)
    : b(builder),
      operation_(operation),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      given_(outputs_.size()) {}

std::optional<size_t> LoweringContext::argument(std::string_view name) const {
  const auto names = operation_.op->inputs;
  for (size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return i;
  }
  return std::nullopt;
}

const Ssa* LoweringContext::optional(std::string_view name) const {
  const auto i = argument(name);
  if (!i) return nullptr;
  const auto slot = static_cast<size_t>(operation_.input_begin[*i]);
  return inputs_[slot] ? &*inputs_[slot] : nullptr;
}

const Ssa& LoweringContext::input(std::string_view name) const {
  const Ssa* found = optional(name);
  if (!found) refuse("without input " + std::string(name));
  return *found;
}

std::vector<Ssa> LoweringContext::list(std::string_view name) const {
  const auto i = argument(name);
  if (!i) refuse("without inputs " + std::string(name));
  std::vector<Ssa> found;
  const auto end = static_cast<size_t>(operation_.input_begin[*i + 1]);
  for (auto slot = static_cast<size_t>(operation_.input_begin[*i]); slot < end; ++slot)
    found.push_back(*inputs_[slot]);
  return found;
}

bool LoweringContext::has(std::string_view name) const {
  for (const ir::Attribute& a : operation_.attributes) {
    if (name == a.name) return true;
  }
  return false;
}

bool LoweringContext::is_absent(std::string_view name) const {
  return std::holds_alternative<std::monostate>(attribute(name).value);
}

const ir::Attribute& LoweringContext::attribute(std::string_view name) const {
  for (const ir::Attribute& a : operation_.attributes) {
    if (name == a.name) return a;
  }
  throw errors::Internal("a call of '{}' was recorded without attribute '{}'.", operation_.op->name,
                         name);
}

namespace {
template <typename T>
const T& value_of(const ir::Attribute& attribute) {
  const T* value = std::get_if<T>(&attribute.value);
  PHI_CHECK(value,
            errors::Internal("attribute '{}' was recorded with another type.", attribute.name));
  return *value;
}
}  // namespace

bool LoweringContext::flag(std::string_view name) const { return value_of<bool>(attribute(name)); }
int64_t LoweringContext::integer(std::string_view name) const {
  return value_of<int64_t>(attribute(name));
}
const std::string& LoweringContext::text(std::string_view name) const {
  return value_of<std::string>(attribute(name));
}
std::vector<int64_t> LoweringContext::integers(std::string_view name) const {
  return value_of<std::vector<int64_t>>(attribute(name));
}
double LoweringContext::number(std::string_view name) const {
  const ir::Attribute& found = attribute(name);
  if (const auto* integer = std::get_if<int64_t>(&found.value))
    return static_cast<double>(*integer);
  if (const auto* flag = std::get_if<bool>(&found.value)) return *flag ? 1.0 : 0.0;
  return value_of<double>(found);
}

void LoweringContext::set_output(size_t slot, const Ssa& value) {
  if (!needs_output(slot)) return;
  const Type type = output_type(slot);
  given_[slot] = b.reshape(b.convert(value, type.element), type.dims);
}

void LoweringContext::refuse(std::string_view what) const {
  throw errors::Unimplemented(
      "operator '{}' {} has no StableHLO lowering; extend its function in api/stablehlo/, or "
      "leave it out of the program.",
      operation_.op->name, what);
}

Lower find_lowering(std::string_view op) {
  static const auto* const table = [] {
    auto* all = new std::map<std::string_view, Lower>;
    for (const auto family :
         {elementwise_lowerings(), unary_grad_lowerings(), reduction_lowerings(),
          matmul_lowerings(), normalisation_lowerings(), cross_entropy_lowerings(),
          attention_lowerings(), rope_lowerings(), lookup_lowerings(), shape_lowerings(),
          creation_lowerings(), random_lowerings(), optimizer_lowerings()}) {
      for (const Lowering& row : family) all->emplace(row.op, row.lower);
    }
    return all;
  }();
  const auto found = table->find(op);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace phi::stablehlo
