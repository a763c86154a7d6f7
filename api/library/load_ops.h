// Loads libraries of operators at run time.
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
  std::vector<std::string> ops;        // operators with kernels, gradients included
  std::vector<OpSignature> functions;  // all functions that call_function can call
};

/// Loads the library of operators in file `path` and returns its operators. The library stays
/// loaded until the process ends; a second call returns the same object and does nothing.
///
/// Errors   NotFound if there is no such file; InvalidArgument if it is not a library of operators,
///          was built with other headers than this program, or is rejected by the system's loader;
///          AlreadyExists if one of its operators or kernels is registered already. After an error
///          none of its operators is registered.
const LoadedOps& load_ops(const std::string& path);

/// All loaded libraries, in the order of loading.
std::vector<LoadedOps> loaded_ops();

}  // namespace phi
