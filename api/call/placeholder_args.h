// A kernel's arguments that have no bytes: named in errors, planned in a dry run.
#pragma once

#include "api/call/kernel_args.h"
#include "phi/common/errors.h"
#include "phi/core/op_def.h"

namespace phi::detail {

/// Adds to an error of a kernel which of its arguments have no bytes.
template <typename... Args>
[[gnu::cold, gnu::noinline]] void name_placeholders(Error& error, const OpDef& op,
                                                    const Args&... args) {
  const auto name = [&](size_t position, const DenseTensor& x) {
    if (op.is_unread(position) || !x.defined() ||
        x.storage()->state() != StorageState::kPlaceholder)
      return;
    error.note(fmt::format("argument '{}' of {}, {}, is a placeholder",
                           op.inputs[static_cast<size_t>(op.taken[position])], op.name,
                           x.meta().to_string()));
  };
  KernelArgs all(name, [](const DenseTensor&) {});
  (all.add(args), ...);
}

/// What a launch would bring here is planned: deferred inputs.
template <typename... Args>
void plan_args(const OpDef& op, const Args&... args) {
  const auto bring = [&](size_t position, const DenseTensor& x) {
    if (!op.is_unread(position) && x.defined() && x.storage()->source()) x.storage()->materialise();
  };
  KernelArgs all(bring, [](const DenseTensor&) {});
  (all.add(args), ...);
}

/// Errors: Unimplemented for an output whose shape only the kernel finds.
template <typename... Args>
void check_shapes_known(const OpDef& op, const Args&... args) {
  const auto check = [&](const DenseTensor& out) {
    PHI_CHECK(out.defined(),
              errors::Unimplemented("the shape of what {} gives depends on data, which neither a "
                                    "dry run nor a captured program has.",
                                    op.name));
  };
  KernelArgs all([](size_t, const DenseTensor&) {}, check);
  (all.add(args), ...);
}

}  // namespace phi::detail
