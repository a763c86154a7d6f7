// The list of operators: those of this library, and added ones.
#include "phi/core/op_def.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"
#include "phi/core/op_registry.h"

namespace phi {
namespace {

using List = std::vector<const OpDef*>;

struct OpTable {
  std::mutex adding;
  // Callers may keep a span of any earlier list, so no list is destroyed.
  std::vector<std::unique_ptr<const List>> lists;
  std::atomic<const List*> current = nullptr;
};
OpTable& op_table() {
  static auto& instance = *new OpTable;
  return instance;
}

}  // namespace

std::span<const OpDef* const> ops::all() {
  const List* list = op_table().current.load(std::memory_order_acquire);
  return list != nullptr ? std::span(*list) : built_in_ops();
}

void add_ops(std::span<const OpDef* const> added) {
  const std::lock_guard lock(op_table().adding);
  const auto present = ops::all();
  auto list = std::make_unique<List>(present.begin(), present.end());
  std::set<std::string_view> names;
  for (const OpDef* op : present) names.insert(op->name);
  std::vector<std::string_view> taken;
  for (const OpDef* op : added) {
    if (!names.insert(op->name).second) taken.emplace_back(op->name);
    list->push_back(op);
  }
  PHI_CHECK(taken.empty(), errors::AlreadyExists(
                               "the operator{} '{}' {} already registered; rename {} in the YAML.",
                               taken.size() > 1 ? "s" : "", fmt::join(taken, "', '"),
                               taken.size() > 1 ? "are" : "is", taken.size() > 1 ? "them" : "it"));
  op_table().lists.push_back(std::move(list));
  op_table().current.store(op_table().lists.back().get(), std::memory_order_release);
}

namespace {

struct CompatNames {
  std::mutex mutex;
  std::vector<std::span<const CompatName>> tables = {built_in_compat_names()};
};
CompatNames& compat_names() {
  static auto& instance = *new CompatNames;
  return instance;
}

template <typename Is>
const CompatName* find_compat_name(const Is& is) {
  const std::lock_guard lock(compat_names().mutex);
  for (const std::span<const CompatName> op_table : compat_names().tables) {
    for (const CompatName& name : op_table) {
      if (is(name)) return &name;
    }
  }
  return nullptr;
}

}  // namespace

void add_compat_names(std::span<const CompatName> names) {
  const std::lock_guard lock(compat_names().mutex);
  compat_names().tables.push_back(names);
}

std::string_view op_by_compat_name(std::string_view other) {
  const CompatName* found = find_compat_name(
      [&](const CompatName& name) { return other == name.other && *name.argument == '\0'; });
  return found != nullptr ? found->op : "";
}

std::string_view argument_by_compat_name(std::string_view op, std::string_view other) {
  const CompatName* found = find_compat_name([&](const CompatName& name) {
    return op == name.op && other == name.other && *name.argument;
  });
  return found != nullptr ? found->argument : "";
}

const OpDef& ops::find(std::string_view name) {
  std::vector<std::string> names;
  for (const OpDef* op : all()) {
    if (name == op->name) return *op;
    names.emplace_back(op->name);
  }
  if (const std::string_view here = op_by_compat_name(name); !here.empty()) return find(here);
  throw errors::NotFound("there is no operator '{}'; the nearest are {}.", name,
                         nearest_three(name, names));
}

}  // namespace phi
