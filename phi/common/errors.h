// Typed errors. A message names the op, the argument with its actual value and placement, what was
// expected, and a remedy. The name of the op in the current OpScope is prepended automatically.
//
//   PHI_CHECK(k == k2, errors::InvalidArgument("x's last dim is {}, y's first is {}.", k, k2));
#pragma once

#include <fmt/core.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace phi {

enum class ErrorCode : uint8_t {
  kInvalidArgument,
  kNotFound,
  kOutOfRange,
  kNotFinite,
  kAlreadyExists,
  kResourceExhausted,
  kPreconditionNotMet,
  kPermissionDenied,
  kExecutionTimeout,
  kUnimplemented,
  kUnavailable,
  kInternal,
};

std::string_view name_of(ErrorCode code);

class Error : public std::exception {
 public:
  /// Prepends `[op] ` to the message if the error is constructed inside an OpScope.
  Error(ErrorCode code, std::string_view message);

  ErrorCode code() const { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }
  /// Appends a line with the context of the error ("at rank 3 of 8, ..."). Returns *this.
  Error& note(std::string_view line);

 private:
  ErrorCode code_;
  std::string text_;
};

namespace errors {
#define PHI_DEFINE_ERROR(Name)                                                          \
  template <typename... Args>                                                           \
  Error Name(fmt::format_string<Args...> format, Args&&... args) {                      \
    return Error(ErrorCode::k##Name, fmt::format(format, std::forward<Args>(args)...)); \
  }
PHI_DEFINE_ERROR(InvalidArgument)
PHI_DEFINE_ERROR(NotFound)
PHI_DEFINE_ERROR(OutOfRange)
/// A value is infinite or NaN.
PHI_DEFINE_ERROR(NotFinite)
PHI_DEFINE_ERROR(AlreadyExists)
PHI_DEFINE_ERROR(ResourceExhausted)
PHI_DEFINE_ERROR(PreconditionNotMet)
PHI_DEFINE_ERROR(PermissionDenied)
PHI_DEFINE_ERROR(ExecutionTimeout)
PHI_DEFINE_ERROR(Unimplemented)
PHI_DEFINE_ERROR(Unavailable)
PHI_DEFINE_ERROR(Internal)
#undef PHI_DEFINE_ERROR
}  // namespace errors

/// Sets the calling thread's current op for its lifetime. Errors and reports of a rank's work name
/// this op.
class OpScope {
 public:
  explicit OpScope(const char* op_name) : outer_(current_) { current_ = op_name; }
  ~OpScope() { current_ = outer_; }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;

  /// Null outside any op.
  static const char* current() { return current_; }

 private:
  const char* outer_;
  static inline thread_local const char* current_ = nullptr;
};

}  // namespace phi

/// Throws `error` unless `condition` holds. `error` is evaluated only then.
#define PHI_CHECK(condition, error)  \
  do {                               \
    if (!(condition)) [[unlikely]] { \
      throw(error);                  \
    }                                \
  } while (false)
