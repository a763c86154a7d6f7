// Parsing of factor declarations.
#include "distributed/spmd/notation.h"

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  for (std::string_view word : split(text, ' ')) {
    if (!word.empty()) result.push_back(word);
  }
  return result;
}

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

Notation::Term Notation::parse_term(std::string_view text, std::string& whole) {
  Term term;
  for (std::string_view word : words(text)) {
    if (word == "...") {
      PHI_CHECK(!term.batch && term.letters.empty(),
                errors::InvalidArgument("in '{}' the ... is not in front.", text));
      term.batch = true;
      continue;
    }
    const bool marked = word.size() == 2 && word[1] == '!' && is_letter(word[0]);
    PHI_CHECK(
        marked || (word.size() == 1 && (is_letter(word[0]) || word == "1" || word == "_")),
        errors::InvalidArgument("'{}' in '{}' is no factor: use a letter a to z (with ! if it "
                                "must be whole), 1, _ or, in front, ...",
                                word, text));
    if (marked) whole.push_back(word[0]);
    term.letters.push_back(word[0]);
  }
  return term;
}

Notation Notation::parse(std::string_view text) {
  Notation notation;
  const size_t semicolon = text.find(';');
  const std::string_view terms = text.substr(0, semicolon);
  const size_t arrow = terms.find("->");
  PHI_CHECK(
      arrow != std::string_view::npos && terms.find("->", arrow + 2) == std::string_view::npos,
      errors::InvalidArgument("'{}' has no single ->, as in 'm k, k n -> m n'.", text));
  for (std::string_view term : split(terms.substr(0, arrow), ',')) {
    notation.inputs_.push_back(parse_term(term, notation.whole_));
  }
  bool batch = false;
  for (const Term& term : notation.inputs_) batch |= term.batch;
  for (std::string_view term : split(terms.substr(arrow + 2), ',')) {
    notation.outputs_.push_back(parse_term(term, notation.whole_));
    PHI_CHECK(batch || !notation.outputs_.back().batch,
              errors::InvalidArgument("'{}' has ... in an output but in no input.", text));
  }
  if (semicolon == std::string_view::npos) return notation;
  const auto reduce = words(text.substr(semicolon + 1));
  PHI_CHECK(reduce.size() >= 2,
            errors::InvalidArgument("after ; in '{}' a kind and factors are expected, as in "
                                    "'; max h w'.",
                                    text));
  notation.kind_ = parse_reduce_kind(reduce[0]);
  for (size_t i = 1; i < reduce.size(); ++i) {
    PHI_CHECK(reduce[i].size() == 1 && is_letter(reduce[i][0]),
              errors::InvalidArgument("'{}' in '{}' is no factor.", reduce[i], text));
    notation.reduced_.push_back(reduce[i][0]);
  }
  return notation;
}

SpmdRule Notation::bind(std::span<const TensorSpec> inputs) const {
  PHI_CHECK(inputs.size() == inputs_.size(),
            errors::InvalidArgument("{} tensors are given, the notation has {}.", inputs.size(),
                                    inputs_.size()));
  Factors::Batch batch;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int lead = inputs[i].ndim() - static_cast<int>(inputs_[i].letters.size());
    if (inputs_[i].batch && !inputs[i].absent()) batch.ndim = std::max(batch.ndim, lead);
  }
  Factors rule;
  for (size_t i = 0; i < inputs.size(); ++i) {
    rule.input(inputs[i], inputs_[i].batch ? batch : Factors::Batch(), inputs_[i].letters);
  }
  for (const Term& term : outputs_) {
    rule.output(term.batch ? batch : Factors::Batch(), term.letters);
  }
  return rule.whole(whole_).reduce(reduced_, kind_);
}

}  // namespace phi::distributed
