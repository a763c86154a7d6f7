// Program: a function captured as a program, by calling it once without computing anything.
//
//   Program p = phi::capture([&](const TensorList& in) { return TensorList{model(in[0])}; }, {x});
//   TensorList y = p.run({x});            // as the function, bit for bit, without its overhead
//   std::cout << p.to_string();           // the global program, the same on every rank
//   std::cout << p.rank_program();        // what this rank does of it
//
// The function is ordinary code of the API. Tensors that it uses but does not make are parameters:
// the program reads the values that they have when it runs, and writes to them if the function
// does. Tensors that it makes from initialisers and host values are constants. The function must
// not read values: put code that depends on values outside of it, or into an operator.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/capture/ir.h"
#include "api/capture/program_memory.h"
#include "api/tensor/tensor.h"
#include "phi/memory/engine/swap_engine.h"

namespace phi {

namespace ir {
class Recording;
}
class Executor;
struct StablehloOptions;

class Program {
 public:
  using Function = std::function<TensorList(const TensorList&)>;

  /// Runs the program on these inputs, whose shapes, dtypes and placements must be those of the
  /// capture. Returns what the function would return.
  ///
  /// Ranks    Every rank of the job calls it, as it would call the function.
  /// Errors   InvalidArgument, which names the input that differs from the captured one; errors of
  ///          the operators, with the number and name of the step.
  TensorList run(const TensorList& inputs) const;

  /// Limits the memory that the program uses on each tier of this rank, from its first run on. The
  /// plan then stores parameters on any tier and moves them while steps run; reading one between
  /// runs copies it to the device. Errors: PreconditionNotMet after a run. The first run throws
  /// ResourceExhausted if the limits are too small; the message names the step and the smallest
  /// sufficient limit.
  void limit_memory(const ProgramMemory& memory) const;

  /// Sets whether, on GPUs, steps that do not synchronise are launched as CUDA graphs from the
  /// second run on (the default), or one by one.
  void use_graphs(bool use) const;

  /// The global program. Its inputs are the function's inputs, then parameters, then constants.
  const ir::Body& body() const;
  /// The bodies of its scans; ir::Operation::body is an index into them.
  const std::vector<ir::Body>& bodies() const;
  size_t num_inputs() const;
  /// The parameters, in the order of first use; distinct by storage.
  TensorList parameters() const;
  TensorList constants() const;
  /// The value of parameter i after the program. It is body().inputs[num_inputs() + i] if the
  /// program does not write to it.
  ir::ValueId updated(size_t parameter) const;

  // Parameters by id, for code that lowers the program or loads its weights. Ids number parameters
  // from 0 in the order of first use, equally on every rank.

  /// Handles on the parameters, with their placements; nothing is copied.
  std::map<int64_t, Tensor> device_parameter_id_tensor_mapping() const;
  /// Plain, unsharded copies on the host, on every rank. Collective over the job.
  std::map<int64_t, Tensor> parameter_id_tensor_mapping() const;
  /// The id of the parameter that shares bytes with x (or, without bytes, its storage). Returns -1
  /// for any other tensor, such as a constant or a placeholder that was made during the capture.
  int64_t tensor_parameter_id(const Tensor& x) const;

  /// Bytes of the arena that the program's own tensors share on this rank.
  int64_t arena_bytes() const;
  /// The plan of buffer locations and moves, and counts of the moves so far.
  const memory::SwapPlan& swap_plan() const;
  memory::SwapEngineStats swap_stats() const;
  /// The numbers of this rank's steps (kernel launches, reshards, copies) and of calls that it does
  /// not take part in. The body of a scan counts once.
  int64_t num_steps() const;
  int64_t num_clipped() const;

  /// The global program as text, one operation per line.
  std::string to_string() const;
  /// This rank's steps as text, one per line, with the buffer of every array.
  std::string rank_program() const;
  /// The global program as StableHLO text with Shardy shardings (api/stablehlo/stablehlo.h).
  std::string to_stablehlo() const;
  std::string to_stablehlo(const StablehloOptions& options) const;

 private:
  friend Program capture(const Function& function, const TensorList& inputs);
  struct Execution;
  explicit Program(std::shared_ptr<ir::Recording> recording);
  Executor& executor() const;

  std::shared_ptr<ir::Recording> recording_;
  std::shared_ptr<Execution> execution_;  // made at first use
};

/// Captures `function` for tensors like `inputs`. The inputs' values are not read; they may be
/// placeholders. No kernel runs, and no byte of a tensor is allocated or moved.
///
/// Ranks    Every rank captures independently, without communication.
/// Errors   those of the function; PreconditionNotMet if it reads a value, leaves a gradient in a
///          parameter, or calls capture; Unimplemented for operators with data-dependent shapes.
Program capture(const Program::Function& function, const TensorList& inputs);

}  // namespace phi
