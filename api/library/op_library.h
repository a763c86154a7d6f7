// OpLibrary: how a library of operators tells the program of them, when it is linked or loaded.
//
// Generated code has the one object (api_gen --library); autophi_add_ops of the installed package
// makes the rest. A program that loads such a library at run time: load_ops.h.
#pragma once

#include <span>
#include <vector>

#include "api/call/named_call.h"
#include "api/library/op_signature.h"
#include "phi/core/added_ops.h"
#include "phi/generated/abi.h"

namespace phi {

class OpLibrary {
 public:
  using Signatures = std::vector<OpSignature> (*)();
  /// The operators join ops::all(), rules::all() and what call_op calls. Where one is there
  /// already, none of them does, and the program ends with a message; while the library is loaded,
  /// load_ops has the error.
  OpLibrary(const char* name, std::span<const OpDef* const> ops, std::span<const NamedCall> calls,
            Signatures signatures, std::span<const OtherName> other_names = {})
      : OpLibrary(name, ops, calls, signatures, other_names, &AUTOPHI_ABI) {}

 private:
  // The symbol's name says against which headers this was compiled: in a library of others it is
  // not there.
  OpLibrary(const char* name, std::span<const OpDef* const> ops, std::span<const NamedCall> calls,
            Signatures signatures, std::span<const OtherName> other_names, const char* abi);
};

}  // namespace phi
