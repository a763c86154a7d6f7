// Defines the extension module autophi._autophi, on which the package autophi is built.
#include <nanobind/nanobind.h>

#include "python/src/base/dtype.h"
#include "python/src/base/errors.h"
#include "python/src/base/interruption.h"
#include "python/src/distributed/distributed.h"
#include "python/src/distributed/mesh.h"
#include "python/src/distributed/schedules.h"
#include "python/src/ops/loaded_ops.h"
#include "python/src/ops/op_function.h"
#include "python/src/programs/spmd.h"
#include "python/src/programs/testing.h"
#include "python/src/tensor/array.h"
#include "python/src/tensor/autograd.h"
#include "python/src/tensor/dlpack.h"
#include "python/src/tensor/random_seed.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/tensor/values.h"
#include "python/src/training/nn.h"
#include "python/src/training/training.h"

namespace phi::python {
namespace {

// Binds what is built on tensors: modules, training, programs.
void bind_library(nanobind::module_& module) {
  auto nn = module.def_submodule("nn");
  bind_modules(nn);
  bind_initialisers(nn);
  bind_layers(nn);
  bind_layouts(nn);
  bind_models(nn);
  auto optim = module.def_submodule("optim");
  bind_optimizers(optim);
  auto capture = module.def_submodule("capture");
  bind_capture(capture);
  bind_explanations(capture);
  bind_predictions(capture);
  bind_dry_worlds(capture);
  auto training = module.def_submodule("training");
  bind_training(training);
  bind_micro_batch(training);
  auto checkpoint = module.def_submodule("checkpoint");
  bind_checkpoints(checkpoint);
  auto data = module.def_submodule("data");
  bind_data(data);
  auto generation = module.def_submodule("generation");
  bind_generation(generation);
}

}  // namespace
}  // namespace phi::python

NB_MODULE(_autophi, module) {
  namespace python = phi::python;
  // Types, dtypes and operators live until the process ends; this is not a leak.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = AUTOPHI_VERSION;
  python::register_errors();
  python::let_signals_interrupt();
  python::make_dtypes(module);
  python::make_tensor_type(module.ptr());
  auto ops = module.def_submodule("ops");
  python::make_op_functions(ops.ptr());
  python::bind_loaded_ops(module, ops);
  python::bind_values(module);
  python::bind_arrays(module);
  python::bind_dlpack(module);
  python::bind_meshes(module);
  python::bind_autograd(module);
  python::bind_random_seed(module);
  auto distributed = module.def_submodule("distributed");
  python::bind_distributed(distributed);
  python::bind_ranks(distributed);
  python::bind_library(module);
  python::bind_schedules(distributed);
  auto spmd = module.def_submodule("spmd");
  python::bind_spmd(spmd);
  auto testing = module.def_submodule("testing");
  python::bind_testing(testing);
}
