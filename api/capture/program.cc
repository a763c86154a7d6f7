// The public interface of a recording and its executor.
#include "api/capture/program.h"

#include <utility>

#include "api/capture/execution/executor.h"
#include "api/capture/print.h"
#include "api/capture/recording.h"
#include "phi/common/errors.h"

namespace phi {
namespace {

TensorList handles_of(const std::vector<ir::External>& externals) {
  TensorList list;
  for (const ir::External& external : externals) list.push_back(external.handle);
  return list;
}

}  // namespace

struct Program::Execution {
  ProgramMemory memory;
  std::unique_ptr<Executor> executor;
  bool uses_graphs = true;
};

Program::Program(std::shared_ptr<ir::Recording> recording)
    : recording_(std::move(recording)), execution_(std::make_shared<Execution>()) {}

Executor& Program::executor() const {
  if (!execution_->executor) {
    execution_->executor = std::make_unique<Executor>(recording_, execution_->memory);
    execution_->executor->set_replays(execution_->uses_graphs);
  }
  return *execution_->executor;
}

void Program::limit_memory(const ProgramMemory& memory) const {
  PHI_CHECK(!execution_->executor,
            errors::PreconditionNotMet("limits are set on a captured program that has already run; "
                                       "set them before the first run."));
  execution_->memory = memory;
}

void Program::use_graphs(bool use) const {
  execution_->uses_graphs = use;
  if (execution_->executor) execution_->executor->set_replays(use);
}

TensorList Program::run(const TensorList& inputs) const {
  PHI_CHECK(ir::Recording::current() == nullptr,
            errors::PreconditionNotMet("a captured program is run in a function that is being "
                                       "captured; call the function that it was captured from."));
  return executor().run(inputs);
}

const ir::Body& Program::body() const { return recording_->body(); }
const std::vector<ir::Body>& Program::bodies() const { return recording_->bodies(); }
size_t Program::num_inputs() const { return recording_->inputs().size(); }
TensorList Program::parameters() const { return handles_of(recording_->parameters()); }
TensorList Program::constants() const { return handles_of(recording_->constants()); }
ir::ValueId Program::updated(size_t parameter) const { return recording_->updated()[parameter]; }

int64_t Program::arena_bytes() const { return executor().plan().arena_bytes; }
const memory::SwapPlan& Program::swap_plan() const { return executor().plan(); }
memory::SwapEngineStats Program::swap_stats() const { return executor().stats(); }
int64_t Program::num_steps() const {
  auto count = static_cast<int64_t>(std::as_const(*recording_).steps().size());
  for (size_t body = 0; body < recording_->bodies().size(); ++body) {
    count += static_cast<int64_t>(recording_->steps(static_cast<int>(body)).size());
  }
  return count;
}
int64_t Program::num_clipped() const { return recording_->counted().ops_clipped; }

std::string Program::to_string() const { return ir::to_string(*recording_); }
std::string Program::rank_program() const { return ir::steps_to_string(*recording_); }

}  // namespace phi
