// The extension module autophi._autophi: what the package autophi is made of.
#include <nanobind/nanobind.h>

#include "python/src/array.h"
#include "python/src/autograd.h"
#include "python/src/distributed.h"
#include "python/src/dlpack.h"
#include "python/src/dtype.h"
#include "python/src/errors.h"
#include "python/src/loaded_ops.h"
#include "python/src/mesh.h"
#include "python/src/op_function.h"
#include "python/src/schedules.h"
#include "python/src/spmd.h"
#include "python/src/tensor_object.h"
#include "python/src/testing.h"
#include "python/src/values.h"

NB_MODULE(_autophi, module) {
  namespace python = phi::python;
  // Types and dtypes stay for as long as the process lives, as the operators of the library do.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = AUTOPHI_VERSION;
  python::register_errors();
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
  auto distributed = module.def_submodule("distributed");
  python::bind_distributed(distributed);
  python::bind_ranks(distributed);
  python::bind_schedules(distributed);
  auto spmd = module.def_submodule("spmd");
  python::bind_spmd(spmd);
  auto testing = module.def_submodule("testing");
  python::bind_testing(testing);
}
