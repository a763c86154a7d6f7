// Failure: what went wrong in one way to run a case.
#pragma once

#include <fmt/core.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "phi/common/errors.h"
#include "record.h"

namespace phi::testing::programs {

struct Failure {
  std::string way;   // "captured on meshes"
  std::string kind;  // "values of result", "error Internal"
  std::string text;

  /// The same thing fails, perhaps with other numbers.
  bool is_like(const Failure& other) const { return way == other.way && kind == other.kind; }
  std::string to_string() const { return way + ": " + kind + ": " + text; }
};

/// What `f` finds, or throws, as a failure.
template <typename F>
std::optional<Failure> failure_of(const char* way, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    return Failure{way, fmt::format("error {}", name_of(error.code())), error.what()};
  } catch (const std::exception& error) {
    return Failure{way, "exception", error.what()};
  }
}

/// On meshes a write to a reshape's result is an error where placements allow no view. A program
/// that does it has nothing to compare there.
inline bool has_no_view(const std::string& error) {
  return error.find("whose placements do not allow a view") != std::string::npos;
}

inline std::optional<Failure> unless_no_view(std::optional<Failure> found) {
  return found && has_no_view(found->text) ? std::nullopt : std::move(found);
}

inline std::optional<Failure> as_failure(const char* way, const std::optional<Difference>& found) {
  if (!found) return std::nullopt;
  return Failure{way, found->what, found->text};
}

}  // namespace phi::testing::programs
