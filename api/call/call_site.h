// CallSite: where in a user's program an operator is called: the module that runs, and the line
// that ran it. No result depends on it; who explains calls (api/explain) asks for it.
//
//   const CallSite::Scope scope({path().c_str(), where.file_name(), where.line()});  // nn::Layer
//   const CallSite::Because because("the model's layout fixes it here");             // of moves
#pragma once

#include <cstdint>
#include <string>

namespace phi {

struct CallSite {
  const char* module = nullptr;  // its path; null: none runs
  const char* file = nullptr;    // null: not known
  uint32_t line = 0;
  /// Why values are moved here though no op's rule asks for it; null: nobody said.
  const char* reason = nullptr;

  /// Of the calling thread.
  static const CallSite& current();

  class Scope;
  class Because;
};

namespace detail {
inline constinit thread_local CallSite call_site{};
}  // namespace detail

inline const CallSite& CallSite::current() { return detail::call_site; }

/// Calls are made at `site` while one lives; what it points to lives as long.
class CallSite::Scope {
 public:
  explicit Scope(const CallSite& site) : outer_(detail::call_site) { detail::call_site = site; }
  ~Scope() { detail::call_site = outer_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const CallSite outer_;
};

/// What is moved while one lives is moved for this reason.
class CallSite::Because {
 public:
  explicit Because(const char* reason) : outer_(detail::call_site.reason) {
    detail::call_site.reason = reason;
  }
  ~Because() { detail::call_site.reason = outer_; }
  Because(const Because&) = delete;
  Because& operator=(const Because&) = delete;

 private:
  const char* const outer_;
};

/// A site kept for later: for gradients, whose calls are made for the call that they belong to.
struct KeptSite {
  explicit KeptSite(const CallSite& site)
      : module(site.module ? site.module : ""), file(site.file), line(site.line) {}
  CallSite view(const char* reason = nullptr) const { return {module.c_str(), file, line, reason}; }

  std::string module;
  const char* file;
  uint32_t line;
};

}  // namespace phi
