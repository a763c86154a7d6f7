// Formats the text of errors.
#include "phi/common/errors.h"

#include "phi/common/printable.h"

namespace phi {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kOutOfRange:
      return "OutOfRange";
    case ErrorCode::kNotFinite:
      return "NotFinite";
    case ErrorCode::kAlreadyExists:
      return "AlreadyExists";
    case ErrorCode::kResourceExhausted:
      return "ResourceExhausted";
    case ErrorCode::kPreconditionNotMet:
      return "PreconditionNotMet";
    case ErrorCode::kPermissionDenied:
      return "PermissionDenied";
    case ErrorCode::kExecutionTimeout:
      return "ExecutionTimeout";
    case ErrorCode::kUnimplemented:
      return "Unimplemented";
    case ErrorCode::kUnavailable:
      return "Unavailable";
    case ErrorCode::kInternal:
      return "Internal";
  }
  return "Unknown";
}

Error::Error(ErrorCode code, std::string_view message) : code_(code) {
  if (const char* op = OpScope::current()) text_ = fmt::format("[{}] ", op);
  text_ += printable(message);
}

Error& Error::note(std::string_view line) {
  text_ += "\n  ";
  text_ += printable(line);
  return *this;
}

}  // namespace phi
