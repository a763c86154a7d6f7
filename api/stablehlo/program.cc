// Maps a captured program's inputs and outputs to those of a module.
#include "api/capture/program.h"

#include "api/stablehlo/stablehlo.h"
#include "phi/core/rank_context.h"

namespace phi {
namespace {

bool is_inlined(const Tensor& constant) {
  return !constant.is_dist() && constant.numel() == 1 && !RankContext::current().is_dry();
}

// A `full` call that produces the value.
ir::Operation full_call(double value, ir::ValueId output) {
  ir::Operation call;
  call.op = &ops::find("full");
  call.input_begin = {0};
  call.outputs = {output};
  call.inplace = {-1};
  call.attributes = {{"value", value}};
  return call;
}

// Prepends calls that produce the constants that are not inputs.
void inline_constants(const Program& program, ir::Body* body) {
  const TensorList constants = program.constants();
  const size_t first = body->inputs.size() - constants.size();
  std::vector<ir::ValueId> inputs(body->inputs.begin(),
                                  body->inputs.begin() + static_cast<int64_t>(first));
  std::vector<ir::Operation> operations;
  for (size_t i = 0; i < constants.size(); ++i) {
    const ir::ValueId value = body->inputs[first + i];
    if (is_inlined(constants[i])) {
      operations.push_back(full_call(constants[i].item(), value));
    } else {
      inputs.push_back(value);
    }
  }
  body->inputs = std::move(inputs);
  body->operations.insert(body->operations.begin(), operations.begin(), operations.end());
}

}  // namespace

std::string Program::to_stablehlo() const { return to_stablehlo(StablehloOptions()); }

std::string Program::to_stablehlo(const StablehloOptions& given) const {
  StablehloOptions options = given;
  ir::Body exported = body();
  inline_constants(*this, &exported);
  options.inputs.resize(exported.inputs.size());
  const size_t own_outputs = exported.outputs.size();
  for (size_t i = options.outputs.size(); i < own_outputs; ++i)
    options.outputs.push_back("out" + std::to_string(i));
  options.outputs.resize(own_outputs);
  for (const size_t i : written_parameters(*this)) {
    const size_t input = num_inputs() + i;
    exported.outputs.push_back(updated(i));
    const std::string& name = options.inputs[input];
    options.outputs.push_back((name.empty() ? "arg" + std::to_string(input) : name) + ".new");
  }
  return phi::to_stablehlo(exported, bodies(), options);
}

std::vector<size_t> written_parameters(const Program& program) {
  std::vector<size_t> written;
  for (size_t i = 0; i < program.parameters().size(); ++i) {
    if (program.updated(i) != program.body().inputs[program.num_inputs() + i]) written.push_back(i);
  }
  return written;
}

std::vector<size_t> input_constants(const Program& program) {
  const TensorList constants = program.constants();
  std::vector<size_t> inputs;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (!is_inlined(constants[i])) inputs.push_back(i);
  }
  return inputs;
}

}  // namespace phi
