// Parses a function's text to instructions. Every operand becomes a slot. Names are looked up in
// the enclosing braces, the function's parameters, and the module.
#include "support/cuda_on_cpu/ptx/function_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "support/cuda_on_cpu/block_state.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/ptx/declaration.h"
#include "support/cuda_on_cpu/ptx/instruction_set.h"

namespace cuda_on_cpu::ptx {
namespace {

// Initial value of a register: NaN as a number, and an invalid address.
constexpr uint64_t kUnwritten = 0xffff'dead'ffff'dead;

uint32_t (*special_value(std::string_view name))() {
  static const std::unordered_map<std::string_view, uint32_t (*)()> values{
      {"%tid.x", [] { return threadIdx.x; }},
      {"%tid.y", [] { return threadIdx.y; }},
      {"%tid.z", [] { return threadIdx.z; }},
      {"%ctaid.x", [] { return blockIdx.x; }},
      {"%ctaid.y", [] { return blockIdx.y; }},
      {"%ctaid.z", [] { return blockIdx.z; }},
      {"%ntid.x", [] { return blockDim.x; }},
      {"%ntid.y", [] { return blockDim.y; }},
      {"%ntid.z", [] { return blockDim.z; }},
      {"%nctaid.x", [] { return gridDim.x; }},
      {"%nctaid.y", [] { return gridDim.y; }},
      {"%nctaid.z", [] { return gridDim.z; }},
      {"%laneid", [] { return static_cast<uint32_t>(now.current % kWarp); }},
  };
  const auto found = values.find(name);
  return found == values.end() ? nullptr : found->second;
}

// The bits of a literal: 12, -3, 0xff, 0f3F800000, 0d3FF0000000000000.
std::optional<uint64_t> number(std::string_view token) {
  const bool negative = token.starts_with('-');
  const std::string digits(token.substr(negative ? 1 : 0));
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return std::nullopt;
  const bool bits =
      digits.size() > 2 && std::string_view("fFdD").find(digits[1]) != std::string::npos;
  char* end = nullptr;
  const uint64_t value =
      bits ? std::strtoull(digits.c_str() + 2, &end, 16) : std::strtoull(digits.c_str(), &end, 0);
  if (*end == 'U') ++end;
  if (*end != '\0') return std::nullopt;
  return negative ? 0 - value : value;
}

// The opcode as the tables have it. State space and caching are dropped, because they do not matter
// here.
std::string row_name(std::string_view opcode) {
  const bool is_access = opcode.starts_with("ld.") || opcode.starts_with("st.") ||
                         opcode.starts_with("atom.") || opcode.starts_with("wmma.load.") ||
                         opcode.starts_with("ldmatrix.");
  std::string name(opcode);
  const auto drop = [&name](std::string_view part) {
    const size_t at = name.find(part);
    if (at == std::string::npos) return;
    const size_t end = at + part.size();
    if (end == name.size() || name[end] == '.') name.erase(at, part.size());
  };
  if (is_access) {
    for (const char* part : {".global", ".shared", ".local", ".param", ".const", ".nc"}) drop(part);
  }
  drop(".uni");
  return name;
}

class Reader {
 public:
  Reader(std::string_view text, Module& module) : tokens_(text), module_(module) {}

  std::unique_ptr<Function> read() {
    read_head();
    while (!tokens_.is("{") && !tokens_.is(";")) tokens_.take();  // skips .maxntid and the like
    if (!tokens_.skip("{")) return nullptr;
    scopes_.emplace_back();
    while (!scopes_.empty()) read_statement();
    finish();
    return std::move(function_);
  }

 private:
  struct Scope {
    std::unordered_map<std::string, Slot> registers;
    std::unordered_map<std::string, size_t> variables;  // offset in the call's memory
  };
  struct Range {  // "%r<10>"
    Slot first;
    size_t count;
  };

  [[noreturn]] void refuse_at(int line, const std::string& what) const {
    fail(fmt::format("line {} of the PTX of {}: {}", line, function_->name, what));
  }
  [[noreturn]] void refuse(const std::string& what) const { refuse_at(tokens_.line(), what); }

  // ---- the head ----

  void read_head() {
    skip_linkage(tokens_);
    function_->is_kernel = tokens_.take() == ".entry";
    scopes_.emplace_back();  // scope of the parameters
    if (!function_->is_kernel && tokens_.is("(")) read_variables(function_->results);
    function_->name = tokens_.take();
    if (tokens_.is("(")) read_variables(function_->parameters);
  }

  // "(.param .b64 a, .param .b64 b)"
  void read_variables(std::vector<Function::Variable>& to) {
    tokens_.take();
    while (!tokens_.skip(")")) {
      const Declaration declared = read_declaration(tokens_);
      if (function_->is_kernel) {
        parameters_.emplace(declared.name, to.size());
        to.push_back({0, declared.size});
      } else {
        to.push_back({declare(declared), declared.size});
      }
      tokens_.skip(",");
    }
  }

  // ---- statements ----

  void read_statement() {
    const std::string_view first = tokens_.now();
    if (tokens_.skip("{")) {
      scopes_.emplace_back();
    } else if (tokens_.skip("}")) {
      scopes_.pop_back();
      if (scopes_.size() == 1) scopes_.pop_back();  // the body has ended
    } else if (first == ".reg") {
      read_registers();
    } else if (first == ".local" || first == ".param") {
      declare(read_declaration(tokens_));
      end_statement();
    } else if (first == ".loc" || first == ".file") {
      tokens_.skip_line();
    } else if (first.starts_with('.')) {  // .pragma; .shared and .global are the module's
      while (!tokens_.skip(";")) tokens_.take();
    } else {
      read_instruction_or_label();
    }
  }

  void end_statement() {
    if (!tokens_.skip(";")) refuse(fmt::format("; is missing before {}", tokens_.now()));
  }

  void read_registers() {
    tokens_.take();
    tokens_.take();  // the type
    do {
      const std::string name(tokens_.take());
      if (tokens_.skip("<")) {
        const auto count = static_cast<size_t>(number(tokens_.take()).value_or(0));
        tokens_.skip(">");
        ranges_[name] = {new_slot(kUnwritten, count), count};
      } else {
        scopes_.back().registers[name] = new_slot(kUnwritten);
      }
    } while (tokens_.skip(","));
    end_statement();
  }

  size_t declare(const Declaration& declared) {
    size_t& end = function_->memory;
    end = (end + declared.alignment - 1) / declared.alignment * declared.alignment;
    const size_t offset = end;
    end += declared.size;
    scopes_.back().variables[declared.name] = offset;
    return offset;
  }

  void read_instruction_or_label() {
    Instruction instruction;
    instruction.line = tokens_.line();
    if (tokens_.skip("@")) {
      instruction.guarded = true;
      instruction.guard_value = !tokens_.skip("!");
      instruction.guard = operand(tokens_.take());
    }
    const std::string opcode(tokens_.take());
    if (tokens_.skip(":")) {
      labels_[opcode] = function_->code.size();
      return;
    }
    read_operands(opcode, instruction);
    function_->code.push_back(instruction);
  }

  // ---- instructions ----

  void read_operands(const std::string& opcode, Instruction& instruction) {
    std::string row = row_name(opcode);
    first_operands_.push_back(function_->operands.size());
    if (row == "bra") {
      jumps_.emplace_back(function_->code.size(), tokens_.take());
    } else if (row == "call") {
      read_call(instruction);
    } else {
      size_t parts = 0;  // elements of the operand in braces
      bool parts_first = false;
      for (size_t i = 0; !tokens_.is(";"); ++i) {
        if (tokens_.is("{")) {
          parts = read_list("}");
          parts_first = i == 0;
        } else {
          read_operand(instruction);
        }
        if (!tokens_.skip(",") && !tokens_.is(";")) {
          refuse(fmt::format("{} is not expected after {}", tokens_.now(), opcode));
        }
      }
      if (parts != 0 && row.starts_with("mov.")) {
        row += fmt::format(".{}pack{}", parts_first ? "un" : "", parts);
      }
    }
    end_statement();
    instruction.run = find_instruction(row);
    if (instruction.run == nullptr || !has_known_form(row)) {
      refuse_at(instruction.line, fmt::format("the instruction {} is not known", opcode));
    }
  }

  // Rejects forms that opcodes do not distinguish: shuffles without a range predicate, and barriers
  // of some threads or with another number.
  bool has_known_form(const std::string& row) const {
    const auto& operands = function_->operands;
    const size_t count = operands.size() - first_operands_.back();
    if (row.starts_with("shfl.")) return count == 6;
    return row != "bar.sync" || (count == 1 && function_->slots[operands.back()] == 0);
  }

  void add_operand(Slot slot) { function_->operands.push_back(slot); }

  // Reads "{%r1, %r2}" or "(a, b)" from the opening sign to `end`; returns the number of elements.
  size_t read_list(std::string_view end) {
    size_t count = 0;
    for (tokens_.take(); !tokens_.skip(end); ++count) {
      add_operand(operand(tokens_.take()));
      tokens_.skip(",");
    }
    return count;
  }

  // "%r1", "12", "name", "name+8", "%r1|%p1", "[%rd1+8]"
  void read_operand(Instruction& instruction) {
    if (tokens_.skip("[")) {
      const std::string_view base = tokens_.take();
      if (tokens_.skip("+")) instruction.offset = static_cast<int64_t>(read_number());
      if (!tokens_.skip("]")) refuse("] is missing");
      add_operand(operand(base));
      return;
    }
    const std::string_view token = tokens_.take();
    const int64_t offset = tokens_.skip("+") ? static_cast<int64_t>(read_number()) : 0;
    add_operand(operand(token, offset));
    if (tokens_.skip("|")) add_operand(operand(tokens_.take()));
  }

  uint64_t read_number() {
    const std::string_view token = tokens_.take();
    const auto value = number(token);
    if (!value) refuse(fmt::format("{} is not a number", token));
    return *value;
  }

  // "(result), name, (argument, argument)" or "name, (argument)"
  void read_call(Instruction& instruction) {
    if (tokens_.is("(")) read_list(")");
    tokens_.skip(",");
    const Function& callee = module_.function(std::string(tokens_.take()));
    tokens_.skip(",");
    if (tokens_.is("(")) read_list(")");
    const size_t given = function_->operands.size() - first_operands_.back();
    if (given != callee.results.size() + callee.parameters.size()) {
      refuse(fmt::format("{} does not have {} results and arguments", callee.name, given));
    }
    instruction.callee = &callee;
    function_->shared.insert(function_->shared.end(), callee.shared.begin(), callee.shared.end());
  }

  // ---- names ----

  Slot new_slot(uint64_t value, size_t count = 1) {
    const size_t first = function_->slots.size();
    function_->slots.resize(first + count, value);
    return static_cast<Slot>(first);
  }

  Slot constant(uint64_t value) {
    const auto [known, fresh] = constants_.try_emplace(value, 0);
    if (fresh) known->second = new_slot(value);
    return known->second;
  }

  Slot operand(std::string_view token, int64_t offset = 0) {
    if (const auto value = number(token)) return constant(*value);
    const std::string name(token);
    if (token == "_") return new_slot(kUnwritten);  // unused result
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto it = scope->registers.find(name); it != scope->registers.end()) {
        return it->second;
      }
      if (const auto it = scope->variables.find(name); it != scope->variables.end()) {
        const Slot slot = new_slot(kUnwritten);
        function_->addresses.push_back({slot, it->second + static_cast<size_t>(offset)});
        return slot;
      }
    }
    if (const auto slot = numbered_register(name)) return *slot;
    if (const auto it = parameters_.find(name); it != parameters_.end()) {
      const Slot slot = new_slot(kUnwritten);
      function_->given.push_back({slot, it->second, offset});
      return slot;
    }
    if (auto* const value = special_value(token)) {
      const auto [known, fresh] = specials_.try_emplace(name, 0);
      if (fresh) {
        known->second = new_slot(kUnwritten);
        function_->specials.push_back({known->second, value});
      }
      return known->second;
    }
    return variable_of_module(name, offset);
  }

  std::optional<Slot> numbered_register(const std::string& name) const {
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    const auto range = ranges_.find(name.substr(0, digits));
    if (digits == name.size() || range == ranges_.end()) return std::nullopt;
    const size_t index = std::strtoull(name.c_str() + digits, nullptr, 10);
    if (index >= range->second.count) return std::nullopt;
    return static_cast<Slot>(range->second.first + index);
  }

  Slot variable_of_module(const std::string& name, int64_t offset) {
    const ModuleVariable* const variable = module_.variable(name);
    if (variable == nullptr) refuse(fmt::format("{} is not defined", name));
    if (variable->is_shared) {
      auto& shared = function_->shared;
      const bool known = std::any_of(shared.begin(), shared.end(), [&](const SharedArray& array) {
        return array.begin == variable->address;
      });
      if (!known) shared.push_back({variable->address, variable->size});
    }
    return constant(reinterpret_cast<uint64_t>(variable->address) + static_cast<uint64_t>(offset));
  }

  // Resolves addresses of variables at their final positions.
  void finish() {
    Function& done = *function_;
    first_operands_.push_back(done.operands.size());
    done.code.push_back({.run = find_instruction("ret")});
    for (size_t i = 0; i < done.code.size(); ++i) {
      done.code[i].slots = done.operands.data() + first_operands_[i];
    }
    for (const auto& [at, label] : jumps_) {
      const auto target = labels_.find(label);
      if (target == labels_.end()) refuse(fmt::format("there is no label {}", label));
      done.code[at].target = done.code.data() + target->second;
    }
  }

  Tokens tokens_;
  Module& module_;
  std::unique_ptr<Function> function_ = std::make_unique<Function>();
  std::vector<Scope> scopes_;
  std::unordered_map<std::string, Range> ranges_;
  std::unordered_map<std::string, size_t> parameters_;  // number of each kernel parameter
  std::unordered_map<uint64_t, Slot> constants_;
  std::unordered_map<std::string, Slot> specials_;
  std::unordered_map<std::string, size_t> labels_;
  std::vector<std::pair<size_t, std::string>> jumps_;
  std::vector<size_t> first_operands_;  // first operand of each instruction
};

}  // namespace

std::unique_ptr<Function> read_function(std::string_view text, Module& module) {
  return Reader(text, module).read();
}

}  // namespace cuda_on_cpu::ptx
