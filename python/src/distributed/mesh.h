// Binds meshes and placements: ProcessMesh, Shard, Replicate, Partial.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <span>

#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"

namespace phi::python {

void bind_meshes(nanobind::module_& module);

/// Return new references; placements are a list.
PyObject* mesh_object(const distributed::ProcessMesh& mesh);
PyObject* placements_object(std::span<const distributed::Placement> placements);

}  // namespace phi::python
