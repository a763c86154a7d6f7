// Writes a case for tests/support/compare_stablehlo.py for every call of the tables.
//
//   stablehlo_call_cases FOLDER
#include <cstdio>
#include <set>

#include "api/stablehlo/stablehlo.h"
#include "tests/api/stablehlo/call_cases.h"
#include "tests/api/stablehlo/case_files.h"

int main(int argc, char** argv) {
  using namespace phi::testing;
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  std::set<std::string> lowered;
  for (const auto& table : {elementwise_cases(), reduction_and_product_cases(), layer_cases(),
                            shape_and_random_cases(), optimizer_cases()}) {
    for (const CallCase& c : table) {
      const CallProgram program = program_of(c);
      write_case(argv[1], {c.name, phi::to_stablehlo(program.body, {}, {.name = c.name}),
                           program.inputs, program.expected, c.tolerance});
      lowered.insert(c.op);
    }
  }
  // Every lowering has a case.
  for (const phi::OpDef* op : phi::ops::all()) {
    if (!phi::has_stablehlo_lowering(op->name) || lowered.contains(op->name)) continue;
    std::fprintf(stderr, "operator '%s' has a lowering and no case here.\n", op->name);
    return 1;
  }
  return 0;
}
