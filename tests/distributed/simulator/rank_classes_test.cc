// Simulation by class against simulation rank by rank: the times are equal to the last bit.
#include "distributed/simulator/rank_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "distributed/placement/split.h"
#include "distributed/simulator/simulate.h"

namespace phi::distributed::simulator {
namespace {

struct Mesh {
  int64_t dp, pp, tp;
  int64_t ranks() const { return dp * pp * tp; }
  int64_t rank(int64_t d, int64_t p, int64_t t) const { return (d * pp + p) * tp + t; }
};

enum class Order : uint8_t { kAllForwardsFirst, kOneForwardOneBackward };

// How calls list what members exchange whose parts have different sizes.
enum class Update : uint8_t { kNone, kByParts, kByDistances };

struct Job {
  Mesh mesh;
  Order order = Order::kOneForwardOneBackward;
  int64_t micro_batches = 4;
  int64_t columns = 64;           // split over tp; uneven if tp does not divide them
  int64_t samples = 64;           // split over dp
  bool exchanges_all = false;     // an all-to-all over dp in each forward
  bool has_broadcast = false;     // a broadcast from the first rank
  Update update = Update::kNone;  // scatters and gathers the samples over dp
};

double share(int64_t n, int64_t parts, int64_t i) {
  return static_cast<double>(split_range(n, parts, i).size);
}

// The program of one rank of a training step.
class ProgramOf {
 public:
  ProgramOf(const Job& job, int64_t rank)
      : job_(job),
        mesh_(job.mesh),
        d_(rank / mesh_.tp / mesh_.pp),
        p_(rank / mesh_.tp % mesh_.pp),
        t_(rank % mesh_.tp) {}

  RankProgram build() {
    if (job_.has_broadcast) broadcast();
    const int64_t n = job_.micro_batches;
    const int64_t ahead = job_.order == Order::kAllForwardsFirst ? n : std::min(n, mesh_.pp - p_);
    for (int64_t m = 0; m < ahead; ++m) forward();
    for (int64_t m = 0; m < n; ++m) {
      backward();
      if (ahead + m < n) forward();
    }
    if (job_.update != Update::kNone && mesh_.dp > 2) update();
    work(0.001 * static_cast<double>(p_ + 1));
    collective("all_reduce", dp_group(), 4 * job_.columns / mesh_.tp);
    collective("all_reduce", world(), 4);
    return std::move(program_);
  }

 private:
  using Ranks = std::vector<int64_t>;

  Ranks dp_group() const {
    Ranks out;
    for (int64_t d = 0; d < mesh_.dp; ++d) out.push_back(mesh_.rank(d, p_, t_));
    return out;
  }
  Ranks tp_group() const {
    Ranks out;
    for (int64_t t = 0; t < mesh_.tp; ++t) out.push_back(mesh_.rank(d_, p_, t));
    return out;
  }
  Ranks world() const {
    Ranks out(static_cast<size_t>(mesh_.ranks()));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  // Stages p and p + 1. Gradients have a group of their own, as the order of calls is another.
  Ranks stages(int64_t p, bool is_gradient) const {
    Ranks out;
    for (int64_t d = 0; d < mesh_.dp; ++d) {
      for (int64_t stage : {p, p + 1}) {
        for (int64_t t = 0; t < mesh_.tp; ++t) out.push_back(mesh_.rank(d, stage, t));
      }
    }
    if (is_gradient) std::ranges::reverse(out);
    return out;
  }

  size_t index_of(const Ranks& ranks) {
    const auto known = std::ranges::find(program_.groups, ranks);
    const auto index = static_cast<size_t>(known - program_.groups.begin());
    if (known == program_.groups.end()) program_.groups.push_back(ranks);
    return index;
  }
  void work(double flops) {
    program_.events.emplace_back(Computation{"work", DataType::FLOAT32, flops, 1});
  }
  void collective(std::string_view op, const Ranks& ranks, int64_t bytes,
                  CallPattern pattern = CallPattern::kDirect) {
    GroupCall call{index_of(ranks), op, pattern, false, bytes, {}};
    for (int64_t i = 1; i < static_cast<int64_t>(ranks.size()); ++i)
      call.peers.push_back({i, 1, bytes, 1, bytes});
    if (ranks.size() > 1) add(call);
  }
  void broadcast() {
    const Ranks ranks = tp_group();
    const auto n = static_cast<int64_t>(ranks.size());
    GroupCall call{index_of(ranks), "broadcast", CallPattern::kTree, false, 0, {}};
    for (int64_t i = 1; t_ == 0 && i < n; ++i) call.peers.push_back({i, 1, 100, 0, 0});
    if (t_ > 0) call.peers.push_back({n - t_, 0, 0, 1, 100});
    add(call);
  }
  void exchange_parts(std::string_view op, CallPattern pattern, bool gathers, bool scatters) {
    const Ranks ranks = dp_group();
    GroupCall call{index_of(ranks), op, pattern, false, 0, {}, job_.samples};
    call.parts = {{}, gathers, scatters};
    for (int64_t d = 0; d < mesh_.dp; ++d) {
      const int64_t bytes = split_range(job_.samples, mesh_.dp, d).size;
      call.parts.by_position.push_back({(bytes + 1) / 2, bytes});
    }
    if (job_.update == Update::kByDistances) {
      for_each_peer(call, static_cast<size_t>(d_),
                    [&](const PeerTraffic& peer) { call.peers.push_back(peer); });
      call.parts = {};
    }
    add(std::move(call));
  }
  void update() {
    exchange_parts("reduce_scatter", CallPattern::kDirect, false, true);
    exchange_parts("all_reduce", CallPattern::kDirect, true, true);
    exchange_parts("exchange", CallPattern::kPointToPoint, false, true);
    exchange_parts("exchange", CallPattern::kPointToPoint, true, false);
    exchange_parts("all_gather", CallPattern::kDirect, true, false);
  }
  void add(GroupCall call) {
    program_.events.emplace_back(std::move(call));
    ++calls_;
  }

  // A message to or from a rank of the same coordinates in the other stage.
  void message(int64_t stage, bool is_sent, bool is_gradient) {
    const int64_t other = p_ == stage ? stage + 1 : stage;
    const Ranks ranks = stages(stage, is_gradient);
    const auto n = static_cast<int64_t>(ranks.size());
    const auto position = [&](int64_t p) {
      return std::ranges::find(ranks, mesh_.rank(d_, p, t_)) - ranks.begin();
    };
    const int64_t bytes = 8 * split_range(job_.columns, mesh_.tp, t_).size;
    GroupCall call{index_of(ranks), "exchange", CallPattern::kPointToPoint, true, 0, {}};
    const int64_t distance = (position(other) - position(p_) + n) % n;
    call.peers.push_back(is_sent ? PeerTraffic{distance, 1, bytes, 0, 0}
                                 : PeerTraffic{distance, 0, 0, 1, bytes});
    add(call);
    if (!is_sent) program_.events.emplace_back(CallWait{calls_ - 1});
  }

  double load() const {
    return share(job_.columns, mesh_.tp, t_) * share(job_.samples, mesh_.dp, d_);
  }
  void forward() {
    if (p_ > 0) message(p_ - 1, false, false);
    work(1e-4 * load() * (1 + 0.1 * static_cast<double>(p_ % 3)));
    collective("all_reduce", tp_group(), job_.samples);
    if (job_.exchanges_all) {
      const Ranks ranks = dp_group();
      GroupCall call{index_of(ranks), "all_to_all", CallPattern::kPointToPoint, false, 0, {}};
      for (int64_t i = 1; i < mesh_.dp; ++i) call.peers.push_back({i, 1, 50, 1, 50});
      add(call);
    }
    work(0.003);
    if (p_ + 1 < mesh_.pp) message(p_, true, false);
  }
  void backward() {
    if (p_ + 1 < mesh_.pp) message(p_, false, true);
    work(2e-4 * load());
    collective("all_reduce", tp_group(), job_.samples);
    if (p_ > 0) message(p_ - 1, true, true);
  }

  const Job& job_;
  const Mesh& mesh_;
  const int64_t d_, p_, t_;
  RankProgram program_;
  size_t calls_ = 0;
};

std::vector<RankProgram> programs_of(const Job& job) {
  std::vector<RankProgram> programs;
  for (int64_t rank = 0; rank < job.mesh.ranks(); ++rank)
    programs.push_back(ProgramOf(job, rank).build());
  return programs;
}

MachineModel machine_with_nodes_of(int64_t ranks, int64_t shared_by = 1) {
  MachineModel machine;
  machine.families[DataType::FLOAT32] = {
      {"matmul", {"work"}, WorkUnit::kFlops, {{1e-3, 0.7}, {1, 0.9}}},
      {"bytes", {}, WorkUnit::kBytes, {{1, 1}}}};
  machine.links = {{"node", ranks, 100, 3e-5}, {"network", 0, 700, 7e-6, shared_by}};
  machine.reduce_GBps = 1e-5;
  return machine;
}

// Simulates both ways, and returns the number of classes.
size_t compare(const Job& job, const MachineModel& machine,
               const std::map<int64_t, double>& slow = {}) {
  const std::vector<RankProgram> programs = programs_of(job);
  const SimulatedStep all = simulate(programs, machine, {.slow = slow, .one_by_one = true});
  const SimulatedStep by_class = simulate(programs, machine, {.slow = slow});
  EXPECT_EQ(all.classes, programs.size());
  EXPECT_EQ(all.seconds, by_class.seconds);
  EXPECT_EQ(all.ranks, by_class.ranks);
  EXPECT_GT(all.seconds, 0);
  for (size_t rank = 0; rank < programs.size(); ++rank) {
    EXPECT_LE(by_class.representatives[by_class.class_of[rank]], rank);
  }
  return by_class.classes;
}

TEST(RankClasses, EvenMeshesHaveOneClassPerStage) {
  for (const Order order : {Order::kAllForwardsFirst, Order::kOneForwardOneBackward}) {
    for (const Mesh& mesh : {Mesh{1, 1, 1},
                             {8, 1, 1},
                             {1, 4, 1},
                             {1, 1, 8},
                             {4, 4, 4},
                             {8, 8, 8},
                             {64, 1, 8},
                             {2, 16, 16}}) {
      SCOPED_TRACE(testing::PrintToString(std::vector{mesh.dp, mesh.pp, mesh.tp}));
      EXPECT_EQ(compare({.mesh = mesh, .order = order}, machine_with_nodes_of(8)),
                static_cast<size_t>(mesh.pp));
      EXPECT_EQ(
          compare({.mesh = mesh, .order = order, .exchanges_all = true}, machine_with_nodes_of(4)),
          static_cast<size_t>(mesh.pp));
    }
  }
}

TEST(RankClasses, UnevenShardsAreMoreClasses) {
  const MachineModel machine = machine_with_nodes_of(4);
  EXPECT_EQ(compare({.mesh = {2, 2, 4}, .columns = 66}, machine), 2u * 2);
  EXPECT_EQ(compare({.mesh = {4, 2, 2}, .samples = 66}, machine), 2u * 2);
  EXPECT_EQ(compare({.mesh = {4, 2, 4}, .columns = 67, .samples = 66}, machine), 2u * 2 * 2);
}

TEST(RankClasses, CallsByPartsTakeTheTimesOfCallsByDistances) {
  for (const Mesh& mesh : {Mesh{5, 1, 2}, {6, 2, 1}, {3, 2, 4}, {12, 1, 1}}) {
    for (const int64_t samples : {2, 25, 59}) {
      for (const int64_t node : {2, 4}) {
        SCOPED_TRACE(testing::PrintToString(std::vector{mesh.dp, samples, node}));
        for (const Collectives collectives :
             {Collectives::kDirect, Collectives::kNccl, Collectives::kNcclExact}) {
          MachineModel machine = machine_with_nodes_of(node, node);
          machine.collectives = collectives;
          Job job{.mesh = mesh, .samples = samples, .update = Update::kByDistances};
          const std::vector<RankProgram> by_distances = programs_of(job);
          job.update = Update::kByParts;
          compare(job, machine);
          const SimulatedStep a = simulate(by_distances, machine, {.one_by_one = true});
          const SimulatedStep b = simulate(programs_of(job), machine);
          EXPECT_EQ(a.seconds, b.seconds);
          EXPECT_EQ(a.ranks, b.ranks);
        }
      }
    }
  }
}

TEST(RankClasses, RanksWithPartsOfOneSizeAreOneClass) {
  const Job job{.mesh = {24, 2, 4}, .samples = 59, .update = Update::kByParts};
  EXPECT_EQ(compare(job, machine_with_nodes_of(4)), 2u * 2);
}

TEST(RankClasses, NodesThatCutGroupsUnevenlyAreMoreClasses) {
  // Nodes of 4 with groups of 6: {0..5} is 4 + 2, {6..11} is 2 + 4.
  EXPECT_GT(compare({.mesh = {2, 1, 6}, .columns = 66}, machine_with_nodes_of(4)), 1u);
  EXPECT_EQ(compare({.mesh = {2, 1, 6}, .columns = 66}, machine_with_nodes_of(6)), 1u);
}

TEST(RankClasses, RanksThatShareALinkWithOtherClassesAreMoreClasses) {
  // Stages of 6 ranks. Links of 4 ranks have 4 of stage 0, 2 each of both, or 4 of stage 1.
  const Job job{.mesh = {2, 2, 6}, .columns = 66};
  EXPECT_EQ(compare(job, machine_with_nodes_of(12)), 2u);
  EXPECT_EQ(compare(job, machine_with_nodes_of(12, 3)), 2u);
  EXPECT_EQ(compare(job, machine_with_nodes_of(12, 4)), 6u);
  EXPECT_EQ(compare(job, machine_with_nodes_of(12, 12)), 2u);
}

TEST(RankClasses, ARootIsAClassOfItsOwn) {
  EXPECT_EQ(compare({.mesh = {4, 1, 4}, .has_broadcast = true}, machine_with_nodes_of(4)), 4u);
}

TEST(RankClasses, ASlowRankSplitsTheGroupsThatWaitForIt) {
  const Job job{.mesh = {8, 4, 4}};
  const MachineModel machine = machine_with_nodes_of(8);
  EXPECT_GT(compare(job, machine, {{77, 1.3}}), 4u);
  const std::vector<RankProgram> programs = programs_of(job);
  const SimulatedStep even = simulate(programs, machine);
  const SimulatedStep slowed = simulate(programs, machine, {.slow = {{77, 1.3}}});
  EXPECT_GT(slowed.seconds, even.seconds);
  EXPECT_NEAR(slowed.ranks[77].compute, 1.3 * even.ranks[77].compute, 1e-12);
  EXPECT_EQ(slowed.ranks[76].compute, even.ranks[76].compute);
  EXPECT_EQ(std::ranges::count(slowed.class_of, slowed.class_of[77]), 1);
}

TEST(RankClasses, RandomJobsTakeTheSameTimesBothWays) {
  std::mt19937 random(17);
  const auto pick = [&](std::vector<int64_t> from) { return from[random() % from.size()]; };
  for (int i = 0; i < 200; ++i) {
    const Job job{.mesh = {pick({1, 2, 3, 4, 8}), pick({1, 2, 3, 4}), pick({1, 2, 4, 6})},
                  .order = static_cast<Order>(random() % 2),
                  .micro_batches = pick({1, 3, 8}),
                  .columns = pick({48, 49, 50}),
                  .samples = pick({24, 25}),
                  .exchanges_all = random() % 3 == 0,
                  .has_broadcast = random() % 4 == 0,
                  .update = random() % 2 == 0 ? Update::kByParts : Update::kNone};
    std::map<int64_t, double> slow;
    if (random() % 3 == 0) slow[static_cast<int64_t>(random()) % job.mesh.ranks()] = 1.5;
    SCOPED_TRACE(i);
    MachineModel machine =
        machine_with_nodes_of(pick({1, 2, 3, 4, 8}), pick({1, 1, 2, 3, 5, 1000}));
    if (random() % 2 == 0) machine.collectives = Collectives::kNccl;
    if (random() % 2 == 0) machine.receiving_rate = 0.6;
    if (random() % 2 == 0) machine.computing_rate = 0.9;
    machine.cores = pick({0, 0, 1, 3, 7});
    compare(job, machine, slow);
  }
}

TEST(RankClasses, CallsThatDoNotMatchHaveNoClasses) {
  std::vector<RankProgram> programs = programs_of({.mesh = {2, 1, 2}});
  programs[3].events.pop_back();
  EXPECT_FALSE(classes_of(WorldPrograms::of(programs), machine_with_nodes_of(2), {}).has_value());
}

TEST(WorldPrograms, StoresEqualEventsAndGroupsOnce) {
  const std::vector<RankProgram> programs = programs_of({.mesh = {8, 2, 4}});
  const WorldPrograms world = WorldPrograms::of(programs);
  EXPECT_EQ(world.num_ranks(), programs.size());
  EXPECT_EQ(world.num_events(), 2u);
  EXPECT_EQ(world.num_groups(), 2u * 4 + 8 * 2 + 1 + 1);  // dp, tp, all, and gradients
}

}  // namespace
}  // namespace phi::distributed::simulator
