// Recognises the error by its text, because its error code has other causes too.
#include "api/testing/missing_kernel.h"

#include <string_view>

namespace phi::testing {

bool is_missing_on_gpus(const Error& error) {
  const std::string_view text = error.what();
  return error.code() == ErrorCode::kUnimplemented &&
         text.find("is not registered for ") != text.npos && text.find(" on gpu:") != text.npos;
}

}  // namespace phi::testing
