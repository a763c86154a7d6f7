// Operators by name.
#include "phi/core/op_def.h"

#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi {

const OpDef& ops::find(std::string_view name) {
  std::vector<std::string> names;
  for (const OpDef* op : all()) {
    if (name == op->name) return *op;
    names.emplace_back(op->name);
  }
  throw errors::NotFound("there is no operator '{}'; the nearest are {}.", name,
                         nearest_three(name, names));
}

}  // namespace phi
