// Program: what a function does, found by running it once without computing anything.
//
//   Program p = phi::capture([&](const TensorList& in) { return TensorList{model(in[0])}; }, {x});
//   TensorList y = p.run({x});            // as the function, bit for bit, without its overhead
//   std::cout << p.to_string();           // the global program, the same on every rank
//   std::cout << p.rank_program();        // what this rank does of it
//
// The function is ordinary code of the API. Tensors that it uses and does not make are parameters
// (used by reference: the program sees their present value when it runs, and writes to them where
// the function does), or constants (initialisers and values written down in it). The function must
// not read values: what depends on them belongs outside, or into an operator.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "phi/api/capture/ir.h"
#include "phi/api/tensor.h"

namespace phi {

namespace ir {
class Recording;
}
class Executor;

class Program {
 public:
  /// The function to capture.
  using Function = std::function<TensorList(const TensorList&)>;

  /// The global program. Its inputs are: inputs of the function, then parameters, then constants.
  const ir::Body& body() const;
  /// The bodies of its scans; ir::Operation::body is an index.
  const std::vector<ir::Body>& bodies() const;
  size_t num_inputs() const;
  /// In the order of first use; distinct by storage.
  const TensorList& parameters() const;
  /// Parameter i after the program: the last value that it wrote, or the parameter's own value.
  ir::ValueId updated(size_t parameter) const;
  /// Tensors that the function made of initialisers or host values; deferred where they were.
  const TensorList& constants() const;

 private:
  friend class Capture;
  std::shared_ptr<ir::Recording> recording_;
};

}  // namespace phi
