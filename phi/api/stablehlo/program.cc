// A captured program's inputs and outputs as those of a module.
#include "phi/api/capture/program.h"

#include "phi/api/stablehlo/stablehlo.h"

namespace phi {

std::string to_stablehlo(const Program& program, StablehloOptions options) {
  ir::Body body = program.body();
  const auto own_outputs = body.outputs.size();
  options.inputs.resize(body.inputs.size());
  if (options.outputs.size() < own_outputs) {
    for (size_t i = options.outputs.size(); i < own_outputs; ++i)
      options.outputs.push_back("out" + std::to_string(i));
  }
  options.outputs.resize(own_outputs);
  for (const size_t i : written_parameters(program)) {
    const size_t input = program.num_inputs() + i;
    body.outputs.push_back(program.updated(i));
    const std::string& name = options.inputs[input];
    options.outputs.push_back((name.empty() ? "arg" + std::to_string(input) : name) + ".new");
  }
  return to_stablehlo(body, program.bodies(), options);
}

std::vector<size_t> written_parameters(const Program& program) {
  std::vector<size_t> written;
  for (size_t i = 0; i < program.parameters().size(); ++i) {
    if (program.updated(i) != program.body().inputs[program.num_inputs() + i]) written.push_back(i);
  }
  return written;
}

}  // namespace phi
