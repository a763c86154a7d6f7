// Parses rule cases that are lines.
#include "tools/spmd/case_text.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include "phi/common/errors.h"

namespace phi::spmd_tool {
namespace {

std::vector<std::string> parts_at(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

int64_t whole_number(std::string_view digits, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  PHI_CHECK(error == std::errc() && end == digits.data() + digits.size(),
            errors::InvalidArgument("'{}' in '{}' is no number.", digits, text));
  return value;
}

std::vector<int64_t> whole_numbers(const std::string& list, char separator,
                                   const std::string& text) {
  std::vector<int64_t> values;
  for (const std::string& part : parts_at(list, separator)) {
    values.push_back(whole_number(part, text));
  }
  return values;
}

// "p1" or "p1:max"
void add_partial(const std::string& entry, const std::string& text, TensorText& tensor) {
  const size_t colon = std::min(entry.find(':'), entry.size());
  const auto dim = whole_number(std::string_view(entry).substr(1, colon - 1), text);
  tensor.partial.push_back(static_cast<int>(dim));
  if (colon == entry.size()) return;
  // Where one kind is written, those without are sums.
  tensor.partial_kinds.resize(tensor.partial.size(), distributed::ReduceKind::kSum);
  tensor.partial_kinds.back() = distributed::parse_reduce_kind(entry.substr(colon + 1));
}

TensorText tensor_of_text(const std::string& text) {
  const size_t open = text.find('[');
  PHI_CHECK(open != std::string::npos && text.back() == ']',
            errors::InvalidArgument("'{}' is not of the form 64x32[0,_].", text));
  TensorText tensor;
  tensor.shape = whole_numbers(text.substr(0, open), 'x', text);
  for (const std::string& entry : parts_at(text.substr(open + 1, text.size() - open - 2), ',')) {
    if (entry.starts_with('p')) {
      add_partial(entry, text, tensor);
      continue;
    }
    auto& mesh_dims = tensor.dims_mapping.emplace_back();
    if (entry == "_") continue;
    for (const int64_t m : whole_numbers(entry, '+', text)) {
      mesh_dims.push_back(static_cast<int>(m));
    }
  }
  if (!tensor.partial_kinds.empty()) {
    tensor.partial_kinds.resize(tensor.partial.size(), distributed::ReduceKind::kSum);
  }
  return tensor;
}

std::vector<TensorText> tensors_of_text(const std::string& text) {
  std::vector<TensorText> tensors;
  for (const std::string& part : parts_at(text, ' ')) tensors.push_back(tensor_of_text(part));
  return tensors;
}

std::vector<ArgumentText> arguments_of_text(const std::string& text) {
  std::vector<ArgumentText> arguments;
  for (size_t at = 0; at < text.size();) {
    const bool is_list = text[at] == '(';
    const size_t end = std::min(text.find(is_list ? ')' : ' ', at), text.size());
    if (is_list) {
      PHI_CHECK(end < text.size(),
                errors::InvalidArgument("'{}' has a list without its ')'.", text));
      arguments.push_back({tensors_of_text(text.substr(at + 1, end - at - 1)), true});
    } else if (end > at) {
      arguments.push_back({{tensor_of_text(text.substr(at, end - at))}, false});
    }
    at = end + 1;
  }
  return arguments;
}

std::vector<TensorText> as_given(const std::vector<ArgumentText>& inputs) {
  std::vector<TensorText> tensors;
  for (const ArgumentText& argument : inputs) {
    for (TensorText tensor : argument.tensors) {
      tensor.shape.clear();
      tensors.push_back(std::move(tensor));
    }
  }
  return tensors;
}

// Cuts the text at the first `mark` between blanks, and returns what is behind it.
std::optional<std::string> cut(std::string& text, std::string_view mark) {
  const size_t at = text.find(" " + std::string(mark) + " ");
  if (at == std::string::npos) return std::nullopt;
  std::string rest = text.substr(at + mark.size() + 2);
  text.resize(at);
  return rest;
}

// Takes the first word off the text.
std::string first_word(std::string& text) {
  const size_t end = std::min(text.find(' '), text.size());
  std::string word = text.substr(0, end);
  text.erase(0, std::min(end + 1, text.size()));
  return word;
}

// Direction, mesh and attributes.
void take_head(std::string& text, CaseLine& line) {
  if (text.starts_with("backward ")) line.call.direction = Direction::kBackward;
  if (text.starts_with("grad ")) line.call.direction = Direction::kGrad;
  if (line.call.direction != Direction::kForward) first_word(text);
  const std::string mesh = first_word(text);
  line.call.mesh = whole_numbers(mesh, 'x', mesh);
  PHI_CHECK(!line.call.mesh.empty(), errors::InvalidArgument("'{}' is no mesh such as 2x4.", mesh));
  for (;;) {
    const size_t end = std::min(text.find(' '), text.size());
    const size_t equals = text.find('=');
    if (equals >= end) return;
    const std::string word = first_word(text);
    line.attrs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
}

}  // namespace

CaseLine parse_case_line(const std::string& text) {
  CaseLine line;
  std::string call = text;
  const std::optional<std::string> result = cut(call, "->");
  PHI_CHECK(result, errors::InvalidArgument(
                        "'{}' has no result; a case is '2x4 64x32[0,_] = [_,_] -> [0,_]'.", text));
  const std::optional<std::string> placed = cut(call, "=");
  const std::optional<std::string> outputs = cut(call, "/");
  take_head(call, line);
  line.call.inputs = arguments_of_text(call);
  if (outputs) line.call.outputs = arguments_of_text(*outputs);
  if (*result == "refused") return line;
  line.expected = ExpectedResult{placed ? tensors_of_text(*placed) : as_given(line.call.inputs),
                                 tensors_of_text(*result)};
  return line;
}

}  // namespace phi::spmd_tool
