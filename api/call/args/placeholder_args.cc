// Implementation of placeholder_args.h.
#include "api/call/args/placeholder_args.h"

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

void plan_arrays(const OpDef& op, const KernelArrays& arrays) {
  for (const KernelArray& x : arrays) {
    if (!x.is_written && !op.is_unread(x.position) && x.array->defined() &&
        x.array->storage()->source())
      x.array->storage()->materialise();
  }
}

void check_shapes_known(const OpDef& op, const KernelArrays& arrays) {
  for (const KernelArray& x : arrays) {
    PHI_CHECK(!x.is_written || x.array->defined(),
              errors::Unimplemented("the output shape of {} depends on data, which is not "
                                    "available in a dry run or a captured program.",
                                    op.name));
  }
}

}  // namespace phi::detail
