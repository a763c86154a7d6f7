// Captured programs as StableHLO text with Shardy meshes and shardings, for XLA and its friends.
//
//   phi::Program program = phi::capture(step, {x});
//   std::string text = program.to_stablehlo({.inputs = {"x", "weight"}});
//
// What is written is the global program: every value has its global shape, and its placements are
// annotations (`sdy.sharding`) that say where it lies and never what it is. docs/stablehlo.md says
// how meshes, stages of a pipeline, partial values and uneven shards are written.
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
  /// The whole mesh of the job. Undefined: made of the mesh dims that the program's values lie on.
  distributed::ProcessMesh mesh = {};
  /// Names of the program's inputs and outputs, in order; those that are missing are numbered.
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
};

/// A module whose public function @main takes the program's inputs and gives its outputs, for as
/// many devices as the whole mesh has ranks. `bodies` are what its scans repeat.
/// Errors: Unimplemented, naming the operator, for one without a lowering or with arguments that it
/// does not cover; InvalidArgument for a shape that is not known before the program runs.
std::string to_stablehlo(const ir::Body& program, std::span<const ir::Body> bodies,
                         const StablehloOptions& options = {});

/// Program::to_stablehlo gives such a module. Its inputs are those of the captured function, then
/// parameters, then `input_constants`; its outputs those of the function, then the new values of
/// `written_parameters`, which are named after them with ".new" behind.

/// Those that the program writes to, by number, ascending.
std::vector<size_t> written_parameters(const Program& program);
/// Those that are not written into the module, by number, ascending: all but plain ones of one
/// element, whose value is read here. A rank that is played has no values, so there it is all.
std::vector<size_t> input_constants(const Program& program);

/// Whether an operator can be written.
bool has_stablehlo_lowering(std::string_view op);

}  // namespace phi
