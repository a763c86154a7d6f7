// Binds sharding of tensors over meshes, and moves between meshes.
#include "python/src/distributed/distributed.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <vector>

#include "distributed/api.h"
#include "distributed/placement/dist_attr.h"
#include "distributed/placement/picture.h"
#include "phi/common/errors.h"
#include "python/src/tensor/method.h"
#include "python/src/tensor/values.h"

namespace phi::python {

namespace nb = nanobind;
using distributed::Placement;
using distributed::ProcessMesh;

namespace {

using Placements = std::vector<Placement>;
using OptionalMesh = std::optional<ProcessMesh>;

// Returns the mesh, or the one that set_mesh has set if there is none.
ProcessMesh mesh_or_default(const OptionalMesh& mesh) {
  return mesh ? *mesh : distributed::get_mesh();
}

// Resolves negative tensor dims: Shard(-1) shards the last one.
Placements of_tensor(Placements placements, int ndim) {
  for (Placement& p : placements) {
    if (p.is_shard() && p.tensor_dim() < 0) {
      p = distributed::Shard(p.tensor_dim() + ndim, p.order());
    }
  }
  return placements;
}

Tensor shard_tensor(nb::handle data, const OptionalMesh& mesh, const Placements& placements) {
  const Tensor x = is_tensor(data.ptr()) ? tensor_of(data.ptr()) : tensor_from(data.ptr(), Py_None);
  const GilRelease others;
  return distributed::shard_tensor(x, mesh_or_default(mesh), of_tensor(placements, x.ndim()));
}

Tensor reshard(const Tensor& x, const OptionalMesh& mesh, const Placements& placements) {
  const GilRelease others;
  return distributed::reshard(x, mesh_or_default(mesh), of_tensor(placements, x.ndim()));
}

distributed::PendingTensor start_reshard(const Tensor& x, const OptionalMesh& mesh,
                                         const Placements& placements) {
  const GilRelease others;
  return distributed::start_reshard(x, mesh_or_default(mesh), of_tensor(placements, x.ndim()));
}

// A rank outside the mesh passes None.
Tensor dtensor_from_local(const std::optional<Tensor>& local, const OptionalMesh& mesh,
                          const Placements& placements) {
  const Tensor part = local.value_or(Tensor());
  const GilRelease others;
  return distributed::dtensor_from_local(
      part, mesh_or_default(mesh),
      part.defined() ? of_tensor(placements, part.ndim()) : placements);
}

Tensor dtensor_to_local(const Tensor& x, const OptionalMesh& mesh,
                        const std::optional<Placements>& placements) {
  if (!placements) return x.local();
  const GilRelease others;
  return distributed::dtensor_to_local(x, mesh_or_default(mesh), of_tensor(*placements, x.ndim()));
}

Tensor unshard_dtensor(const Tensor& x) {
  const GilRelease others;
  return distributed::unshard_dtensor(x);
}

std::string picture_of(const Tensor& x) {
  return distributed::picture(x.shape(), *x.dist().attr());
}

// Returns (rank, [(begin, end) of each tensor dim], whether it is a partial sum) for each rank of
// the mesh.
nb::list boxes(const std::vector<int64_t>& shape, const ProcessMesh& mesh,
               const Placements& placements) {
  const Dims dims(shape);
  const auto* attr = distributed::TensorDistAttr::get(mesh, of_tensor(placements, dims.ndim()));
  attr->check_fits(dims);
  bool partial = false;
  for (const Placement& p : attr->placements()) partial = partial || p.is_partial();
  nb::list list;
  for (const int64_t rank : mesh.ranks()) {
    nb::list ranges;
    const Box box = distributed::local_box(dims, *attr, *mesh.coord_of(rank));
    for (int d = 0; d < box.ndim(); ++d) {
      ranges.append(nb::make_tuple(box.offset[d], box.offset[d] + box.size[d]));
    }
    list.append(nb::make_tuple(rank, ranges, partial));
  }
  return list;
}

std::string picture_of_layout(const std::vector<int64_t>& shape, const ProcessMesh& mesh,
                              const Placements& placements) {
  const Dims dims(shape);
  return distributed::picture(
      dims, *distributed::TensorDistAttr::get(mesh, of_tensor(placements, dims.ndim())));
}

void bind_pending_tensor(nb::module_& module) {
  using distributed::PendingTensor;
  nb::class_<PendingTensor>(module, "PendingTensor", "A reshard in progress.")
      .def("done", &PendingTensor::done,
           "Return whether this rank has sent and received its messages, or failed to. Never "
           "blocks.")
      .def(
          "wait",
          [](PendingTensor& pending) {
            const GilRelease others;
            return pending.wait();
          },
          "Wait for this rank's shard and return the resharded tensor. Call it once.");
}

}  // namespace

void bind_distributed(nb::module_& module) {
  const auto mesh = [] { return nb::arg("mesh").none() = nb::none(); };
  bind_pending_tensor(module);
  module.def("shard_tensor", &shard_tensor, nb::arg("data"), mesh(), nb::arg("placements"),
             "Shard a tensor, or values that autophi.tensor accepts, over a mesh.\n\n"
             "`placements`: one per mesh dim. A plain tensor is the unsharded value, the same on "
             "every rank;\n"
             "each rank keeps its shard.");
  module.def("reshard", &reshard, nb::arg("x"), mesh(), nb::arg("placements"),
             "Reshard a distributed tensor to other placements, another mesh, or both.\n\n"
             "The result is a new value on every rank: writes to x and to the result do not affect "
             "each other.\n"
             "If x has these placements already, the result is x itself. Collective.");
  module.def("start_reshard", &start_reshard, nb::arg("x"), mesh(), nb::arg("placements"),
             "Start a reshard and return while data is in transit.\n\n"
             "wait() returns the tensor. It has the value of x at the start; later writes to x do "
             "not affect it.");
  module.def("dtensor_from_local", &dtensor_from_local, nb::arg("local").none(), mesh(),
             nb::arg("placements"),
             "Return a distributed tensor made of each rank's local shard.\n\n"
             "Collective: ranks exchange the sizes.");
  module.def(
      "dtensor_to_local", &dtensor_to_local, nb::arg("x"), mesh(),
      nb::arg("placements").none() = nb::none(),
      "Return this rank's shard as a plain tensor, after a reshard if placements are passed.");
  module.def(
      "unshard_dtensor", &unshard_dtensor, nb::arg("x"),
      "Return the unsharded value as a new plain tensor on every rank of the job. Collective.");
  module.def(
      "set_mesh",
      [](const OptionalMesh& mesh) { distributed::set_mesh(mesh.value_or(ProcessMesh())); },
      nb::arg("mesh").none(),
      "Set this rank's default mesh for calls without a mesh; None: no default.");
  module.def(
      "get_mesh",
      []() -> OptionalMesh {
        return distributed::has_mesh() ? OptionalMesh(distributed::get_mesh()) : std::nullopt;
      },
      "Return the default mesh of set_mesh, or None.");
  module.def("boxes", &boxes, nb::arg("shape"), nb::arg("mesh"), nb::arg("placements"),
             "Return each rank's box of a tensor: (rank, ranges by dim, partial).");
  module.def("picture_of", &picture_of_layout, nb::arg("shape"), nb::arg("mesh"),
             nb::arg("placements"),
             "Return the picture of a layout, without a tensor. See picture.");
  module.def("picture", &picture_of, nb::arg("x"),
             "Return a drawing, as text, of the shard that each rank stores.");
  method(
      "local", [](const Tensor& x) { return x.local(); },
      "Return this rank's shard as a plain tensor that shares the storage.");
}

}  // namespace phi::python
