// CallSite: the module and source line of the user's program that call an operator. Explanations
// of calls (api/explain) read it; no result depends on it.
//
//   const CallSite::Scope scope({path().c_str(), where.file_name(), where.line()});  // nn::Layer
//   const CallSite::ReasonScope because("the model's layout sets these placements"); // of moves
#pragma once

#include <cstdint>
#include <string>

namespace phi {

struct CallSite {
  const char* module = nullptr;  // path of the running module; null: none
  const char* file = nullptr;    // null: not known
  uint32_t line = 0;
  /// The reason for a move that no op's rule requires; null: not stated.
  const char* reason = nullptr;

  /// The calling thread's current site.
  static const CallSite& current();

  class Scope;
  class ReasonScope;
};

namespace detail {
inline constinit thread_local CallSite call_site{};
}  // namespace detail

inline const CallSite& CallSite::current() { return detail::call_site; }

/// Sets the calling thread's site for the lifetime of the object. The strings that `site` points to
/// must outlive it.
class CallSite::Scope {
 public:
  explicit Scope(const CallSite& site) : outer_(detail::call_site) { detail::call_site = site; }
  ~Scope() { detail::call_site = outer_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const CallSite outer_;
};

/// Sets the reason of moves for the lifetime of the object. `reason` must outlive it.
class CallSite::ReasonScope {
 public:
  explicit ReasonScope(const char* reason) : outer_(detail::call_site.reason) {
    detail::call_site.reason = reason;
  }
  ~ReasonScope() { detail::call_site.reason = outer_; }
  ReasonScope(const ReasonScope&) = delete;
  ReasonScope& operator=(const ReasonScope&) = delete;

 private:
  const char* const outer_;
};

/// A copy of a site that owns the module's path. A gradient node keeps the site of its forward
/// call, so that the gradient's calls are reported at that site.
struct SavedCallSite {
  explicit SavedCallSite(const CallSite& site)
      : module(site.module ? site.module : ""), file(site.file), line(site.line) {}
  CallSite view(const char* reason = nullptr) const { return {module.c_str(), file, line, reason}; }

  std::string module;
  const char* file;
  uint32_t line;
};

}  // namespace phi
