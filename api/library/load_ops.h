// Libraries of operators, loaded at run time.
//
//   const LoadedOps loaded = load_ops("build/libmy_ops.so");
//   call_op("my_gelu", {{x}});
#pragma once

#include <string>
#include <vector>

#include "api/library/op_signature.h"

namespace phi {

struct LoadedOps {
  std::string name;                    // of the library: the target of autophi_add_ops
  std::vector<std::string> ops;        // those with kernels, gradients too
  std::vector<OpSignature> functions;  // all that call_function calls
};

/// The operators of the library in file `path`, which stays loaded as long as the process lives; a
/// second time it gives the same and does nothing. Errors: NotFound where there is no such file;
/// InvalidArgument for one that is no library of operators, or that was built against other headers
/// than this program; AlreadyExists where an operator or a kernel of it is there already; what the
/// system's loader says. After an error none of its operators is there.
const LoadedOps& load_ops(const std::string& path);

/// Everything that was loaded, in order.
std::vector<LoadedOps> loaded_ops();

}  // namespace phi
