// Eliminates variables by fewest neighbours, and reads values and marginal costs off the buckets.
#include "distributed/planner/elimination/elimination.h"

#include <algorithm>
#include <set>
#include <utility>

namespace phi::distributed::planner {
namespace {

// All values of a variable, at no cost.
CostTable free_table(int variable, size_t num_choices) {
  CostTable table({variable});
  for (size_t value = 0; value < num_choices; ++value) {
    const Choice choice = static_cast<Choice>(value);
    table.add({&choice, 1}, {});
  }
  return table;
}

size_t num_shared(const CostTable& a, const CostTable& b) {
  return static_cast<size_t>(
      std::ranges::count_if(b.variables(), [&](int v) { return a.column_of(v) >= 0; }));
}

// The row that has these values, in a sorted table.
size_t find_row(const CostTable& table, std::span<const Choice> values) {
  size_t low = 0, high = table.num_rows();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (std::ranges::lexicographical_compare(table.row(middle), values)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

class Elimination::Builder {
 public:
  Builder(const ChoiceProblem& problem, size_t most_rows)
      : num_choices_(problem.num_choices),
        most_rows_(most_rows),
        combinations_(problem.num_choices.size()),
        tables_of_(problem.num_choices.size()),
        neighbours_(problem.num_choices.size()) {
    for (size_t v = 0; v < problem.num_choices.size(); ++v) {
      add(free_table(static_cast<int>(v), problem.num_choices[v]), std::nullopt);
    }
    for (const CostTable& table : problem.tables) add(table, std::nullopt);
  }

  void run(Elimination* out) {
    for (size_t v = 0; v < neighbours_.size(); ++v) enqueue(static_cast<int>(v));
    while (!queue_.empty() && out->is_feasible_) {
      const int next = queue_.extract(queue_.begin()).value().second;
      eliminate(next, out);
    }
  }

 private:
  struct Open {
    CostTable table;
    std::optional<size_t> sender;  // the bucket whose message it is
  };

  // Puts a variable at its place in the order of elimination.
  void enqueue(int variable) {
    double combinations = 1;
    for (const int v : neighbours_[static_cast<size_t>(variable)])
      combinations *= static_cast<double>(num_choices_[static_cast<size_t>(v)]);
    combinations_[static_cast<size_t>(variable)] = combinations;
    queue_.emplace(combinations, variable);
  }

  void add(CostTable table, std::optional<size_t> sender) {
    for (const int a : table.variables()) {
      for (const int b : table.variables()) {
        if (a != b) neighbours_[static_cast<size_t>(a)].insert(b);
      }
    }
    for (const int v : table.variables())
      tables_of_[static_cast<size_t>(v)].push_back(open_.size());
    open_.emplace_back(Open{std::move(table), sender});
  }

  // Takes the tables of a variable out of the open ones.
  std::vector<Open> take(int variable) {
    std::vector<Open> taken;
    for (const size_t i : tables_of_[static_cast<size_t>(variable)]) {
      if (open_[i]) taken.push_back(*std::exchange(open_[i], std::nullopt));
    }
    return taken;
  }

  // The smallest first, then those with the most variables of the joint.
  CostTable join_all(std::vector<Open> parts) const {
    const auto smallest =
        std::ranges::min_element(parts, {}, [](const Open& each) { return each.table.num_rows(); });
    CostTable joint = smallest->table;
    parts.erase(smallest);
    while (!parts.empty()) {
      const auto next = std::ranges::min_element(parts, {}, [&](const Open& each) {
        const size_t shared = num_shared(joint, each.table);
        return std::pair(each.table.variables().size() - shared, each.table.num_rows());
      });
      joint = joined(joint, next->table, most_rows_);
      parts.erase(next);
    }
    return joint;
  }

  void eliminate(int variable, Elimination* out) {
    std::vector<Open> parts = take(variable);
    const size_t own = out->buckets_.size();
    for (const Open& part : parts) {
      if (part.sender) out->buckets_[*part.sender].receiver = own;
    }
    auto& near = neighbours_[static_cast<size_t>(variable)];
    std::vector<int> variables(near.begin(), near.end());
    for (const int v : variables) neighbours_[static_cast<size_t>(v)].erase(variable);
    const std::vector<int> others = variables;
    variables.push_back(variable);
    Bucket& bucket = out->buckets_.emplace_back();
    bucket.variable = variable;
    bucket.joint = join_all(std::move(parts)).sorted_by(variables);
    bucket.message = bucket.joint.without_last(&bucket.best_rows);
    if (bucket.message.num_rows() == 0) {
      out->is_feasible_ = false;
    } else if (bucket.message.variables().empty()) {
      out->cost_ += bucket.message.cost(0);
    } else {
      add(bucket.message, own);
    }
    for (const int v : others) {
      queue_.erase({combinations_[static_cast<size_t>(v)], v});
      enqueue(v);
    }
  }

  const std::vector<size_t>& num_choices_;
  size_t most_rows_;
  std::vector<double> combinations_;            // of the neighbours, by variable
  std::set<std::pair<double, int>> queue_;      // of variables that are not eliminated
  std::vector<std::optional<Open>> open_;       // empty: taken
  std::vector<std::vector<size_t>> tables_of_;  // by variable
  std::vector<std::set<int>> neighbours_;       // of variables that are not eliminated
};

Elimination::Elimination(const ChoiceProblem& problem, size_t most_rows)
    : num_variables_(problem.num_choices.size()),
      num_choices_(problem.num_choices),
      most_rows_(most_rows) {
  Builder(problem, most_rows).run(this);
}

std::vector<Choice> Elimination::choices() const {
  std::vector<Choice> choices(num_variables_);
  for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend(); ++bucket) {
    std::vector<Choice> others;
    for (const int v : bucket->message.variables())
      others.push_back(choices[static_cast<size_t>(v)]);
    const size_t best = bucket->best_rows[find_row(bucket->message, others)];
    choices[static_cast<size_t>(bucket->variable)] = bucket->joint.row(best).back();
  }
  return choices;
}

CostTable Elimination::rest_of(const Bucket& bucket, const CostTable& whole_of_receiver) const {
  std::vector<int> order = bucket.message.variables();
  const size_t kept = order.size();
  for (const int v : whole_of_receiver.variables()) {
    if (bucket.message.column_of(v) < 0) order.push_back(v);
  }
  CostTable whole = whole_of_receiver.sorted_by(order);
  for (size_t i = order.size(); i > kept; --i) whole = whole.without_last(nullptr);
  CostTable rest(bucket.message.variables());
  for (size_t i = 0; i < whole.num_rows(); ++i) {
    const size_t own = find_row(bucket.message, whole.row(i));
    rest.add(whole.row(i), whole.cost(i) - bucket.message.cost(own));
  }
  return rest;
}

std::vector<std::vector<std::optional<Cost>>> Elimination::cost_by_choice() const {
  std::vector<std::vector<std::optional<Cost>>> result(num_variables_);
  // For each bucket, what the whole problem costs for each row of its joint.
  std::vector<CostTable> whole(buckets_.size(), CostTable({}));
  for (size_t i = buckets_.size(); i-- > 0;) {
    const Bucket& bucket = buckets_[i];
    CostTable rest({});
    if (bucket.receiver) {
      rest = rest_of(bucket, whole[*bucket.receiver]);
    } else {
      rest.add({}, cost_ - bucket.message.cost(0));
    }
    whole[i] = joined(bucket.joint, rest, most_rows_);
    auto& costs = result[static_cast<size_t>(bucket.variable)];
    costs.resize(num_choices_[static_cast<size_t>(bucket.variable)]);
    const auto column = static_cast<size_t>(whole[i].column_of(bucket.variable));
    for (size_t row = 0; row < whole[i].num_rows(); ++row) {
      std::optional<Cost>& least = costs[whole[i].row(row)[column]];
      if (!least || whole[i].cost(row) < *least) least = whole[i].cost(row);
    }
  }
  return result;
}

}  // namespace phi::distributed::planner
