// OpLibrary: registers the operators of a library when the library is linked or loaded.
//
// The generator writes one object per library (api_gen --library); autophi_add_ops of the installed
// package builds the library. load_ops.h loads one at run time.
#pragma once

#include <span>
#include <vector>

#include "api/call/named_call.h"
#include "api/library/op_signature.h"
#include "phi/core/op_registry.h"
#include "phi/generated/abi.h"

namespace phi {

class OpLibrary {
 public:
  using Signatures = std::vector<OpSignature> (*)();
  /// Adds the operators to ops::all(), to rules::all() and to the functions of call_op. If one of
  /// them is registered already, adds none: load_ops throws the error, or, in a linked library, the
  /// program aborts with a message.
  OpLibrary(const char* name, std::span<const OpDef* const> ops, std::span<const NamedCall> calls,
            Signatures signatures, std::span<const CompatName> compat_names = {})
      : OpLibrary(name, ops, calls, signatures, compat_names, &AUTOPHI_ABI) {}

 private:
  // `abi` is the symbol whose name identifies the headers of the compilation. A program that was
  // built with other headers does not define it, so the reference fails to resolve.
  OpLibrary(const char* name, std::span<const OpDef* const> ops, std::span<const NamedCall> calls,
            Signatures signatures, std::span<const CompatName> compat_names, const char* abi);
};

}  // namespace phi
