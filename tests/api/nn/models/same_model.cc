// A library whose second kind has a name that is taken.
#include "api/nn/models/register_model.h"

namespace phi::nn::models {
namespace {

ModelKind row_named(const char* name) {
  return {.name = name,
          .samples = SampleKind::kImages,
          .keys = {size_key("channels", 3), size_key("classes", 10)},
          .make = [](const ModelValues&) { return std::make_unique<Sequential>(); }};
}
ModelKind free_kind() { return row_named("t_free"); }
ModelKind taken_kind() { return row_named("resnet"); }

PHI_REGISTER_MODEL(free_kind);
PHI_REGISTER_MODEL(taken_kind);

}  // namespace
}  // namespace phi::nn::models
