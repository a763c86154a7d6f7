// Printing of attributes.
#include "phi/core/attribute.h"

namespace phi {

std::string IntArray::to_string() const {
  std::string out = "[";
  for (int i = 0; i < size(); ++i) out += (i > 0 ? "," : "") + std::to_string(values_[i]);
  return out + "]";
}

}  // namespace phi
