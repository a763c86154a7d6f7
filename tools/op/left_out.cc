// The list of operators that are left out.
#include "tools/op/left_out.h"

namespace phi::op_tool {
namespace {

constexpr LeftOut kLeftOut[] = {
    {"detection operators (nms, yolo_box, prior_box, ..)",
     "no model of this library uses them, and none is recorded"},
    {"quantisation other than weight_only_linear",
     "not recorded; needs dtypes that kernels here lack"},
    {"graph and sparse operators",
     "sparse tensors do not exist here: their entries are declared only"},
};

}  // namespace

std::span<const LeftOut> left_out() { return kLeftOut; }

}  // namespace phi::op_tool
