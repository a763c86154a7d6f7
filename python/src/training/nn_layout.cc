// Binds layouts, which assign placements to a model's tensors by name.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

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
  nb::class_<Layout>(
      module, "Layout",
      "How a model lies on a mesh, apart from the model. A row is a pattern of names\n"
      "('*' any letters, '?' one) and placements by the names of mesh dims; of rows\n"
      "that meet one tensor the last that speaks of a mesh dim counts.\n\n"
      "    layout = nn.Layout().batches({'dp': Shard(0)})\n"
      "    layout.parameters('block*.up.weight', {'tp': Shard(1)})\n"
      "    layout.outputs('block*.down', {'tp': Replicate()})\n"
      "    nn.shard(model, mesh, layout)")
      .def(nb::init<>())
      .def("parameters", row(&Layout::parameters), nb::arg("pattern"), nb::arg("along"),
           "Parameters, by name; without a row they are whole on every rank.")
      .def("inputs", row(&Layout::inputs), nb::arg("pattern"), nb::arg("along"),
           "What modules are given, by path.")
      .def("outputs", row(&Layout::outputs), nb::arg("pattern"), nb::arg("along"),
           "What modules give, by path.")
      .def("caches", row(&Layout::caches), nb::arg("pattern"), nb::arg("along"),
           "Keys and values [B,S,heads,head size] that Attention modules keep.")
      .def(
          "batches",
          [](nb::object self, nb::dict axis_placements) {
            nb::cast<Layout&>(self).batches(axis_placements_from(axis_placements));
            return self;
          },
          nb::arg("along"), "The model's inputs and labels.")
      .def(
          "pipeline",
          [](nb::object self, const std::string& dim, const std::string& pattern, int64_t chunks) {
            nb::cast<Layout&>(self).pipeline(dim, pattern, chunks);
            return self;
          },
          nb::arg("mesh_dim"), nb::arg("pattern"), nb::arg("chunks") = 1,
          "Links of a Sequential that are shared out to stages, `chunks` to each; those before "
          "are\n"
          "on the first, those behind on the last.")
      .def(
          "zero",
          [](nb::object self, int stage, const std::string& dim) {
            nb::cast<Layout&>(self).zero(stage, dim);
            return self;
          },
          nb::arg("stage"), nb::arg("mesh_dim") = "dp",
          "ZeRO: optimizer states (1), gradients (2) and parameters (3) are split over a mesh dim.")
      .def(
          "tensor_parallel",
          [](nb::object self, const std::string& dim, bool sequence_parallel) {
            nb::cast<Layout&>(self).tensor_parallel(dim, sequence_parallel);
            return self;
          },
          nb::arg("mesh_dim") = "tp", nb::arg("sequence_parallel") = false,
          "Here among the rows those that each module says of itself (add_tensor_parallel).")
      .def(
          "__add__", [](const Layout& self, const Layout& more) { return self + more; },
          nb::arg("more"), nb::is_operator(),
          "The rows of both, those of `more` behind; of what is said once what `more` says.")
      .def("only_along", &Layout::only_along, nb::arg("mesh"),
           "Without what it says of mesh dims that the mesh has not.")
      .def(
          "describe",
          [](const Layout& self, const nn::Layer& model) { return self.describe(model); },
          nb::arg("model"), "A table of what the rows meet.");
}

// Binds layouts of one kind of parallelism each.
void bind_parts(nb::module_& module) {
  module.def(
      "data_parallel", &nn::data_parallel, nb::arg("mesh_dim") = "dp", nb::arg("zero_stage") = 0,
      "The layout that splits batches by rows, and model states as ZeRO's stage says. Layouts "
      "add up:\n"
      "nn.data_parallel('dp', zero_stage=1) + nn.tensor_parallel('tp') + nn.stages('pp', "
      "'block*').");
  module.def("tensor_parallel", &nn::tensor_parallel, nb::arg("mesh_dim") = "tp",
             nb::arg("sequence_parallel") = false,
             "The layout that splits each module as it says of itself: the library's layers as "
             "Megatron-LM\n"
             "does, classes of one's own in add_tensor_parallel(self, layout, tp, "
             "sequence_parallel).");
  module.def("stages", &nn::stages, nb::arg("mesh_dim"), nb::arg("pattern"), nb::arg("chunks") = 1,
             "The layout of a pipeline: links of a Sequential that match are shared out to the "
             "stages along\n"
             "the mesh dim, `chunks` to each.");
}

}  // namespace

void bind_layouts(nb::module_& module) {
  bind_layout(module);
  bind_parts(module);
  module.def(
      "shard", &shard, nb::arg("model"), nb::arg("mesh").none(), nb::arg("layout"),
      "Lays a whole model out on a mesh (None: that of set_mesh): bytes appear for this\n"
      "rank's shards only. Every rank calls it. ValueError for a mesh dim or a placement that\n"
      "does not fit, LookupError with the nearest names for a row that meets nothing; nothing\n"
      "is changed then.");
  module.def(
      "transformer_layout",
      [](const nn::Layer& model, const ProcessMesh& mesh, const std::string& dp,
         const std::string& tp, const std::string& pp, bool sequence_parallel, int zero_stage,
         int64_t chunks, const std::string& blocks) {
        const GilRelease others;
        return nn::transformer_layout(model, mesh,
                                      {.dp = dp,
                                       .tp = tp,
                                       .pp = pp,
                                       .sequence_parallel = sequence_parallel,
                                       .zero_stage = zero_stage,
                                       .chunks = chunks,
                                       .blocks = blocks});
      },
      nb::arg("model"), nb::arg("mesh"), nb::kw_only(), nb::arg("dp") = "dp", nb::arg("tp") = "tp",
      nb::arg("pp") = "pp", nb::arg("sequence_parallel") = false, nb::arg("zero_stage") = 0,
      nb::arg("chunks") = 1, nb::arg("blocks") = "layer*",
      "The layout of a model made of this library's layers, along those of the mesh dims that the\n"
      "mesh has: data, tensor, sequence and pipeline parallel, and ZeRO. Classes of one's own say\n"
      "how they are split in add_tensor_parallel(self, layout, tp, sequence_parallel).");
}

}  // namespace phi::python
