// Attempts, from large to small, until none succeeds.
#include "shrink.h"

#include <algorithm>
#include <set>

#include "forms.h"
#include "rules.h"

namespace phi::testing::programs {
namespace {

using distributed::ProcessMesh;

// Calls f with every statement, those of bodies included.
template <typename F>
void each_statement(std::vector<Statement>& statements, const F& f) {
  for (Statement& statement : statements) {
    f(statement);
    each_statement(statement.body, f);
  }
}

bool are_halves_of_a_move(const Statement& a, const Statement& b) {
  const auto is_half = [](const Statement& statement) {
    return statement.form == form("start") || statement.form == form("wait");
  };
  return is_half(a) && is_half(b) && a.ints == b.ints;
}

// Without statement `at` and all that uses what it makes.
RandomProgram without_statement(const RandomProgram& program, size_t at) {
  RandomProgram smaller = program;
  std::set<ValueId> lost;
  smaller.statements.clear();
  for (size_t i = 0; i < program.statements.size(); ++i) {
    const Statement& statement = program.statements[i];
    const auto read = values_read(statement);
    const bool uses_lost =
        std::any_of(read.begin(), read.end(), [&](ValueId v) { return lost.contains(v); });
    if (i == at || uses_lost || are_halves_of_a_move(statement, program.statements[at])) {
      lost.insert(statement.outs.begin(), statement.outs.end());
    } else {
      smaller.statements.push_back(statement);
    }
  }
  std::erase_if(smaller.results, [&](ValueId v) { return lost.contains(v); });
  return smaller;
}

// Statement `at` left out, its first argument in place of what it makes.
RandomProgram bypassed(const RandomProgram& program, size_t at) {
  RandomProgram smaller = program;
  const Statement gone = program.statements[at];
  smaller.statements.erase(smaller.statements.begin() + static_cast<std::ptrdiff_t>(at));
  if (gone.outs.size() != 1 || gone.args.empty()) return program;
  const auto rename = [&](ValueId& value) {
    if (value == gone.outs[0]) value = gone.args[0];
  };
  each_statement(smaller.statements, [&](Statement& statement) {
    for (ValueId& value : statement.args) rename(value);
  });
  for (ValueId& value : smaller.results) rename(value);
  return smaller;
}

// Without what is given as `value`, if nothing uses it; numbers behind it move up.
RandomProgram without_given(const RandomProgram& program, ValueId gone) {
  RandomProgram smaller = program;
  bool is_used = std::count(program.results.begin(), program.results.end(), gone) > 0;
  const auto renumber = [&](ValueId& value) {
    is_used = is_used || value == gone;
    if (value > gone) --value;
  };
  const auto renumber_all = [&](std::vector<ValueId>& values) {
    for (ValueId& value : values) renumber(value);
  };
  each_statement(smaller.statements, [&](Statement& statement) {
    renumber_all(statement.args);
    renumber_all(statement.outs);
    renumber_all(statement.body_params);
    renumber(statement.body_result);
  });
  renumber_all(smaller.results);
  if (is_used) return program;
  const bool is_input = gone < program.num_inputs();
  auto& list = is_input ? smaller.setting.inputs : smaller.setting.parameters;
  list.erase(list.begin() + (is_input ? gone : gone - program.num_inputs()));
  return smaller;
}

// Calls f with every layout.
template <typename F>
void each_layout(RandomProgram& program, const F& f) {
  for (auto* list : {&program.setting.inputs, &program.setting.parameters}) {
    for (Given& given : *list) f(given.layout);
  }
  each_statement(program.statements, [&](Statement& statement) { f(statement.layout); });
}

RandomProgram without_mesh(const RandomProgram& program, int gone, int instead) {
  RandomProgram smaller = program;
  auto& meshes = smaller.setting.meshes;
  const auto ndim = static_cast<size_t>(meshes[static_cast<size_t>(instead)].ndim());
  each_layout(smaller, [&](Layout& layout) {
    if (layout.mesh == gone) {
      layout.mesh = instead;
      layout.placements.resize(std::min(layout.placements.size(), ndim));
    }
    if (layout.mesh > gone) --layout.mesh;
  });
  meshes.erase(meshes.begin() + gone);
  return smaller;
}

RandomProgram with_mesh(const RandomProgram& program, size_t number, const ProcessMesh& mesh) {
  RandomProgram smaller = program;
  smaller.setting.meshes[number] = mesh;
  each_layout(smaller, [&](Layout& layout) {
    if (layout.mesh != static_cast<int>(number)) return;
    layout.placements.resize(std::min(layout.placements.size(), static_cast<size_t>(mesh.ndim())));
  });
  return smaller;
}

RandomProgram with_extent(const RandomProgram& program, int64_t from, int64_t to) {
  RandomProgram smaller = program;
  for (auto* list : {&smaller.setting.inputs, &smaller.setting.parameters}) {
    for (Given& given : *list) std::replace(given.shape.begin(), given.shape.end(), from, to);
  }
  each_statement(smaller.statements, [&](Statement& statement) {
    for (auto& ints : statement.ints) std::replace(ints.begin(), ints.end(), from, to);
  });
  return smaller;
}

class Shrinker {
 public:
  Shrinker(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails, int tries)
      : best_(std::move(program)), fails_(fails), tries_(tries) {}

  RandomProgram run() {
    for (bool again = true; again && tries_ > 0;) {
      again = false;
      again |= drop_statements();
      again |= drop_results();
      again |= drop_given();
      again |= simplify_meshes();
      again |= simplify_layouts();
      again |= simplify_flags();
      again |= shrink_extents();
    }
    return std::move(best_);
  }

 private:
  // Keeps the candidate if it is a program, and fails.
  bool keep(const RandomProgram& candidate) {
    if (tries_ <= 0 || !refusal_of(candidate).empty()) return false;
    --tries_;
    if (!fails_(candidate)) return false;
    best_ = candidate;
    return true;
  }

  bool drop_statements() {
    bool any = false;
    for (size_t i = best_.statements.size(); i-- > 0;) {
      if (i >= best_.statements.size()) continue;
      if (keep(without_statement(best_, i))) {
        any = true;
      } else if (best_.statements[i].outs.size() == 1) {
        any |= keep(bypassed(best_, i));
      }
    }
    return any;
  }

  bool drop_results() {
    bool any = false;
    for (size_t i = best_.results.size(); i-- > 0;) {
      RandomProgram candidate = best_;
      candidate.results.erase(candidate.results.begin() + static_cast<std::ptrdiff_t>(i));
      any |= keep(candidate);
    }
    return any;
  }

  bool drop_given() {
    bool any = false;
    for (ValueId value = best_.num_given(); value-- > 0;) {
      const RandomProgram candidate = without_given(best_, value);
      any |= candidate.num_given() < best_.num_given() && keep(candidate);
    }
    return any;
  }

  bool simplify_meshes() {
    bool any = false;
    const auto num_meshes = [&] { return best_.setting.meshes.size(); };
    for (size_t gone = num_meshes(); gone-- > 0 && num_meshes() > 1;) {
      for (size_t instead = 0; instead < num_meshes(); ++instead) {
        if (instead == gone) continue;
        if (!keep(without_mesh(best_, static_cast<int>(gone), static_cast<int>(instead)))) continue;
        any = true;
        break;
      }
    }
    for (size_t i = 0; i < num_meshes(); ++i) any |= simplify_mesh(i);
    for (int64_t world = 1; world < best_.setting.world; ++world) {
      if (highest_rank() >= world) continue;
      RandomProgram candidate = best_;
      candidate.setting.world = world;
      any |= keep(candidate);
    }
    return any;
  }

  int64_t highest_rank() const {
    int64_t highest = 0;
    for (const ProcessMesh& mesh : best_.setting.meshes) {
      for (const int64_t rank : mesh.ranks()) highest = std::max(highest, rank);
    }
    return highest;
  }

  bool simplify_mesh(size_t number) {
    const ProcessMesh mesh = best_.setting.meshes[number];
    std::vector<int64_t> ranks = mesh.ranks();
    for (int64_t size = 1; size <= std::min<int64_t>(2, mesh.size()); ++size) {
      ranks.resize(static_cast<size_t>(size));
      const ProcessMesh small({size}, {"x"}, ranks);
      if (small != mesh && keep(with_mesh(best_, number, small))) return true;
      ranks = mesh.ranks();
    }
    const ProcessMesh regular(mesh.shape(), mesh.dim_names());
    return regular != mesh && keep(with_mesh(best_, number, regular));
  }

  bool simplify_layouts() {
    bool any = false;
    int count = 0;
    each_layout(best_, [&](Layout&) { ++count; });
    for (int i = 0; i < count; ++i) {
      any |= change_layout(i, [](Layout& layout) { layout = Layout{}; });
      for (size_t m = 0; m < 3; ++m) {
        any |= change_layout(i, [m](Layout& layout) {
          if (m < layout.placements.size()) layout.placements[m] = distributed::Replicate();
        });
      }
    }
    return any;
  }

  template <typename Change>
  bool change_layout(int number, const Change& change) {
    RandomProgram candidate = best_;
    int at = 0;
    bool changed = false;
    each_layout(candidate, [&](Layout& layout) {
      if (at++ != number) return;
      const Layout before = layout;
      // A move has to go somewhere.
      const bool is_given = number < best_.num_given();
      change(layout);
      if (!is_given && layout.is_plain()) layout = before;
      changed = layout != before;
    });
    return changed && keep(candidate);
  }

  bool simplify_flags() {
    bool any = false;
    const auto attempt = [&](bool wanted, const auto& change) {
      if (!wanted) return;
      RandomProgram candidate = best_;
      change(candidate);
      any |= keep(candidate);
    };
    const Case& setting = best_.setting;
    attempt(setting.uses_disk, [](RandomProgram& p) { p.setting.uses_disk = false; });
    attempt(!setting.is_bitwise, [](RandomProgram& p) { p.setting.is_bitwise = true; });
    attempt(setting.is_smooth, [](RandomProgram& p) { p.setting.is_smooth = false; });
    attempt(setting.reads_aliases, [](RandomProgram& p) { p.setting.reads_aliases = false; });
    attempt(setting.dtype != DataType::FLOAT64,
            [](RandomProgram& p) { p.setting.dtype = DataType::FLOAT64; });
    for (size_t i = 0; i < static_cast<size_t>(best_.num_given()); ++i) {
      const auto given = [i](RandomProgram& p) -> Given& {
        const auto inputs = p.setting.inputs.size();
        return i < inputs ? p.setting.inputs[i] : p.setting.parameters[i - inputs];
      };
      attempt(given(best_).needs_grad, [&](RandomProgram& p) { given(p).needs_grad = false; });
      attempt(given(best_).meanwhile != Meanwhile::kNothing,
              [&](RandomProgram& p) { given(p).meanwhile = Meanwhile::kNothing; });
    }
    for (size_t i = 0; i < best_.statements.size(); ++i) {
      attempt(best_.statements[i].no_grad,
              [i](RandomProgram& p) { p.statements[i].no_grad = false; });
    }
    return any;
  }

  bool shrink_extents() {
    std::set<int64_t> extents;
    for (ValueId value = 0; value < best_.num_given(); ++value) {
      extents.insert(best_.given(value).shape.begin(), best_.given(value).shape.end());
    }
    bool any = false;
    for (const int64_t extent : extents) {
      for (const int64_t smaller : {int64_t{1}, int64_t{2}, int64_t{3}, extent - 1}) {
        if (smaller < 0 || smaller >= extent || !keep(with_extent(best_, extent, smaller)))
          continue;
        any = true;
        break;
      }
    }
    return any;
  }

  RandomProgram best_;
  const std::function<bool(const RandomProgram&)>& fails_;
  int tries_;
};

}  // namespace

RandomProgram shrink(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails,
                     int tries) {
  return Shrinker(std::move(program), fails, tries).run();
}

}  // namespace phi::testing::programs
