// The list of operators that are left out.
#include "tools/op/missing_operators.h"

namespace phi::op_tool {
namespace {

constexpr MissingOperator kMissingOperators[] = {
    {"detection operators (nms, yolo_box, prior_box, ..)",
     "no model of this library uses them, and no calls are recorded"},
    {"quantisation other than weight_only_linear",
     "not recorded; needs dtypes that kernels here lack"},
    {"graph and sparse operators",
     "sparse tensors do not exist here: their entries are declared only"},
};

}  // namespace

std::span<const MissingOperator> missing_operators() { return kMissingOperators; }

}  // namespace phi::op_tool
