// Registers a kind of models of another library or of a program.
//
//   ModelKind my_kind() { return {.name = "mine", .make = make_mine}; }
//   PHI_REGISTER_MODEL(my_kind);
//
// In a program, or in a library that a program links, the kind exists before main. A shared library
// can also be loaded at run time (load_models.h).
#pragma once

#include "api/nn/models/model_kind.h"
#include "phi/generated/abi.h"

namespace phi::nn::models {

class ModelRegistration {
 public:
  /// Adds the kind that `row` returns. If the row is refused, load_models throws the error, or, in
  /// a linked library, the program aborts with a message.
  explicit ModelRegistration(ModelKind (*row)()) : ModelRegistration(row, &AUTOPHI_ABI) {}

 private:
  // `abi`: as in OpLibrary.
  ModelRegistration(ModelKind (*row)(), const char* abi);
};

}  // namespace phi::nn::models

#define PHI_REGISTER_MODEL(row) \
  static const ::phi::nn::models::ModelRegistration phi_registers_##row(row)
