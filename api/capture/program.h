// Program: what a function does, found by running it once without computing anything.
//
//   Program p = phi::capture([&](const TensorList& in) { return TensorList{model(in[0])}; }, {x});
//   TensorList y = p.run({x});            // as the function, bit for bit, without its overhead
//   std::cout << p.to_string();           // the global program, the same on every rank
//   std::cout << p.rank_program();        // what this rank does of it
//
// The function is ordinary code of the API. Tensors that it uses and did not make are parameters:
// the program sees the value that they have when it runs, and writes to them where the function
// does. What it makes of initialisers and host values are constants. The function must not read
// values: what depends on them belongs outside of it, or into an operator.
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

  /// Does what the function does, on these inputs: shapes, dtypes and placements as captured.
  ///
  /// Ranks    Every rank of the job runs it, as it would call the function.
  /// Errors   InvalidArgument naming the input that differs from the captured one; what the
  ///          operators throw, with the number and name of the step.
  TensorList run(const TensorList& inputs) const;

  /// What the program may hold on each tier of this rank from its first run on. Parameters then lie
  /// where the plan wants them, and come and go beside the steps; reading one between runs brings a
  /// copy of it. Errors: PreconditionNotMet after a run. ResourceExhausted when it first runs, if
  /// it cannot within the limits, naming the step and the least limit that would do.
  void limit_memory(const ProgramMemory& memory) const;

  /// On GPUs, whether steps that wait for nothing are launched as graphs from the second run on
  /// (the default), or one by one.
  void use_graphs(bool use) const;

  /// The global program. Its inputs are: inputs of the function, parameters, constants.
  const ir::Body& body() const;
  /// The bodies of its scans; ir::Operation::body is an index.
  const std::vector<ir::Body>& bodies() const;
  size_t num_inputs() const;
  /// In the order of first use; distinct by storage.
  TensorList parameters() const;
  TensorList constants() const;
  /// What parameter i is after the program: body().inputs[num_inputs() + i] if it is not written
  /// to.
  ir::ValueId updated(size_t parameter) const;

  // Parameters by id, for whoever lowers the program or loads its weights. Ids count parameters
  // from 0 in the order of first use, alike on every rank.

  /// The parameters themselves, sharded as they are: handles on the same tensors, no byte moves.
  std::map<int64_t, Tensor> device_parameter_id_tensor_mapping() const;
  /// Whole copies on the host, plain tensors, on every rank.
  /// Ranks    Collective over the job.
  std::map<int64_t, Tensor> parameter_id_tensor_mapping() const;
  /// The id of the parameter that has the bytes of x (or, without bytes, its storage); -1 for any
  /// other tensor: constants, and placeholders that were made while the program was captured.
  int64_t tensor_parameter_id(const Tensor& x) const;

  /// Bytes of the arena that the program's own tensors share on this rank.
  int64_t arena_bytes() const;
  /// Where buffers lie and what moves; what has moved so far.
  const memory::SwapPlan& swap_plan() const;
  memory::SwapEngineStats swap_stats() const;
  /// Of this rank, bodies of scans once: kernel launches, reshards and copies; and calls that it
  /// does not take part in.
  int64_t num_steps() const;
  int64_t num_clipped() const;

  /// The global program, one operation a line.
  std::string to_string() const;
  /// What this rank does, one step a line, with the place of every array.
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
  std::shared_ptr<Execution> execution_;  // made when it is first asked for
};

/// Captures what `function` does with tensors like `inputs` (their values are not looked at; they
/// may be placeholders). No kernel runs, no byte of a tensor is allocated or moved.
///
/// Ranks    Every rank captures for itself, without communication.
/// Errors   What the function throws; PreconditionNotMet where it reads a value, leaves a gradient
/// in
///          a parameter, or captures itself; Unimplemented for operators whose shapes depend on
///          data.
Program capture(const Program::Function& function, const TensorList& inputs);

}  // namespace phi
