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
  nb::class_<PendingTensor>(module, "PendingTensor", "A reshard that is under way.")
      .def("done", &PendingTensor::done,
           "This rank has sent and received its messages, or failed to. Never blocks.")
      .def(
          "wait",
          [](PendingTensor& pending) {
            const GilRelease others;
            return pending.wait();
          },
          "The resharded tensor, when this rank's part has arrived. Once.");
}

}  // namespace

void bind_distributed(nb::module_& module) {
  const auto mesh = [] { return nb::arg("mesh").none() = nb::none(); };
  bind_pending_tensor(module);
  module.def(
      "shard_tensor", &shard_tensor, nb::arg("data"), mesh(), nb::arg("placements"),
      "Lays a tensor, or values that autophi.tensor takes, out on a mesh: one placement for\n"
      "each mesh dim. A plain tensor is the whole value, the same on every rank; each takes "
      "its part.");
  module.def(
      "reshard", &reshard, nb::arg("x"), mesh(), nb::arg("placements"),
      "Moves a distributed tensor to other placements, another mesh, or both. The result is a\n"
      "new value on every rank: no write to x or to it is seen in the other. Where x lies so\n"
      "already it is x itself.");
  module.def(
      "start_reshard", &start_reshard, nb::arg("x"), mesh(), nb::arg("placements"),
      "Begins a reshard and returns while bytes are on their way; wait() gives the tensor: x\n"
      "as it was at the start, whoever writes to x meanwhile.");
  module.def("dtensor_from_local", &dtensor_from_local, nb::arg("local").none(), mesh(),
             nb::arg("placements"),
             "A distributed tensor of each rank's own part; ranks tell each other the sizes.");
  module.def("dtensor_to_local", &dtensor_to_local, nb::arg("x"), mesh(),
             nb::arg("placements").none() = nb::none(),
             "This rank's part as a plain tensor, after a reshard where placements are given.");
  module.def("unshard_dtensor", &unshard_dtensor, nb::arg("x"),
             "The whole value as a plain tensor, on every rank of the job; a new value.");
  module.def(
      "set_mesh",
      [](const OptionalMesh& mesh) { distributed::set_mesh(mesh.value_or(ProcessMesh())); },
      nb::arg("mesh").none(), "The mesh that calls without one mean, on this rank; None: none.");
  module.def(
      "get_mesh",
      []() -> OptionalMesh {
        return distributed::has_mesh() ? OptionalMesh(distributed::get_mesh()) : std::nullopt;
      },
      "The mesh that set_mesh has set, or None.");
  module.def("boxes", &boxes, nb::arg("shape"), nb::arg("mesh"), nb::arg("placements"),
             "What each rank of a mesh would hold of a tensor: (rank, ranges by dim, partial).");
  module.def("picture_of", &picture_of_layout, nb::arg("shape"), nb::arg("mesh"),
             nb::arg("placements"), "As picture, of a tensor that there need not be.");
  module.def("picture", &picture_of, nb::arg("x"), "Which rank holds which part, drawn in text.");
  method(
      "local", [](const Tensor& x) { return x.local(); },
      "This rank's part as a plain tensor that shares the bytes.");
}

}  // namespace phi::python
