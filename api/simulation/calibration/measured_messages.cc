// Times messages and collectives, each on its own, and an exchange beside additions.
#include "api/simulation/calibration/measured_messages.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "api/generated/ops/add.h"
#include "api/generated/ops/full.h"
#include "api/simulation/calibration/timing.h"
#include "api/simulation/record_step.h"
#include "distributed/simulator/simulate.h"

namespace phi::simulation {
namespace {

using distributed::Group;
using distributed::RecordingWorld;
using distributed::ReduceKind;
using distributed::World;
using distributed::simulator::CollectivePoints;
using distributed::simulator::LinkLevel;
using distributed::simulator::MachineModel;
using distributed::simulator::RankProgram;

constexpr const char* kNode = "node";

class MessageCalibrator {
 public:
  MessageCalibrator(bool quick, Calibration* result) : quick_(quick), result_(*result) {}

  void run() {
    measure_link();
    const std::map<int64_t, Timing> reductions = measure_all_reduce();
    measure_collective("all_gather", [](Group& group, float* array, int64_t part) {
      group.all_gather(array + group.position() * part, array, part, DataType::FLOAT32);
    });
    measure_collective("reduce_scatter", [](Group& group, float* array, int64_t part) {
      group.reduce_scatter(array, array + group.position() * part, part, DataType::FLOAT32,
                           ReduceKind::kMax);
    });
    set_reduction(reductions);
    measure_overlap();
  }

 private:
  std::vector<int64_t> sizes(const std::vector<int64_t>& all) const {
    return quick_ ? std::vector(all.begin(), all.begin() + 2) : all;
  }

  // With empty caches: in a step, most arrays were last used long ago.
  void begin_together(Group& group) {
    evictor_.evict();
    group.barrier();
  }

  // Half the time in which an array goes from rank 0 to rank 1 and back. Other ranks wait.
  Timing time_of_message(size_t bytes) {
    World& world = World::current();
    double both[] = {0, 0};
    std::vector<double> samples;
    if (world.rank() < 2) {
      const int64_t pair[] = {0, 1};
      Group& group = world.group(pair);
      const int64_t peer = 1 - group.position();
      std::vector<std::byte> array(bytes);
      const distributed::Send send{peer, array.data(), bytes};
      const distributed::Recv receive{peer, array.data(), bytes};
      const Work there = [&] { group.exchange({&send, 1}, {}); };
      const Work back = [&] { group.exchange({}, {&receive, 1}); };
      const bool is_first = group.position() == 0;
      // A fixed number of rounds: both ranks must make as many.
      Timing timing = time_of(
          [&] {
            is_first ? there() : back();
            is_first ? back() : there();
          },
          {0, quick_ ? size_t{5} : size_t{50}}, [&] { begin_together(group); });
      both[0] = timing.seconds / 2;
      both[1] = timing.spread;
      samples = std::move(timing.samples);
    }
    world.everyone().broadcast(both, 2, DataType::FLOAT64, /*root=*/0);
    return {both[0], both[1], std::move(samples)};
  }

  void measure_link() {
    const std::vector<int64_t> all = {8, 1 << 16, 1 << 12, 1 << 18, 1 << 20, 1 << 22};
    std::map<int64_t, Timing> timings;
    std::vector<double> spreads;
    for (const int64_t bytes : sizes(all)) {
      const Timing& timing = timings[bytes] = time_of_message(static_cast<size_t>(bytes));
      spreads.push_back(timing.spread);
      keep("message there and back", static_cast<double>(bytes), timing);
    }
    const double latency = timings.begin()->second.seconds;
    const auto& [bytes, timing] = *timings.rbegin();
    const double rate =
        static_cast<double>(bytes) / std::max(timing.seconds - latency, 0.1 * timing.seconds);
    double residual = 0;
    for (const auto& [size, each] : timings) {
      const double predicted = latency + static_cast<double>(size) / rate;
      residual = std::max(residual, std::abs(predicted / each.seconds - 1));
    }
    result_.machine.links = {LinkLevel{kNode, 0, latency * 1e6, rate * 1e-9}};
    result_.quality.push_back({"messages", rate, median_of(spreads), residual});
  }

  // Calls `collective` with an array whose parts have as many floats, and adds the points.
  template <typename Collective>
  std::map<int64_t, Timing> measure_collective(const char* op, const Collective& collective) {
    Group& everyone = World::current().everyone();
    CollectivePoints points{op, everyone.size(), kNode, {}};
    std::map<int64_t, Timing> timings;
    std::vector<double> spreads;
    for (const int64_t about : sizes({1 << 12, 1 << 16, 1 << 18, 1 << 20, 1 << 22})) {
      const int64_t part = about / everyone.size();
      const int64_t count = part * everyone.size();
      std::vector<float> array(static_cast<size_t>(count), 1.0f);
      const Timing timing = mean_over_ranks(
          time_of([&] { collective(everyone, array.data(), part); },
                  {0, quick_ ? size_t{3} : size_t{15}}, [&] { begin_together(everyone); }));
      keep(op, 4.0 * static_cast<double>(count), timing);
      points.points.push_back({4.0 * static_cast<double>(count), timing.seconds});
      spreads.push_back(timing.spread);
      timings[count] = timing;
    }
    const auto& [bytes, seconds] = points.points.back();
    result_.quality.push_back({op, bytes / seconds, median_of(spreads), 0});
    points_.push_back(std::move(points));
    return timings;
  }

  std::map<int64_t, Timing> measure_all_reduce() {
    return measure_collective("all_reduce", [](Group& group, float* array, int64_t part) {
      group.all_reduce(array, part * group.size(), DataType::FLOAT32, ReduceKind::kMax);
    });
  }

  // Predicted seconds of an all-reduce without points.
  double transfer_of(int64_t count) const {
    std::vector<RankProgram> programs;
    const int64_t ranks = World::current().size();
    for (int64_t rank = 0; rank < ranks; ++rank) {
      RecordingWorld world(rank, ranks);
      const World::Scope scope(world);
      programs.push_back(record_step(world, [&] {
        world.everyone().all_reduce(nullptr, count, DataType::FLOAT32, ReduceKind::kSum);
      }));
    }
    return distributed::simulator::simulate(programs, result_.machine).seconds;
  }

  // The additions take what an all-reduce takes beside its messages: for groups without points. The
  // residual is the error of the formula.
  void set_reduction(const std::map<int64_t, Timing>& timings) {
    const auto ranks = static_cast<double>(World::current().size());
    const auto& [count, timing] = *timings.rbegin();
    const double combined = 4.0 * static_cast<double>(count) / ranks * (ranks - 1);
    const double left = timing.seconds - transfer_of(count);
    result_.machine.reduce_GBps = left > 0 ? combined / left * 1e-9 : 0;
    double residual = 0;
    for (const auto& [size, measured] : timings) {
      residual = std::max(residual, std::abs(transfer_of(size) / measured.seconds - 1));
    }
    result_.quality.push_back({"all_reduce by formula",
                               4.0 * static_cast<double>(count) / transfer_of(count), timing.spread,
                               residual});
    result_.machine.collective_points = std::move(points_);
  }

  // Seconds of the parts of one exchange between neighbours: until the additions in between are
  // over, and then until the messages have arrived.
  struct Overlapped {
    double computing = 0;
    double waiting = 0;
  };
  Overlapped exchange_beside(const Work& addition, int64_t additions, size_t bytes) {
    using Clock = std::chrono::steady_clock;
    struct Arrays {
      std::vector<std::byte> sent, received;
    };
    Group& everyone = World::current().everyone();
    const int64_t next = (everyone.position() + 1) % everyone.size();
    const int64_t previous = (everyone.position() + everyone.size() - 1) % everyone.size();
    const auto arrays = std::make_shared<Arrays>(
        Arrays{std::vector<std::byte>(bytes), std::vector<std::byte>(bytes)});
    const distributed::Send send{next, arrays->sent.data(), bytes};
    const distributed::Recv receive{previous, arrays->received.data(), bytes};
    begin_together(everyone);
    const auto begin = Clock::now();
    const distributed::Transfer transfer =
        everyone.start_exchange({&send, 1}, {&receive, 1}, arrays);
    for (int64_t i = 0; i < additions; ++i) addition();
    const auto computed = Clock::now();
    transfer.wait();
    const auto end = Clock::now();
    const auto seconds = [](Clock::duration time) {
      return std::chrono::duration<double>(time).count();
    };
    return {seconds(computed - begin), seconds(end - computed)};
  }

  // Exchanges in turns without additions, and with as many as take half as long as the messages.
  void measure_overlap() {
    const size_t bytes = quick_ ? size_t{1} << 16 : size_t{1} << 22;
    const size_t rounds = quick_ ? 3 : 15;
    const Tensor x = full({1 << 12}, 1.0);
    const Work addition = [&x] { add(x, x); };
    const double one = time_on_all(addition, {0, 50}).seconds;
    std::vector<double> alone, computing, waiting, added;
    int64_t additions = 1;
    for (size_t i = 0; i < rounds + 1; ++i) {
      const double transfer = exchange_beside(addition, 0, bytes).waiting;
      const Overlapped both = exchange_beside(addition, additions, bytes);
      const double own = time_of(
                             [&] {
                               for (int64_t k = 0; k < additions; ++k) addition();
                             },
                             {0, 1})
                             .seconds;
      if (i == 0) {  // the first round only finds the number of additions
        double mean[] = {transfer};
        World::current().everyone().all_reduce(mean, 1, DataType::FLOAT64, ReduceKind::kAvg);
        additions = std::max<int64_t>(1, std::llround(mean[0] / 2 / one));
        continue;
      }
      alone.push_back(transfer);
      computing.push_back(both.computing);
      waiting.push_back(both.waiting);
      added.push_back(own);
    }
    set_rates(static_cast<double>(bytes), alone, added, computing, waiting);
  }

  void set_rates(double bytes, std::vector<double> alone, std::vector<double> added,
                 std::vector<double> computing, std::vector<double> waiting) {
    const auto timed = [&](const char* name, std::vector<double> samples) {
      const Timing timing = mean_over_ranks(timing_of(std::move(samples)));
      keep(name, bytes, timing);
      return timing;
    };
    const Timing transfer = timed("exchange", std::move(alone));
    const Timing additions = timed("additions", std::move(added));
    const Timing computed = timed("additions beside an exchange", std::move(computing));
    const Timing waited = timed("rest of an exchange beside additions", std::move(waiting));
    const double arrived = std::clamp(1 - waited.seconds / transfer.seconds, 0.0, 1.0);
    MachineModel& machine = result_.machine;
    machine.receiving_rate = std::min(1.0, arrived * transfer.seconds / computed.seconds);
    machine.computing_rate = std::min(1.0, additions.seconds / computed.seconds);
    result_.quality.push_back({"messages beside additions",
                               machine.receiving_rate * bytes / transfer.seconds, waited.spread,
                               0});
    result_.quality.push_back(
        {"additions beside messages", machine.computing_rate, computed.spread, 0});
  }

  void keep(const char* name, double size, const Timing& timing) {
    result_.samples.push_back({name, "bytes", size, timing.samples});
  }

  const bool quick_;
  CacheEvictor evictor_;
  Calibration& result_;
  std::vector<CollectivePoints> points_;
};

}  // namespace

void measure_messages(bool quick, Calibration* result) { MessageCalibrator(quick, result).run(); }

}  // namespace phi::simulation
