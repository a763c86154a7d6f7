// Defines the classes and the constructors of ProcessMesh.
#include "python/src/distributed/mesh.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "phi/common/errors.h"
#include "python/src/base/convert.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/tensor/values.h"

namespace phi::python {

namespace nb = nanobind;
using distributed::Placement;
using distributed::ProcessMesh;

namespace {

// Each kind is a class, so that isinstance(p, Shard) works.
struct Shard : Placement {};
struct Replicate : Placement {};
struct Partial : Placement {};

// ---- meshes ----

std::vector<int64_t> shape_vector(const Dims& dims) { return dims.to_vector(); }

// Makes a mesh from nested lists of ranks, or from a shape and an optional list of ranks (default:
// 0, 1, ..).
ProcessMesh make_mesh(nb::handle mesh, const std::optional<std::vector<std::string>>& dim_names,
                      const std::optional<std::vector<int64_t>>& shape,
                      const std::optional<std::vector<int64_t>>& process_ids) {
  const std::vector<std::string> names = dim_names.value_or(std::vector<std::string>());
  PHI_CHECK(mesh.is_none() != !shape,
            errors::InvalidArgument(
                "ProcessMesh takes either nested lists of ranks (mesh) or a shape, but {} passed.",
                mesh.is_none() ? "neither is" : "both are"));
  if (shape) {
    return process_ids ? ProcessMesh(*shape, names, *process_ids) : ProcessMesh(*shape, names);
  }
  PHI_CHECK(
      !process_ids,
      errors::InvalidArgument(
          "ProcessMesh takes process_ids only with a shape: mesh contains the ranks already."));
  const Tensor ranks = tensor_from(mesh.ptr(), Py_None);
  PHI_CHECK(
      is_integral(ranks.dtype()) && ranks.ndim() > 0,
      errors::InvalidArgument("ProcessMesh takes lists of ranks, which must be integers; got {}.",
                              ranks.to_string()));
  return ProcessMesh(shape_vector(ranks.shape()), names,
                     ranks.to(DataType::INT64).to_vector<int64_t>());
}

int mesh_dim(const ProcessMesh& mesh, nb::handle dim) {
  if (nb::isinstance<nb::str>(dim)) return mesh.dim_of(nb::cast<std::string>(dim));
  const int number = converted<int>(dim.ptr(), {"ProcessMesh", "dim"});
  PHI_CHECK(number >= -mesh.ndim() && number < mesh.ndim(),
            errors::OutOfRange("{} has no mesh dim {}.", mesh.to_string(), number));
  return number < 0 ? number + mesh.ndim() : number;
}

std::optional<std::vector<int64_t>> coord_of(const ProcessMesh& mesh, int64_t rank) {
  const auto coord = mesh.coord_of(rank);
  if (!coord) return std::nullopt;
  return std::vector<int64_t>(coord->begin(), coord->begin() + mesh.ndim());
}

std::string show_mesh(const ProcessMesh& mesh) {
  std::vector<std::string> names;
  for (const std::string& name : mesh.dim_names()) names.push_back("'" + name + "'");
  std::string ranks;
  if (mesh.to_string().find("ranks") != std::string::npos) {
    ranks = fmt::format(", process_ids=[{}]", fmt::join(mesh.ranks(), ", "));
  }
  return fmt::format("ProcessMesh(shape=[{}], dim_names=[{}]{})", fmt::join(mesh.shape(), ", "),
                     fmt::join(names, ", "), ranks);
}

void bind_mesh(nb::module_& module) {
  nb::class_<ProcessMesh>(module, "ProcessMesh",
                          "An n-D array of ranks with named mesh dims.\n\n"
                          "    ProcessMesh([[0, 1], [2, 3]], dim_names=['dp', 'tp'])\n"
                          "    ProcessMesh(shape=[2, 2], dim_names=['dp', 'tp'])    # the same")
      .def(
          "__init__",
          [](ProcessMesh* self, nb::handle mesh, std::optional<std::vector<std::string>> dim_names,
             std::optional<std::vector<int64_t>> shape,
             std::optional<std::vector<int64_t>> process_ids) {
            new (self) ProcessMesh(make_mesh(mesh, dim_names, shape, process_ids));
          },
          nb::arg("mesh").none() = nb::none(), nb::arg("dim_names").none() = nb::none(),
          nb::arg("shape").none() = nb::none(), nb::arg("process_ids").none() = nb::none())
      .def_prop_ro("shape", &ProcessMesh::shape)
      .def_prop_ro("ndim", &ProcessMesh::ndim)
      .def_prop_ro("size", &ProcessMesh::size)
      .def_prop_ro("dim_names", &ProcessMesh::dim_names)
      .def_prop_ro("process_ids", &ProcessMesh::ranks, "All ranks, in row-major order.")
      .def(
          "get_dim_size",
          [](const ProcessMesh& mesh, nb::handle dim) {
            return mesh.dim_size(mesh_dim(mesh, dim));
          },
          nb::arg("dim"),
          "Return the number of ranks along a mesh dim, which is a name or an index.")
      .def("contains", &ProcessMesh::contains, nb::arg("rank"))
      .def("__contains__", &ProcessMesh::contains, nb::arg("rank"))
      .def("coord_of", &coord_of, nb::arg("rank"),
           "Return the coordinates of a rank; None outside the mesh.")
      .def(
          "slice",
          [](const ProcessMesh& mesh, nb::handle dim, int64_t index) {
            return mesh.slice(mesh_dim(mesh, dim), index);
          },
          nb::arg("dim"), nb::arg("index"),
          "Return the sub-mesh at `index` along a mesh dim, without that dim.")
      .def(
          "__eq__",
          [](const ProcessMesh& a, nb::handle b) {
            const ProcessMesh* other = nullptr;
            return nb::try_cast(b, other) && other != nullptr && *other == a;
          },
          nb::arg("other").none())
      .def("__hash__", [](const ProcessMesh& mesh) { return std::hash<const void*>()(mesh.id()); })
      .def("__repr__", &show_mesh)
      .def("__str__", &ProcessMesh::to_string)
      .def("__reduce__", [](const ProcessMesh& mesh) {
        return nb::make_tuple(nb::type<ProcessMesh>(), nb::make_tuple(nb::none(), mesh.dim_names(),
                                                                      mesh.shape(), mesh.ranks()));
      });
}

// ---- placements ----

nb::object placement_object(const Placement& placement) {
  switch (placement.kind()) {
    case Placement::Kind::kShard:
      return nb::cast(Shard{placement});
    case Placement::Kind::kPartial:
      return nb::cast(Partial{placement});
    default:
      return nb::cast(Replicate{placement});
  }
}

std::string show_placement(const Placement& p) {
  if (p.is_replicate()) return "Replicate()";
  if (p.is_partial()) return fmt::format("Partial('{}')", name_of(p.reduce()));
  return p.order() == 0 ? fmt::format("Shard({})", p.tensor_dim())
                        : fmt::format("Shard({}, order={})", p.tensor_dim(), p.order());
}

nb::tuple reduce_placement(const Placement& p) {
  if (p.is_shard()) {
    return nb::make_tuple(nb::type<Shard>(), nb::make_tuple(p.tensor_dim(), p.order()));
  }
  if (p.is_replicate()) return nb::make_tuple(nb::type<Replicate>(), nb::make_tuple());
  return nb::make_tuple(nb::type<Partial>(), nb::make_tuple(std::string(name_of(p.reduce()))));
}

int8_t small(int number, const char* what) {
  PHI_CHECK(number >= -kMaxNdim && number <= kMaxNdim,
            errors::InvalidArgument("Shard: {} is {}; at most {} tensor dims are supported.", what,
                                    number, kMaxNdim));
  return static_cast<int8_t>(number);
}

void bind_placements(nb::module_& module) {
  nb::class_<Placement>(module, "Placement", "Placement of a tensor along one mesh dim.")
      .def(
          "is_shard",
          [](const Placement& p, std::optional<int> dim) {
            return dim ? p.is_shard(*dim) : p.is_shard();
          },
          nb::arg("dim").none() = nb::none())
      .def("is_replicate", &Placement::is_replicate)
      .def("is_replicated", &Placement::is_replicate)
      .def("is_partial", &Placement::is_partial)
      .def(
          "__eq__",
          [](const Placement& a, nb::handle b) {
            const Placement* other = nullptr;
            return nb::try_cast(b, other) && other != nullptr && *other == a;
          },
          nb::arg("other").none())
      .def("__hash__", [](const Placement& p) { return std::hash<std::string>()(p.to_string()); })
      .def("__repr__", &show_placement)
      .def("__str__", &Placement::to_string)
      .def("__reduce__", &reduce_placement);
  nb::class_<Shard, Placement>(module, "Shard",
                               "Placement: tensor dim `dim` is split along the mesh dim.")
      .def(
          "__init__",
          [](Shard* self, int dim, int order) {
            new (self) Shard{distributed::Shard(small(dim, "dim"), small(order, "order"))};
          },
          nb::arg("dim"), nb::arg("order") = 0)
      .def_prop_ro("dim", [](const Shard& p) { return p.tensor_dim(); })
      .def_prop_ro("order", [](const Shard& p) { return p.order(); })
      .def("get_dim", [](const Shard& p) { return p.tensor_dim(); });
  nb::class_<Replicate, Placement>(
      module, "Replicate", "Placement: every rank along the mesh dim stores the same value.")
      .def("__init__", [](Replicate* self) { new (self) Replicate{distributed::Replicate()}; });
  nb::class_<Partial, Placement>(module, "Partial",
                                 "Placement: the value is the sum (or max, ...) of the values of "
                                 "the ranks along the mesh dim.")
      .def(
          "__init__",
          [](Partial* self, const std::string& reduce) {
            new (self) Partial{distributed::Partial(distributed::parse_reduce_kind(reduce))};
          },
          nb::arg("reduce_type") = "sum")
      .def_prop_ro("reduce_type",
                   [](const Partial& p) { return std::string(name_of(p.reduce())); });
}

}  // namespace

PyObject* mesh_object(const ProcessMesh& mesh) { return nb::cast(mesh).release().ptr(); }

PyObject* placements_object(std::span<const Placement> placements) {
  nb::list list;
  for (const Placement& placement : placements) list.append(placement_object(placement));
  return list.release().ptr();
}

void bind_meshes(nb::module_& module) {
  bind_mesh(module);
  bind_placements(module);
}

}  // namespace phi::python
