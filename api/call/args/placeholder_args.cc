// Implementation of placeholder_args.h.
#include "api/call/args/placeholder_args.h"

#include <fmt/format.h>

namespace phi::detail {
void name_placeholders(Error& error, const OpDef& op, const KernelArrays& arrays) {
  for (const KernelArray& x : arrays) {
    if (x.is_written || op.is_unread(x.position) || !x.array->defined() ||
        x.array->storage()->state() != StorageState::kPlaceholder)
      continue;
    error.note(fmt::format("argument '{}' of {}, {}, is a placeholder",
                           op.inputs[static_cast<size_t>(op.taken[x.position])], op.name,
                           x.array->meta().to_string()));
  }
}

}  // namespace phi::detail
