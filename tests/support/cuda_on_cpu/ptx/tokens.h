// The words, numbers and signs of PTX, one after the other.
#pragma once

#include <string_view>

namespace cuda_on_cpu::ptx {

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) { next(); }

  /// Empty at the end of the text. A word may hold letters, digits and _ $ % .; a number its sign.
  std::string_view now() const { return now_; }
  bool is(std::string_view token) const { return now_ == token; }
  /// The token, and on to the next one. Fails at the end of the text.
  std::string_view take();
  /// On to the first token of the next line.
  void skip_line();
  /// Goes on if it is this token.
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
