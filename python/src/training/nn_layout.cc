// Binds layouts, which assign placements to a model's tensors by name.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/autograd/autograd.h"
#include "api/nn/layout/layout.h"
#include "api/nn/layout/parallelism.h"
#include "api/nn/layout/shard.h"
#include "distributed/api.h"
#include "python/src/base/convert.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/nn.h"

namespace phi::python {

namespace nb = nanobind;
using distributed::ProcessMesh;
using nn::Layout;

namespace {

// Converts {"tp": Shard(1), "dp": Replicate()}.
nn::AxisPlacements axis_placements_from(nb::dict placements) {
  nn::AxisPlacements axis_placements;
  for (auto [dim, placement] : placements) {
    distributed::Placement* p = nullptr;
    if (!nb::isinstance<nb::str>(dim)) refuse({"Layout", "mesh dim"}, "str", dim.ptr());
    if (!nb::try_cast(placement, p) || p == nullptr) {
      refuse({"Layout", "placement"}, "Shard or Replicate", placement.ptr());
    }
    axis_placements.emplace_back(nb::cast<std::string>(dim), *p);
  }
  return axis_placements;
}

using LayoutMethod = Layout& (Layout::*)(std::string, nn::AxisPlacements);

auto row(LayoutMethod add) {
  return [add](nb::object self, const std::string& pattern, nb::dict axis_placements) {
    (nb::cast<Layout&>(self).*add)(pattern, axis_placements_from(axis_placements));
    return self;
  };
}

ProcessMesh layout_mesh(const std::optional<ProcessMesh>& mesh) {
  return mesh ? *mesh : distributed::get_mesh();
}

void shard(nn::Layer& model, const std::optional<ProcessMesh>& mesh, const Layout& layout) {
  const GilRelease others;
  const NoGrad no_grad;
  nn::shard(model, layout_mesh(mesh), layout);
}

void bind_layout(nb::module_& module) {
  nb::class_<Layout>(module, "Layout",
                     "Placements of a model over a mesh, separate from the model.\n\n"
                     "A row is a pattern of names ('*' any letters, '?' one) with placements by "
                     "mesh dim. If several\n"
                     "rows match a tensor, the last one that sets a mesh dim decides.\n\n"
                     "    layout = nn.Layout().batches({'dp': Shard(0)})\n"
                     "    layout.parameters('block*.up.weight', {'tp': Shard(1)})\n"
                     "    layout.outputs('block*.down', {'tp': Replicate()})\n"
                     "    nn.shard(model, mesh, layout)")
      .def(nb::init<>())
      .def("parameters", row(&Layout::parameters), nb::arg("pattern"), nb::arg("along"),
           "Place parameters, by name. Parameters without a row are replicated.")
      .def("inputs", row(&Layout::inputs), nb::arg("pattern"), nb::arg("along"),
           "Place inputs of modules, by path.")
      .def("outputs", row(&Layout::outputs), nb::arg("pattern"), nb::arg("along"),
           "Place outputs of modules, by path.")
      .def("caches", row(&Layout::caches), nb::arg("pattern"), nb::arg("along"),
           "Place keys and values [B,S,heads,head size] that Attention modules cache.")
      .def(
          "batches",
          [](nb::object self, nb::dict axis_placements) {
            nb::cast<Layout&>(self).batches(axis_placements_from(axis_placements));
            return self;
          },
          nb::arg("along"), "Place the model's inputs and labels.")
      .def(
          "pipeline",
          [](nb::object self, const std::string& dim, const std::string& pattern, int64_t chunks,
             std::vector<int64_t> cut) {
            nb::cast<Layout&>(self).pipeline(dim, pattern, chunks, std::move(cut));
            return self;
          },
          nb::arg("mesh_dim"), nb::arg("pattern"), nb::arg("chunks") = 1,
          nb::arg("cut") = std::vector<int64_t>(),
          "Distribute matching links of a Sequential over pipeline stages, `chunks` per stage.\n\n"
          "Links before them are placed on the first stage, links after them on the last.\n"
          "`cut`: number of matching links of each chunk, in the order of the model; empty: "
          "evenly.")
      .def(
          "zero",
          [](nb::object self, int stage, const std::string& dim) {
            nb::cast<Layout&>(self).zero(stage, dim);
            return self;
          },
          nb::arg("stage"), nb::arg("mesh_dim") = "dp",
          "Shard optimizer states (ZeRO 1), gradients (2) and parameters (3) over a mesh dim.")
      .def(
          "tensor_parallel",
          [](nb::object self, const std::string& dim, bool sequence_parallel) {
            nb::cast<Layout&>(self).tensor_parallel(dim, sequence_parallel);
            return self;
          },
          nb::arg("mesh_dim") = "tp", nb::arg("sequence_parallel") = false,
          "Insert the rows that each module defines for itself (add_tensor_parallel).")
      .def(
          "__add__", [](const Layout& self, const Layout& more) { return self + more; },
          nb::arg("more"), nb::is_operator(),
          "Concatenate the rows of both layouts. If both set an option, the value of `more` is "
          "used.")
      .def("only_along", &Layout::only_along, nb::arg("mesh"),
           "Return the layout without the mesh dims that the mesh does not have.")
      .def(
          "describe",
          [](const Layout& self, const nn::Layer& model) { return self.describe(model); },
          nb::arg("model"), "Return a table of the tensors that the rows match.");
}

// Binds layouts of one kind of parallelism each.
void bind_parts(nb::module_& module) {
  module.def("data_parallel", &nn::data_parallel, nb::arg("mesh_dim") = "dp",
             nb::arg("zero_stage") = 0,
             "Return a layout that shards batches over rows and model states by ZeRO stage.\n\n"
             "Layouts add up:\n"
             "nn.data_parallel('dp', zero_stage=1) + nn.tensor_parallel('tp') + nn.stages('pp', "
             "'block*').");
  module.def(
      "tensor_parallel", &nn::tensor_parallel, nb::arg("mesh_dim") = "tp",
      nb::arg("sequence_parallel") = false,
      "Return a layout that shards each module by its own rows.\n\n"
      "Layers of this library are sharded as in Megatron-LM. Custom classes define their rows in\n"
      "add_tensor_parallel(self, layout, tp, sequence_parallel).");
  module.def("stages", &nn::stages, nb::arg("mesh_dim"), nb::arg("pattern"), nb::arg("chunks") = 1,
             nb::arg("cut") = std::vector<int64_t>(),
             "Return a pipeline layout: matching links of a Sequential are distributed over the "
             "stages.\n\n"
             "`chunks`: number of chunks per stage along the mesh dim.\n"
             "`cut`: number of matching links of each chunk, in the order of the model; empty: "
             "evenly.");
}

}  // namespace

void bind_layouts(nb::module_& module) {
  bind_layout(module);
  bind_parts(module);
  module.def("shard", &shard, nb::arg("model"), nb::arg("mesh").none(), nb::arg("layout"),
             "Shard a model over a mesh (None: the default mesh of set_mesh).\n\n"
             "Storage is allocated for this rank's shards only. Collective. ValueError for a mesh "
             "dim or a\n"
             "placement that does not fit; LookupError, with the nearest names, for a row that "
             "matches no name.\n"
             "The model is unchanged then.");
  module.def(
      "transformer_layout",
      [](const nn::Layer& model, const ProcessMesh& mesh, const std::string& dp,
         const std::string& tp, const std::string& pp, bool sequence_parallel, int zero_stage,
         int64_t chunks, const std::string& blocks, const std::vector<int64_t>& cut) {
        const GilRelease others;
        return nn::transformer_layout(model, mesh,
                                      {.dp = dp,
                                       .tp = tp,
                                       .pp = pp,
                                       .sequence_parallel = sequence_parallel,
                                       .zero_stage = zero_stage,
                                       .chunks = chunks,
                                       .cut = cut,
                                       .blocks = blocks});
      },
      nb::arg("model"), nb::arg("mesh"), nb::kw_only(), nb::arg("dp") = "dp", nb::arg("tp") = "tp",
      nb::arg("pp") = "pp", nb::arg("sequence_parallel") = false, nb::arg("zero_stage") = 0,
      nb::arg("chunks") = 1, nb::arg("blocks") = "layer*", nb::arg("cut") = std::vector<int64_t>(),
      "Return a layout for a model made of this library's layers, over the mesh dims of the "
      "mesh.\n\n"
      "It combines data, tensor, sequence and pipeline parallelism, and ZeRO. Custom classes "
      "define how\n"
      "they are sharded in add_tensor_parallel(self, layout, tp, sequence_parallel).");
}

}  // namespace phi::python
