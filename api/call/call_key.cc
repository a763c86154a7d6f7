// Appends long and rare values to keys of the decision cache.
#include "api/call/call_key.h"

namespace phi {

void CallKey::spill(const void* bytes, size_t n) {
  if (spilled_.empty()) spilled_.assign(inline_.data(), size_);
  spilled_.append(static_cast<const char*>(bytes), n);
}

void append_attr(CallKey& key, const std::string& value) {
  key.append(value.size());
  key.append_bytes(value.data(), value.size());
}

void append_attr(CallKey& key, const Scalar& value) {
  key.append(value.dtype());
  if (is_floating(value.dtype()))
    key.append(value.to<double>());
  else
    key.append(value.to<int64_t>());
}

void append_attr(CallKey& key, const IntArray& value) {
  key.append(value.size());
  key.append_bytes(value.values().data(), value.size() * sizeof(int64_t));
}

}  // namespace phi
