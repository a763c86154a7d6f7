// Tokenizer of PTX text.
#pragma once

#include <string_view>

namespace cuda_on_cpu::ptx {

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) { next(); }

  /// The current token; empty at the end of the text. A word may contain letters, digits and _ $ %
  /// .; a number may contain its sign.
  std::string_view now() const { return now_; }
  bool is(std::string_view token) const { return now_ == token; }
  /// Returns the current token and advances. Fails at the end of the text.
  std::string_view take();
  /// Advances to the first token of the next line.
  void skip_line();
  /// Advances if the current token is `token`; returns whether it was.
  bool skip(std::string_view token);
  int line() const { return line_; }

 private:
  void next();
  void skip_space();

  std::string_view text_;
  std::string_view now_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace cuda_on_cpu::ptx
