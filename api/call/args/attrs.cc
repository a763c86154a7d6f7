// Instantiates AttributeList::add for each attribute type.
#include "api/call/args/attrs.h"

#include "phi/core/attribute_types.h"

namespace phi {

AttributeList::AttributeList() = default;
AttributeList::AttributeList(AttributeList&& other) noexcept = default;
AttributeList::~AttributeList() = default;

template <typename T>
void AttributeList::add(const T& value) {
  values_.push_back(attribute_value(value));
}

#define PHI_ADD_ATTRIBUTE(T)                     \
  template void AttributeList::add<T>(const T&); \
  template void AttributeList::add<std::optional<T>>(const std::optional<T>&);
PHI_EACH_ATTRIBUTE_TYPE(PHI_ADD_ATTRIBUTE)

}  // namespace phi
