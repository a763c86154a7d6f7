// Loads libraries of models at run time.
//
//   load_models("build/libmy_models.so");
//   const ModelKind& kind = model_kind("mine");
#pragma once

#include <string>
#include <vector>

namespace phi::nn::models {

/// Loads a library whose sources register kinds with PHI_REGISTER_MODEL, and returns their names.
/// The library stays loaded; a second call returns the same and does nothing. Operators of the
/// library are registered as those of a linked library are.
///
/// Errors   NotFound if there is no such file; InvalidArgument if it registers no model, was built
///          with other headers than this program, or is rejected by the system's loader; as
///          add_model_kinds. After an error none of its kinds is registered.
std::vector<std::string> load_models(const std::string& path);

}  // namespace phi::nn::models
