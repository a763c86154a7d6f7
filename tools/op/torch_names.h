// What PyTorch calls an operator.
#pragma once

#include <string>
#include <string_view>

namespace phi::op_tool {

/// "torch.matmul"; empty where PyTorch has none that does the same.
std::string torch_name_of(std::string_view op);

}  // namespace phi::op_tool
