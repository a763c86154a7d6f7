// Converts captured programs to StableHLO text with Shardy meshes and shardings, for XLA.
//
//   phi::Program program = phi::capture(step, {x});
//   std::string text = program.to_stablehlo({.inputs = {"x", "weight"}});
//
// The text describes the global program: every value has its global shape. Placements are
// annotations (`sdy.sharding`), which do not change values. docs/stablehlo.md explains meshes,
// pipeline stages, partial values and uneven shards.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/capture/ir.h"
#include "distributed/mesh/process_mesh.h"

namespace phi {

class Program;

struct StablehloOptions {
  std::string name = "program";
  /// The mesh of the whole job. Undefined: built from the mesh dims of the program's values.
  distributed::ProcessMesh mesh = {};
  /// Names of the program's inputs and outputs, in order; missing names are numbered.
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
};

/// Returns a module for as many devices as the whole mesh has ranks. Its public function @main has
/// the program's inputs and outputs. `bodies` are the bodies of its scans.
/// Errors: Unimplemented, naming the operator, for an operator or arguments without a lowering;
/// InvalidArgument for a shape that is unknown before the program runs.
std::string to_stablehlo(const ir::Body& program, std::span<const ir::Body> bodies,
                         const StablehloOptions& options = {});

// Program::to_stablehlo returns such a module. Its inputs are those of the captured function, then
// parameters, then `input_constants`. Its outputs are those of the function, then the new values of
// `written_parameters`, named after them with the suffix ".new".

/// Indices of the parameters that the program writes to, ascending.
std::vector<size_t> written_parameters(const Program& program);
/// Indices of the constants that are inputs, ascending: all but plain constants of one element,
/// whose value is written into the module. In a dry run, which has no values, all constants are
/// inputs.
std::vector<size_t> input_constants(const Program& program);

/// Whether an operator has a lowering.
bool has_stablehlo_lowering(std::string_view op);

}  // namespace phi
