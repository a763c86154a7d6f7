// Binds checkpoints: named tensors on disk, which can be loaded onto any mesh.
#include "api/tensor/checkpoint.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/autograd/autograd.h"
#include "api/nn/checkpoint.h"
#include "python/src/base/dtype.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/nn.h"
#include "python/src/training/training.h"

namespace phi::python {

namespace nb = nanobind;
namespace checkpoint = distributed::checkpoint;
using checkpoint::Checkpoint;

namespace {

using Metadata = std::map<std::string, std::string>;

void save(const std::string& folder, const nn::NamedTensors& tensors, const Metadata& metadata) {
  const GilRelease others;
  checkpoint::save(folder, tensors, {.metadata = metadata});
}

void load_tensors(const Checkpoint& from, const nn::NamedTensors& tensors, bool extras) {
  const GilRelease others;
  const NoGrad no_grad;
  checkpoint::load(from, tensors,
                   extras ? Checkpoint::Extras::kAllowed : Checkpoint::Extras::kRefused);
}

nb::dict metas(const Checkpoint& from) {
  nb::dict dict;
  for (const std::string& name : from.names()) {
    const TensorMeta& meta = from.meta(name);
    dict[nb::cast(name)] = nb::make_tuple(nb::tuple(nb::cast(meta.dims.to_vector())),
                                          nb::borrow(dtype_object(meta.dtype)));
  }
  return dict;
}

// Destroying a PendingSave that is not complete abandons the save.
void bind_pending_save(nb::module_& module) {
  nb::class_<checkpoint::PendingSave>(module, "PendingSave", "A save in progress.")
      .def("done", &checkpoint::PendingSave::done,
           "Return whether this rank has finished its writes. Never blocks.")
      .def(
          "poll",
          [](checkpoint::PendingSave& self) {
            const GilRelease others;
            return self.poll();
          },
          "Return whether the save is complete. Collective; does not wait for the disk.")
      .def(
          "wait",
          [](checkpoint::PendingSave& self) {
            const GilRelease others;
            self.wait();
          },
          "Wait until the save is complete. Collective. Errors are the same on all ranks.");
}

void bind_checkpoint(nb::module_& module) {
  nb::class_<Checkpoint>(module, "Checkpoint",
                         "Tensors on disk. Each rank reads its own boxes only.")
      .def("names", &Checkpoint::names)
      .def("metas", &metas, "Return (shape, dtype on disk) by name.")
      .def_prop_ro("metadata", [](const Checkpoint& self) { return self.metadata(); })
      .def_prop_ro("bytes_read", &Checkpoint::bytes_read)
      .def("__contains__", &Checkpoint::contains, nb::arg("name"))
      .def(
          "tensor",
          [](const Checkpoint& self, const std::string& name, nb::handle dtype) {
            return checkpoint::deferred(self, name,
                                        dtype.is_none()
                                            ? DataType::UNDEFINED
                                            : dtype_from(dtype.ptr(), {"tensor", "dtype"}));
          },
          nb::arg("name"), nb::arg("dtype").none() = nb::none(),
          "Return a tensor that is read at first use. shard_tensor reads this rank's shard only.");
}

}  // namespace

void bind_checkpoints(nb::module_& module) {
  bind_pending_save(module);
  bind_checkpoint(module);
  module.def(
      "open",
      [](const std::string& path) {
        const GilRelease others;
        return checkpoint::open(path);
      },
      nb::arg("path"),
      "Open the checkpoint in a folder, or one .safetensors file. No communication.");
  module.def("save", &save, nb::arg("folder"), nb::arg("tensors"), nb::kw_only(),
             nb::arg("metadata") = Metadata());
  module.def(
      "start_save",
      [](const std::string& folder, const nn::NamedTensors& tensors, const Metadata& metadata) {
        const GilRelease others;
        return checkpoint::start_save(folder, tensors, {.metadata = metadata});
      },
      nb::arg("folder"), nb::arg("tensors"), nb::kw_only(), nb::arg("metadata") = Metadata());
  module.def("load", &load_tensors, nb::arg("checkpoint"), nb::arg("tensors"), nb::kw_only(),
             nb::arg("extras") = false);
  module.def(
      "save_model",
      [](const std::string& folder, const nn::Layer& model) {
        const GilRelease others;
        nn::save(folder, model);
      },
      nb::arg("folder"), nb::arg("model"));
  module.def(
      "load_model",
      [](const std::string& folder, nn::Layer& model) {
        const GilRelease others;
        const NoGrad no_grad;
        nn::load(checkpoint::open(folder), &model);
      },
      nb::arg("folder"), nb::arg("model"));
}

}  // namespace phi::python
