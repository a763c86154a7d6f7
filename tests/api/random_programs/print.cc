// Text of statements: that of their form, with its parts in place.
#include "print.h"

#include <fmt/core.h>

#include <functional>
#include <sstream>
#include <string_view>

#include "forms.h"

namespace phi::testing::programs {
namespace {

using distributed::Placement;

template <typename List, typename Text>
std::string listed(const List& items, const Text& text) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : ", ") + text(item);
  return "{" + out + "}";
}

template <typename List>
std::string numbers(const List& list) {
  return listed(list, [](int64_t n) { return std::to_string(n); });
}

std::string real(double value) {
  std::string text = fmt::format("{}", value);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string placement(const Placement& p) {
  if (p.is_replicate()) return "Replicate()";
  if (p.is_shard()) return fmt::format("Shard({})", p.tensor_dim());
  if (p.reduce() == distributed::ReduceKind::kSum) return "Partial()";
  std::string kind(distributed::name_of(p.reduce()));
  kind[0] = static_cast<char>(std::toupper(kind[0]));
  return fmt::format("Partial(ReduceKind::k{})", kind);
}

std::string layout_text(const Layout& layout) {
  return fmt::format("{{{}, {}}}", layout.mesh, listed(layout.placements, placement));
}

std::string pass_text(Pass pass) {
  switch (pass) {
    case Pass::kGrad:
      return "Pass::kGrad";
    case Pass::kBackward:
      return "Pass::kBackward";
    case Pass::kTwice:
      return "Pass::kTwice";
    case Pass::kDeferred:
      break;
  }
  return "Pass::kDeferred";
}

class Printer {
 public:
  explicit Printer(const RandomProgram& program) : program_(program) {}

  std::string run(const std::string& name, const std::string& remark, const char* assertion) {
    std::istringstream lines(remark);
    for (std::string line; std::getline(lines, line);) out_ << "// " << line << "\n";
    out_ << "TEST(RandomProgramsFound, " << name << ") {\n  Case test;\n";
    write_setting();
    out_ << "  test.function = [](Site& site, const TensorList& in, const TensorList& p) {\n";
    out_ << "    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);\n";
    // Handles, so that operators can write to them.
    for (ValueId value = 0; value < program_.num_given(); ++value) write_handle(value);
    for (const Statement& statement : program_.statements) write(statement, "    ");
    out_ << "    return TensorList"
         << listed(program_.results, [&](ValueId v) { return name_of(v); }) << ";\n  };\n  "
         << assertion << "(test);\n}\n";
    return out_.str();
  }

 private:
  void write_setting() {
    const Case& setting = program_.setting;
    if (setting.dtype != DataType::FLOAT64) out_ << "  test.dtype = DataType::FLOAT32;\n";
    out_ << "  test.world = " << setting.world << ";\n  test.meshes = ";
    out_ << listed(setting.meshes, [](const distributed::ProcessMesh& mesh) {
      const auto name = [](const std::string& text) { return "\"" + text + "\""; };
      return fmt::format("ProcessMesh({}, {}, {})", numbers(mesh.shape()),
                         listed(mesh.dim_names(), name), numbers(mesh.ranks()));
    }) << ";\n";
    write_given("inputs", setting.inputs);
    write_given("parameters", setting.parameters);
    if (setting.reads_aliases) out_ << "  test.reads_aliases = true;\n";
    if (!setting.is_bitwise) out_ << "  test.is_bitwise = false;\n";
    if (setting.is_smooth) out_ << "  test.is_smooth = true;\n";
    if (setting.uses_disk) out_ << "  test.uses_disk = true;\n";
    if (!setting.not_captured.empty()) {
      out_ << "  test.not_captured = \"" << setting.not_captured << "\";\n";
    }
  }

  void write_given(const char* member, const std::vector<Given>& list) {
    if (list.empty()) return;
    out_ << "  test." << member << " = " << listed(list, [](const Given& given) {
      std::string text = "{.shape = " + numbers(given.shape);
      if (!given.layout.is_plain()) text += ", .layout = " + layout_text(given.layout);
      if (given.needs_grad) text += ", .needs_grad = true";
      if (given.meanwhile == Meanwhile::kScales) text += ", .meanwhile = Meanwhile::kScales";
      if (given.meanwhile == Meanwhile::kReplaces) text += ", .meanwhile = Meanwhile::kReplaces";
      return text + "}";
    }) << ";\n";
  }

  void write_handle(ValueId value) {
    const bool is_input = value < program_.num_inputs();
    out_ << fmt::format("    Tensor v{} = {}[{}];\n", value, is_input ? "in" : "p",
                        is_input ? value : value - program_.num_inputs());
  }

  std::string name_of(ValueId value) const {
    if (value == kNoValue) return "std::nullopt";
    const auto inner = inner_names_.find(value);
    return inner != inner_names_.end() ? inner->second : fmt::format("v{}", value);
  }

  void write(const Statement& statement, const std::string& indent) {
    std::string text = expression(statement);
    if (statement.no_grad) text = "site.without_grad([&] { return " + text + "; })";
    const auto& outs = statement.outs;
    if (statement.form->is(Form::kGivesList)) {
      const std::string list = fmt::format("list{}", outs[0]);
      out_ << indent << "const TensorList " << list << " = " << text << ";\n";
      for (size_t i = 0; i < outs.size(); ++i) {
        out_ << indent << fmt::format("Tensor v{} = {}[{}];\n", outs[i], list, i);
      }
      return;
    }
    if (!outs.empty()) text = fmt::format("Tensor v{} = {}", outs[0], text);
    out_ << indent << text << ";\n";
  }

  // "a.x(0)" and the like become what they stand for.
  std::string expression(const Statement& statement) {
    const std::string_view text = statement.form->text;
    std::string out;
    size_t at = 0;
    while (at < text.size()) {
      const size_t next = text.find("a.", at);
      const bool is_part = next != std::string_view::npos &&
                           (next == 0 || !std::isalnum(static_cast<unsigned char>(text[next - 1])));
      if (!is_part) {
        const size_t end = next == std::string_view::npos ? text.size() : next + 2;
        out += text.substr(at, end - at);
        at = end;
        continue;
      }
      out += text.substr(at, next - at);
      size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", next + 2);
      const std::string_view part = text.substr(next + 2, end - next - 2);
      if (part == "site") {
        out += "site";
      } else {
        const size_t close = text.find(')', end);
        const size_t number = close > end + 1 ? static_cast<size_t>(text[end + 1] - '0') : 0;
        out += part_text(statement, part, number);
        end = close + 1;
      }
      at = end;
    }
    return out;
  }

  std::string part_text(const Statement& statement, std::string_view part, size_t i) {
    const auto names = [&](size_t first, size_t end) {
      return listed(
          std::vector<ValueId>(statement.args.begin() + static_cast<std::ptrdiff_t>(first),
                               statement.args.begin() + static_cast<std::ptrdiff_t>(end)),
          [&](ValueId value) { return name_of(value); });
    };
    const size_t num_args = statement.args.size();
    if (part == "x" || part == "opt") return name_of(statement.args[i]);
    if (part == "from") return names(i, num_args);
    if (part == "losses") return names(0, static_cast<size_t>(statement.ints[0][0]));
    if (part == "wanted") return names(static_cast<size_t>(statement.ints[0][0]), num_args);
    if (part == "flag") return statement.ints[i][0] != 0 ? "true" : "false";
    if (part == "n" || part == "i" || part == "seed") return std::to_string(statement.ints[i][0]);
    if (part == "ns" || part == "perm") return numbers(statement.ints[i]);
    if (part == "f") return real(statement.reals[i]);
    if (part == "layout") return layout_text(statement.layout);
    if (part == "pass") return pass_text(statement.pass);
    if (part == "body") return body(statement);
    if (part == "layer") return layer(statement);
    if (part == "layers") return layers(statement);
    throw errors::Internal("a form has the part '{}', which nothing prints.", part);
  }

  std::string body(const Statement& statement) {
    for (size_t i = 0; i < statement.body_params.size(); ++i) {
      inner_names_[statement.body_params[i]] = fmt::format("given[{}]", i);
    }
    return "[&]([[maybe_unused]] const TensorList& given) {\n" + inner(statement) + "return " +
           name_of(statement.body_result) + "; }";
  }

  std::string layer(const Statement& statement) {
    inner_names_[statement.body_params[0]] = "x";
    for (size_t i = 1; i < statement.body_params.size(); ++i) {
      inner_names_[statement.body_params[i]] = fmt::format("layer[{}]", i - 1);
    }
    return "[&](const Tensor& x, [[maybe_unused]] const TensorList& layer) {\n" + inner(statement) +
           "return Site::like(" + name_of(statement.body_result) + ", x); }";
  }

  std::string inner(const Statement& statement) {
    std::ostringstream outer;
    std::swap(outer, out_);
    for (const Statement& each : statement.body) write(each, "      ");
    std::swap(outer, out_);
    return outer.str();
  }

  std::string layers(const Statement& statement) {
    const auto trips = static_cast<size_t>(statement.ints[0][0]);
    const size_t width = (statement.args.size() - 1) / trips;
    std::vector<std::string> layers;
    for (size_t i = 0; i < trips; ++i) {
      const auto first = statement.args.begin() + static_cast<std::ptrdiff_t>(1 + i * width);
      layers.push_back(
          listed(std::vector<ValueId>(first, first + static_cast<std::ptrdiff_t>(width)),
                 [&](ValueId value) { return name_of(value); }));
    }
    // Two layers in braces could be taken for a pair of iterators.
    return "std::vector<TensorList>" +
           listed(layers, [](const std::string& s) { return "TensorList" + s; });
  }

  const RandomProgram& program_;
  std::ostringstream out_;
  std::unordered_map<ValueId, std::string> inner_names_;
};

}  // namespace

std::string to_test(const RandomProgram& program, const std::string& name,
                    const std::string& remark, const char* assertion) {
  return Printer(program).run(name, remark, assertion);
}

}  // namespace phi::testing::programs
