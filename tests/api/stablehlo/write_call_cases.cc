// Writes cases for tests/support/compare_stablehlo.py: of the calls of records, and of their
// gradients, those of operators with a lowering. Of calls that differ in extents alone, one.
//
//   stablehlo_call_cases FOLDER
#include <fmt/core.h>

#include <map>
#include <set>
#include <tuple>

#include "api/stablehlo/stablehlo.h"
#include "phi/common/errors.h"
#include "tests/api/op_records.h"
#include "tests/api/stablehlo/call_program.h"
#include "tests/api/stablehlo/case_files.h"

namespace phi::testing {
namespace {

// Whether it is a call of the record's operator or of its gradient, and not one that these consist
// of. Origins end with the record: "(gather.yaml:3)".
bool is_of_its_record(const CapturedCall& call) {
  const size_t begin = call.origin.rfind('(') + 1;
  const std::string op = call.origin.substr(begin, call.origin.find(".yaml", begin) - begin);
  return call.op->name == op ||
         call.op->name == op.substr(0, op.find_last_not_of('_') + 1) + "_grad";
}

// Whether a tensor of the call's highest rank has more than 1 element along this dim, counted from
// the last.
bool is_broadcast(const CapturedCall& call, int from_last) {
  int rank = 0;
  bool is_larger = false;
  for (const TensorList& argument : call.arguments) {
    for (const Tensor& x : argument) {
      if (!x.defined() || x.ndim() < rank) continue;
      const bool is_large = x.ndim() > from_last && x.shape()[x.ndim() - 1 - from_last] > 1;
      is_larger = is_large || (is_larger && x.ndim() == rank);
      rank = x.ndim();
    }
  }
  return is_larger;
}

// What lowerings distinguish: dtypes and ranks of the tensors, dims that are broadcast or empty,
// attributes.
std::string kind_of(const CapturedCall& call) {
  std::string kind = call.op->name;
  for (const TensorList& argument : call.arguments) {
    kind += ';';
    for (const Tensor& x : argument) {
      kind += x.defined() ? fmt::format(" {}[", short_name_of(x.dtype())) : " -";
      for (int d = 0; x.defined() && d < x.ndim(); ++d) {
        const int64_t extent = x.shape()[d];
        const bool is_special =
            extent == 0 || (extent == 1 && is_broadcast(call, x.ndim() - 1 - d));
        kind += is_special ? std::to_string(extent) : "n";
      }
    }
  }
  for (const AttributeValue& value : call.attributes) kind += " " + to_text(value);
  return kind;
}

class CaseWriter {
 public:
  explicit CaseWriter(std::string folder) : folder_(std::move(folder)) {}

  /// Calls of `lowering` sections must not be refused; a lowering may refuse others.
  void write(const CapturedCall& call, bool is_required) {
    if (!has_stablehlo_lowering(call.op->name) || !is_of_its_record(call)) return;
    if (!kinds_.insert(kind_of(call)).second && !is_required) return;
    const std::string name = fmt::format("{}_{}", call.op->name, ++numbers_[call.op->name]);
    const CallProgram program = program_of(call, name);
    std::string module;
    try {
      module = to_stablehlo(program.body, {}, {.name = name});
    } catch (const Error& error) {
      if (is_required || error.code() != ErrorCode::kUnimplemented) throw;
      ++refused_;
      return;
    }
    write_case(folder_, {name, module, program.inputs, program.expected, program.tolerance});
    ++written_;
    lowered_.insert(call.op->name);
  }

  /// Whether every lowering has a case.
  bool finish() const {
    fmt::print("{} calls are lowered, {} refused\n", written_, refused_);
    for (const OpDef* op : ops::all()) {
      if (!has_stablehlo_lowering(op->name) || lowered_.contains(op->name)) continue;
      fmt::print(stderr, "operator '{}' has a lowering, and its record no call to lower.\n",
                 op->name);
      return false;
    }
    return true;
  }

 private:
  std::string folder_;
  std::set<std::string> kinds_;
  std::map<std::string, int> numbers_;
  std::set<std::string> lowered_;
  int written_ = 0, refused_ = 0;
};

}  // namespace
}  // namespace phi::testing

int main(int argc, char** argv) {
  using namespace phi::testing;
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  CaseWriter writer(argv[1]);
  for (const CapturedCall& call : captured_calls({lowering_table()})) writer.write(call, true);
  for (const CapturedCall& call : captured_calls(tables_of_records())) writer.write(call, false);
  return writer.finish() ? 0 : 1;
}
