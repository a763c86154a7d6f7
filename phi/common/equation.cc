// The parser of einsum equations.
#include "phi/common/equation.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "phi/common/dims.h"
#include "phi/common/errors.h"

namespace phi {
namespace {

[[noreturn]] void refuse(const std::string& equation, const std::string& what) {
  throw errors::InvalidArgument("equation '{}': {}; write it as 'ij,jk->ik'.", equation, what);
}

// The remaining letters of the alphabet stand for the tensor dims of "...".
constexpr size_t kMaxLetters = 26 - kMaxNdim;

// Parses the terms of an equation and renames their letters to factors.
class EquationParser {
 public:
  explicit EquationParser(const std::string& equation) : equation_(equation) {}

  Equation::Subscripts term(std::string_view text) {
    Equation::Subscripts term;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '.') {
        if (text.substr(i, 3) != "..." || term.ellipsis) refuse(equation_, "a stray dot");
        term.ellipsis = true;
        i += 2;
      } else {
        (term.ellipsis ? term.after : term.before).push_back(factor(text[i]));
      }
    }
    return term;
  }

  // The implicit output: the letters that occur once, in alphabetical order.
  Equation::Subscripts implied(const std::vector<Equation::Subscripts>& inputs) const {
    std::map<char, int> count;
    Equation::Subscripts output;
    for (const auto& term : inputs) {
      for (char f : term.before + term.after) ++count[f];
      output.ellipsis |= term.ellipsis;
    }
    for (const auto& [letter, f] : factors_) {
      if (count[f] == 1) (output.ellipsis ? output.after : output.before).push_back(f);
    }
    return output;
  }

 private:
  char factor(char letter) {
    const bool known = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (!known) refuse(equation_, "'" + std::string(1, letter) + "' is not a letter");
    if (const auto it = factors_.find(letter); it != factors_.end()) return it->second;
    if (factors_.size() == kMaxLetters) {
      refuse(equation_, "more than " + std::to_string(kMaxLetters) + " letters");
    }
    return factors_[letter] = static_cast<char>('a' + factors_.size());
  }

  const std::string& equation_;
  std::map<char, char> factors_;
};

std::string twice(const Equation::Subscripts& term) {
  std::string letters = term.before + term.after;
  std::sort(letters.begin(), letters.end());
  std::string result;
  for (size_t i = 1; i < letters.size(); ++i) {
    if (letters[i] == letters[i - 1]) result.push_back(letters[i]);
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

}  // namespace

Equation Equation::parse(const std::string& equation, size_t num_operands) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text),
               [](char c) { return c != ' '; });
  const size_t arrow = text.find("->");
  const auto operands = split(std::string_view(text).substr(0, arrow), ',');
  if (operands.size() != num_operands) {
    refuse(equation, std::to_string(operands.size()) + " operands, " +
                         std::to_string(num_operands) + " tensors are passed");
  }
  EquationParser reader(equation);
  Equation result;
  for (std::string_view operand : operands) {
    result.inputs.push_back(reader.term(operand));
    result.repeated += twice(result.inputs.back());
  }
  result.output = arrow == std::string::npos ? reader.implied(result.inputs)
                                             : reader.term(text.substr(arrow + 2));
  if (!twice(result.output).empty()) refuse(equation, "the output has a letter twice");
  for (char f : result.output.before + result.output.after) {
    const bool found = std::any_of(
        result.inputs.begin(), result.inputs.end(),
        [&](const Subscripts& t) { return (t.before + t.after).find(f) != std::string::npos; });
    if (!found) refuse(equation, "the output has a letter that no operand has");
  }
  return result;
}

}  // namespace phi
