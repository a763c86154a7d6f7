// Comparison of attributes.
#include "api/capture/ir.h"

#include <string_view>

namespace phi::ir {

bool operator==(const Attribute& a, const Attribute& b) {
  return std::string_view(a.name) == b.name && a.value == b.value;
}

}  // namespace phi::ir
