// How the parameters of a job lie on its mesh, for the report.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/nn/module.h"
#include "distributed/mesh/process_mesh.h"

namespace phi::job {

struct ParameterPlacement {
  std::string name;
  std::vector<int64_t> shape;                               // global
  std::vector<std::pair<std::string, std::string>> by_dim;  // {{"dp", "R"}, {"tp", "S1"}}
  int64_t stage = 0;                                        // of the pipeline
};

/// One entry per parameter of a model that is laid out on `mesh` or on sub-meshes of it, in the
/// order of named_parameters().
std::vector<ParameterPlacement> placements_of(const nn::Module& model,
                                              const distributed::ProcessMesh& mesh);

/// [{"name", "shape", "placements": {"dp": "R", "tp": "S1"}, "stage"}, ..]
nlohmann::ordered_json to_json(const std::vector<ParameterPlacement>& placements);

}  // namespace phi::job
