// Splits PTX text into tokens.
#include "support/cuda_on_cpu/ptx/tokens.h"

#include <algorithm>

#include "support/cuda_on_cpu/failure.h"

namespace cuda_on_cpu::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_of_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

}  // namespace

std::string_view Tokens::take() {
  if (now_.empty()) fail("a text of PTX ends within a declaration or a function");
  const std::string_view token = now_;
  next();
  return token;
}

void Tokens::skip_line() {
  at_ = std::min(text_.find('\n', at_), text_.size());
  next();
}

bool Tokens::skip(std::string_view token) {
  if (!is(token)) return false;
  next();
  return true;
}

void Tokens::skip_space() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') ++line_;
    if (c == '/' && text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
    } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\0') {
      return;
    }
  }
}

void Tokens::next() {
  skip_space();
  const size_t begin = at_;
  if (at_ < text_.size()) {
    const bool signed_number =
        text_[at_] == '-' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    const bool quoted = text_[at_] == '"';
    ++at_;
    if (quoted) at_ = std::min(text_.find('"', at_), text_.size() - 1) + 1;
    if (signed_number || is_of_word(text_[begin])) {
      while (at_ < text_.size() && is_of_word(text_[at_])) ++at_;
    }
  }
  now_ = text_.substr(begin, at_ - begin);
}

}  // namespace cuda_on_cpu::ptx
