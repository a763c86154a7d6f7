// Binds the arrays of a captured program's steps to storages: to the plan's arena, and in each run
// to the storages of inputs, outputs and parameters.
#pragma once

#include "api/capture/execution/program_arena.h"
#include "api/capture/execution/program_state.h"

namespace phi {

// ---- once ----

/// Binds the arrays of all steps to the arena and to the captured parameters. Arrays of inputs and
/// outputs remain without a storage. If the arena binds each launch, planned arrays are left to
/// bind_launch.
void bind_steps(ProgramState& program, const ProgramArena& arena);
/// Binds the step's planned arrays to their addresses during `launch`.
void bind_launch(const ProgramState& program, const ProgramArena& arena, ir::RecordedStep& step,
                 int32_t launch);

// ---- in each run ----

/// Errors: InvalidArgument if the inputs differ from the captured ones in number, shape, dtype or
/// placements.
void bind_inputs(ProgramState& program, const TensorList& inputs);
/// Binds the current storage of a parameter outside of the plan: the user may have replaced it.
void bind_parameter(ProgramState& program, const ExternalState& external);
/// Binds new storages to the outputs that each run allocates.
void allocate_outputs(ProgramState& program, const Place& place);
/// Returns the outputs, in the storages that are bound now.
TensorList bound_outputs(const ProgramState& program);
/// Drops the references to storages of inputs and outputs.
void unbind_ports(ProgramState& program);

/// Ends the sharing of bytes with copy-on-write aliases for inputs and parameters that steps write
/// to. A step reads the addresses of its arguments in order: if it reads an alias of an array that
/// it also writes to, the alias must have its own bytes before the step begins. Called after inputs
/// and parameters are bound.
void prepare_writes(const ProgramState& program, const TensorList& inputs);
/// Counts the writes to parameters and inputs, so that a gradient that saved one of them detects
/// the change. Every rank counts them, including ranks without bytes, on which no step writes.
void note_writes(ProgramState& program, const TensorList& inputs);

}  // namespace phi
