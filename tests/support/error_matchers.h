// EXPECT_THAT(callable, ThrowsError(code, "part of the message")).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "phi/common/errors.h"

namespace phi {

/// A matcher of callables that throw an Error of this code, with these words in its message. All
/// that it does is in functions: gMock's Throws() of properties is half of what a test's compiler
/// sees, once more for each callable.
class ErrorMatcher {
 public:
  using is_gtest_matcher = void;

  ErrorMatcher(ErrorCode code, std::string words) : code_(code), words_(std::move(words)) {}

  /// Whether call(callable) does; `*actual` is what it does.
  bool matches(void (*call)(const void*), const void* callable, std::string* actual) const {
    try {
      call(callable);
    } catch (const Error& error) {
      *actual = "throws " + std::string(name_of(error.code())) + ": " + error.what();
      return error.code() == code_ && std::string_view(error.what()).find(words_) != words_.npos;
    } catch (const std::exception& other) {
      *actual = std::string("throws something other than a phi::Error: ") + other.what();
      return false;
    } catch (...) {
      *actual = "throws something other than an exception";
      return false;
    }
    *actual = "throws nothing";
    return false;
  }
  template <typename F>
  bool matches(const F& callable, std::string* actual) const {
    return matches([](const void* f) { (*static_cast<const F*>(f))(); }, &callable, actual);
  }

  template <typename F>
  bool MatchAndExplain(const F& callable, std::ostream* os) const {
    std::string actual;
    const bool does = matches(callable, &actual);
    if (os) *os << "which " << actual;
    return does;
  }
  void DescribeTo(std::ostream* os) const {
    *os << "throws " << name_of(code_) << " with the text \"" << words_ << '"';
  }
  void DescribeNegationTo(std::ostream* os) const {
    *os << "does not do: ";
    DescribeTo(os);
  }

 private:
  ErrorCode code_;
  std::string words_;
};

inline ErrorMatcher ThrowsError(ErrorCode code, const std::string& words) { return {code, words}; }

inline ::testing::AssertionResult failed(const char* text, const ErrorMatcher& expected,
                                         const std::string& actual) {
  std::ostringstream what;
  expected.DescribeTo(&what);
  return ::testing::AssertionFailure()
         << "Value of: " << text << "\nExpected: " << what.str() << "\n  Actual: " << actual;
}

/// What EXPECT_THAT asks, without a Matcher of the callable's type.
struct ErrorFormatter {
  ErrorMatcher expected;
  template <typename F>
  ::testing::AssertionResult operator()(const char* text, const F& callable) const {
    std::string actual;
    if (expected.matches(callable, &actual)) return ::testing::AssertionSuccess();
    return failed(text, expected, actual);
  }
};

/// For tests that compare texts: the error's words; the test fails if it is of another code.
inline std::string words_of(const Error& error, ErrorCode code = ErrorCode::kInvalidArgument) {
  EXPECT_EQ(error.code(), code) << error.what();
  return error.what();
}

}  // namespace phi

namespace testing::internal {
inline phi::ErrorFormatter MakePredicateFormatterFromMatcher(phi::ErrorMatcher expected) {
  return {std::move(expected)};
}
}  // namespace testing::internal
