// A captured program's inputs and outputs as those of a module.
#include "phi/api/capture/program.h"

#include "phi/api/stablehlo/stablehlo.h"

namespace phi {

std::string Program::to_stablehlo() const { return to_stablehlo(StablehloOptions()); }

std::string Program::to_stablehlo(const StablehloOptions& given) const {
  StablehloOptions options = given;
  ir::Body body = this->body();
  const auto own_outputs = body.outputs.size();
  options.inputs.resize(body.inputs.size());
  if (options.outputs.size() < own_outputs) {
    for (size_t i = options.outputs.size(); i < own_outputs; ++i)
      options.outputs.push_back("out" + std::to_string(i));
  }
  options.outputs.resize(own_outputs);
  for (const size_t i : written_parameters(*this)) {
    const size_t input = num_inputs() + i;
    body.outputs.push_back(updated(i));
    const std::string& name = options.inputs[input];
    options.outputs.push_back((name.empty() ? "arg" + std::to_string(input) : name) + ".new");
  }
  return phi::to_stablehlo(body, bodies(), options);
}

std::vector<size_t> written_parameters(const Program& program) {
  std::vector<size_t> written;
  for (size_t i = 0; i < program.parameters().size(); ++i) {
    if (program.updated(i) != program.body().inputs[program.num_inputs() + i]) written.push_back(i);
  }
  return written;
}

}  // namespace phi
